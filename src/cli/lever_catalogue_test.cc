#include "cli/lever_catalogue.h"

#include <gtest/gtest.h>

#include <set>

#include "cli/commands.h"
#include "cli/model_options.h"
#include "cpu/settings.h"
#include "test_data.h"
#include "workbench/tune/catalogue.h"
#include "workbench/tune/start_command.h"
#include "workbench/tune/value_text.h"

namespace teapot::cli {
namespace {

workbench::Catalogue catalogue() {
  const auto yaml = lever_catalogue({});
  EXPECT_TRUE(yaml) << yaml.error().message;
  const auto parsed = workbench::parse_catalogue(*yaml, "teapot.yaml");
  EXPECT_TRUE(parsed) << parsed.error().message << "\n" << *yaml;
  return *parsed;
}

TEST(LeverCatalogue, ItIsACatalogue) {
  const workbench::Catalogue c = catalogue();
  EXPECT_EQ(c.server, "teapot");
  EXPECT_EQ(c.version, TEAPOT_VERSION);
  EXPECT_EQ(workbench::missing_placeholders(c.launch, {}), std::vector<std::string>{"model"}) << "as the advice for a trace says";
  const auto command = workbench::build_command(c, {{"pages", "4k"}, {"mtp", "off"}, {"require-plan", "true"}},
                                                {{"teapot", "/bin/teapot"}, {"model", "m"}, {"port", "1"}});
  ASSERT_TRUE(command) << command.error().message;
  EXPECT_EQ(workbench::to_shell(*command), "/bin/teapot serve m --port 1 --pages 4k --mtp off --require-plan");
}

TEST(LeverCatalogue, ItsNameIsTeapot) {
  const auto own = open_catalogue("teapot");
  ASSERT_TRUE(own) << own.error().message;
  EXPECT_EQ(own->yaml, lever_catalogue({}).value());
  EXPECT_EQ(open_catalogue("vllm")->source, "vllm.yaml");
  EXPECT_FALSE(open_catalogue("teapots"));
  EXPECT_EQ(catalogue_names().back(), "teapot");
}

// What the command line and the backend say to a value: no name that they do not know.
TEST(LeverCatalogue, TheProgramKnowsEveryValue) {
  for (const workbench::Knob& knob : catalogue().knobs) {
    for (const workbench::KnobValue& value : knob.values) {
      if (!value || !workbench::references_in(*value).empty()) continue;
      ModelOptions options;
      CLI::App app;
      add_model_options(app, options);
      add_scheduler_options(app, options.engine);
      std::vector<std::string> words = {"m", "--" + knob.name};
      if (knob.type != workbench::KnobType::kSwitch) words.push_back(*value);
      std::ranges::reverse(words);
      EXPECT_NO_THROW(app.parse(words)) << knob.name << " = " << *value;
      const auto settings = cpu::settle(options.engine.backend);
      if (!settings) {
        EXPECT_EQ(settings.error().kind, ErrorKind::kUnsupported) << settings.error().message;
      }
    }
  }
}

TEST(LeverCatalogue, EverySwitchThatIsReportedIsThere) {
  ModelOptions options;
  options.model = teapot::testing::demo_model().string();
  options.engine.warmup = 0;
  const auto loaded = load_engine(options, /*text_needed=*/false);
  ASSERT_TRUE(loaded) << loaded.error().message;
  const std::vector<plan::SwitchReport> switches = loaded->engine->switches();
  ASSERT_GT(switches.size(), 20u);
  const auto yaml = lever_catalogue(switches);
  ASSERT_TRUE(yaml) << yaml.error().message;
  const auto c = workbench::parse_catalogue(*yaml, "teapot.yaml");
  ASSERT_TRUE(c) << c.error().message;
  for (const plan::SwitchReport& report : switches) {
    const workbench::Knob* knob = c->find(report.name);
    ASSERT_NE(knob, nullptr) << report.name;
    EXPECT_NE(knob->effect.find("With this model " + report.requested + " is " + report.active), std::string::npos) << knob->effect;
    if (knob->default_value() && knob->type != workbench::KnobType::kSwitch) {
      EXPECT_EQ(*knob->default_value(), report.default_value) << report.name;
    }
    EXPECT_EQ(knob->check_what, "/v1/status switches." + report.name + ".active");
  }
}

}  // namespace
}  // namespace teapot::cli
