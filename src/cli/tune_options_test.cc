#include "cli/tune_options.h"

#include <gtest/gtest.h>

#include "cli/commands.h"
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

TEST(TuneOptions, NumbersThatMakeNoSenseAreNamed) {
  TuneArguments sound;
  sound.out = "out";
  sound.start = "serve --port {port}";
  sound.fill = {"devices=0"};
  EXPECT_EQ(fault(sound), "");
  const auto expect_fault = [&](std::string TuneArguments::* option, const std::string& text, const std::string& name) {
    TuneArguments arguments = sound;
    arguments.*option = text;
    EXPECT_TRUE(fault(arguments).starts_with(name + ": found '" + text + "'; expected ")) << text << ": " << fault(arguments);
  };
  for (const char* budget : {"100.9pairs", "0pairs", "-1pairs", "1e3pairs", "pairs", "200", "2d"}) {
    expect_fault(&TuneArguments::budget, budget, "--budget");
  }
  for (const char* load : {"4294967295/4294967295", "1000001/10", "10/1000001", "0/10", "10/1", "10", "-1/10"}) {
    expect_fault(&TuneArguments::load, load, "--load");
  }
  for (const char* harm : {"nan", "inf", "-5%", "1e9"}) expect_fault(&TuneArguments::max_ttft_harm, harm, "--max-ttft-harm");
  EXPECT_EQ(parse_budget("100pairs")->pairs, 100u);
  EXPECT_EQ(parse_budget("1.5h")->seconds, 5400);
}

TEST(TuneOptions, ThoseBeforeASubcommandAreNotIgnored) {
  const auto refusal = [](const std::string& line) -> std::string {
    CLI::App app;
    int exit_code = 0;
    add_tune(app, exit_code);
    try {
      app.parse(line);
    } catch (const CLI::ParseError& e) {
      return e.what();
    }
    return "";
  };
  EXPECT_EQ(refusal("tune --budget nonsense --catalogue nope check llama.cpp"),
            "tune check: found --catalogue, --budget before 'check'; expected its own options, behind it");
  EXPECT_EQ(refusal("tune --seed 3 resume no/such/folder"),
            "tune resume: found --seed before 'resume'; expected its own options, behind it");
  EXPECT_EQ(refusal("tune resume no/such/folder"), "");
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
