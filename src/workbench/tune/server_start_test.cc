#include "workbench/tune/server_start.h"

#include <gtest/gtest.h>

#include <map>

#include "temporary_folder.h"
#include "workbench/tune/catalogue_for_tests.h"

namespace teapot::workbench {
namespace {

TEST(ServerStart, SecondsBetweenTheSignals) {
  const std::map<std::string, int> expected = {{"ik_llama.cpp", 20}, {"llama.cpp", 20},    {"sglang", 60},
                                               {"vllm", 60},         {"vllm-ascend", 120}, {"xllm", 30}};
  for (const std::string& name : shipped_catalogues()) {
    const auto catalogue = load_catalogue(name);
    ASSERT_TRUE(catalogue);
    EXPECT_EQ(end_timeout_of(catalogue->launch.stop).count(), expected.at(name)) << catalogue->launch.stop;
  }
  EXPECT_EQ(end_timeout_of("SIGTERM, wait 30").count(), 30);
  EXPECT_EQ(end_timeout_of("SIGINT, 5s").count(), 5);
  EXPECT_EQ(end_timeout_of("SIGTERM to all 8 servers").count(), 45);
  EXPECT_EQ(end_timeout_of("signal 15").count(), 45);
  EXPECT_EQ(end_timeout_of("").count(), 45);
}

TEST(ServerStart, ItsTwoPortsDiffer) {
  auto catalogue = parse_catalogue(catalogue_head() + knob_yaml("x", "flag: --x", "int", "[1]"), "c.yaml");
  ASSERT_TRUE(catalogue);
  catalogue->launch.start = "sh -c 'exit 3' {port} {port2}";
  ServerStartOptions options;
  options.catalogue = &*catalogue;
  options.parallel = {1};
  const testing::TemporaryFolder folder;
  for (int i = 0; i < 3; ++i) {
    const auto server = StartedServer::start(options, {}, folder / "server.log");
    ASSERT_TRUE(server) << server.error().message;
    EXPECT_EQ((*server)->fault(), TrialFault::kStart);
    const Json args = (*server)->started()["args"];
    EXPECT_NE(args[3], args[4]);
  }
}

}  // namespace
}  // namespace teapot::workbench
