#include "cli/tune_options.h"

#include <gtest/gtest.h>

#include "workbench/tune/catalogue.h"

namespace teapot::cli {
namespace {

// The message, or "".
std::string fault(const TuneArguments& arguments) {
  const auto catalogue = workbench::load_catalogue("vllm-ascend");
  if (!catalogue) return catalogue.error().message;
  const auto settings = tune_settings(arguments, *catalogue, Json::object(), "/bin/teapot");
  return settings ? "" : settings.error().message;
}

TEST(TuneOptions, WhatTheStartCommandLacksIsNamedWithItsOption) {
  TuneArguments arguments;
  arguments.out = "out";
  EXPECT_TRUE(fault(arguments).contains("expected --model MODEL")) << fault(arguments);
  EXPECT_TRUE(fault(arguments).contains("expected --fill devices=")) << fault(arguments);
  arguments.model = "m";
  EXPECT_FALSE(fault(arguments).contains("--model")) << fault(arguments);
  EXPECT_TRUE(fault(arguments).contains("{devices}; expected --fill devices=")) << fault(arguments);
  arguments.fill = {"devices=0,1"};
  EXPECT_EQ(fault(arguments), "");
  arguments.model.clear();
  arguments.start = "serve --port {port}";
  EXPECT_EQ(fault(arguments), "");
  arguments.start = "serve {weights} --port {port}";
  EXPECT_TRUE(fault(arguments).contains("expected --fill weights=")) << fault(arguments);
}

TEST(TuneOptions, WhatTheStartCommandCannotUseIsAnError) {
  TuneArguments arguments;
  arguments.out = "out";
  arguments.model = "m";
  arguments.fill = {"devices=0", "device=1"};
  EXPECT_TRUE(fault(arguments).contains("--fill: nothing of the start command has {device}; expected one of model, port"))
      << fault(arguments);
  arguments.fill = {"devices=0", "port=80"};
  EXPECT_TRUE(fault(arguments).contains("ports are chosen for each start")) << fault(arguments);
  arguments.fill = {"devices=0"};
  arguments.start = "vllm serve {model} --port 8000";
  EXPECT_TRUE(fault(arguments).contains("expected {port} in it")) << fault(arguments);
  arguments.start.clear();
  arguments.knobs = {"threads"};
  EXPECT_EQ(fault(arguments), "");
}

TEST(TuneOptions, TheNameIsThatOfTheModelWithOrWithoutASlash) {
  const auto catalogue = workbench::load_catalogue("llama.cpp");
  ASSERT_TRUE(catalogue) << catalogue.error().message;
  for (const char* model : {"a/b", "a/b/"}) {
    TuneArguments arguments;
    arguments.out = "out";
    arguments.model = model;
    const auto settings = tune_settings(arguments, *catalogue, Json::object(), "/bin/teapot");
    ASSERT_TRUE(settings) << settings.error().message;
    EXPECT_EQ(settings->fill.at("name"), "b");
    EXPECT_EQ(settings->fill.at("model"), model);
  }
}

}  // namespace
}  // namespace teapot::cli
