#include "workbench/tune/server_version.h"

#include <gtest/gtest.h>

namespace teapot::workbench {
namespace {

VersionQuestion question(const std::string& version, const std::string& start) {
  Launch launch;
  launch.version = version;
  launch.start = start;
  return version_question(launch, {{"teapot", "/bin/teapot"}});
}

using Words = std::vector<std::string>;

TEST(ServerVersion, APageACommandOrBoth) {
  EXPECT_EQ(question("GET /server_info (version)", "s").target, "/server_info");
  EXPECT_TRUE(question("GET /server_info (version)", "s").command.empty());
  const VersionQuestion both = question("llama-server --version; GET /version", "llama-server -m {model} --port {port}");
  EXPECT_EQ(both.target, "/version");
  EXPECT_EQ(both.command, (Words{"llama-server", "--version"}));
  EXPECT_EQ(question("llama-server --version", "env A=1 /opt/llama-server -m m").command, (Words{"/opt/llama-server", "--version"}));
  EXPECT_EQ(question("llama-server --version", "/opt/server -m m").command, (Words{"/opt/server", "--version"}));
  EXPECT_EQ(question("server --version", "{teapot} serve").command, (Words{"/bin/teapot", "--version"}));
  for (const char* words : {"none was found in what was read: note the commit of the build", "", "pip show vllm-ascend"}) {
    EXPECT_TRUE(question(words, "s").command.empty()) << words;
    EXPECT_EQ(question(words, "s").target, "");
  }
}

TEST(ServerVersion, ItIsKnownByItsNumberOrItsHash) {
  EXPECT_TRUE(same_version("0.5.0 (0c1e57098)", "version: 9999 (0c1e570)"));
  EXPECT_TRUE(same_version("0.5.0 (0c1e57098)", "llama.cpp 0.5.0."));
  EXPECT_FALSE(same_version("0.5.0 (0c1e57098)", "version: 9999 (1d2f68109)"));
  EXPECT_FALSE(same_version("0.5.0", "10.5.0"));
  EXPECT_FALSE(same_version("0.5.0", "0.5.01"));
  EXPECT_TRUE(same_version("8337e4cd (2026-08-15)", "version: 4100 (8337e4cd)"));
  EXPECT_FALSE(same_version("8337e4cd (2026-08-15)", "4"));
  EXPECT_TRUE(same_version("main 182b75ea84, after v0.23.0", "v0.23.0"));
  EXPECT_TRUE(same_version("1", "1")) << "the whole text";
  EXPECT_FALSE(same_version("", ""));
}

TEST(ServerVersion, OneTextOfBothAnswers) {
  EXPECT_EQ(version_in(R"({"version": "0.33.0"})"), "0.33.0");
  EXPECT_EQ(version_in(R"({"version": 4, "features": {}})"), "4");
  EXPECT_EQ(version_in("1.2\nmore"), "1.2");
  EXPECT_EQ(version_text("0.33.0", "0.33.0", ""), "0.33.0");
  EXPECT_EQ(version_text("8337e4cd (2026-08-15)", "4", "version: 4100 (8337e4cd)"),
            "version: 4100 (8337e4cd) (the catalogue's 8337e4cd (2026-08-15))");
  EXPECT_EQ(version_text("8337e4cd", "4", "version: 4101 (1d2f68109)"), "4; version: 4101 (1d2f68109)");
  EXPECT_EQ(version_text("1.0", "", ""), "");
}

TEST(ServerVersion, ACommandIsAsked) {
  EXPECT_EQ(ask_for_version({"sh", "-c", "echo loading 2 backends; echo version: 7 '(0c1e57098)' >&2; echo built"}, {}, "(0c1e57098)"),
            "version: 7 (0c1e57098)");
  EXPECT_EQ(ask_for_version({"sh", "-c", "echo hello; echo release $R"}, {{"R", "3"}}, "9.9"), "release 3");
  EXPECT_EQ(ask_for_version({"sh", "-c", "echo 9.9; exit 1"}, {}, "9.9"), "");
  EXPECT_EQ(ask_for_version({"no-such-program-here", "--version"}, {}, "9.9"), "");
}

}  // namespace
}  // namespace teapot::workbench
