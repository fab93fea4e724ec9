#include "server/status_json.h"

#include <gtest/gtest.h>

namespace teapot::server {
namespace {

TEST(StatusJson, TellsOfSequencesMemoryCacheAndSwitches) {
  StatusFacts facts{
      .model = "demo",
      .family = "qwen3_5",
      .context_tokens = 4096,
      .context_reason = "the model's limit",
      .max_seqs = 8,
      .now = {.load = {.running = 1, .waiting = 1}},
      .switches = {{.name = "pages", .requested = "1g", .active = "4k", .reason = "none are reserved", .default_value = "best"}},
      .notes = {"a note"}};
  facts.now.status.sequences = {{.request = 4,
                                 .choice = 2,
                                 .state = engine::SequenceState::kDecode,
                                 .prompt_tokens = 20,
                                 .cached_tokens = 16,
                                 .computed_tokens = 25,
                                 .completion_tokens = 6,
                                 .age_s = 1.5},
                                {.request = 5}};
  facts.now.status.weights = 1 << 20;
  facts.now.status.scratch = 512;
  facts.now.status.state_used = 4096;
  facts.now.status.checkpoints = 3;
  facts.now.status.steps = 99;
  const Json json = status_json(facts);
  EXPECT_EQ(json["model"]["id"], "demo");
  EXPECT_EQ(json["context"], (Json{{"tokens", 4096}, {"reason", "the model's limit"}}));
  EXPECT_EQ(json["load"], (Json{{"running", 1}, {"waiting", 1}, {"max_seqs", 8}}));
  EXPECT_EQ(json["sequences"][0], (Json{{"request", 4},
                                        {"choice", 2},
                                        {"state", "decode"},
                                        {"prompt_tokens", 20},
                                        {"cached_tokens", 16},
                                        {"computed_tokens", 25},
                                        {"completion_tokens", 6},
                                        {"age_s", 1.5}}));
  EXPECT_EQ(json["sequences"][1]["state"], "waiting");
  EXPECT_EQ(json["memory"]["weights"], 1 << 20);
  EXPECT_EQ(json["memory"]["scratch"], 512);
  EXPECT_EQ(json["memory"]["state_used"], 4096);
  EXPECT_EQ(json["prefix_cache"]["checkpoints"], 3);
  EXPECT_EQ(json["counters"]["steps"], 99);
  EXPECT_EQ(json["switches"][0],
            (Json{{"name", "pages"}, {"requested", "1g"}, {"active", "4k"}, {"reason", "none are reserved"}, {"default", "best"}}));
  EXPECT_EQ(json["notes"], Json::array({"a note"}));
}

}  // namespace
}  // namespace teapot::server
