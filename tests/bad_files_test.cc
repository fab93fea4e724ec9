// Broken inputs through the program itself: a clear error that names what is wrong, exit code 2, and never a crash. The table of inputs is
// tests/data/bad/index.json, what the errors must name is names.txt beside it.
#include <sys/wait.h>
#include <array>
#include <cstdio>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "test_data.h"

namespace teapot {
namespace {

struct Outcome {
  int exit_code;  // -1: ended by a signal
  std::string output;
};

Outcome run(const std::string& command) {
  FILE* pipe = popen((command + " 2>&1").c_str(), "r");
  std::string output;
  std::array<char, 4096> part;
  while (const size_t n = fread(part.data(), 1, part.size(), pipe)) output.append(part.data(), n);
  const int status = pclose(pipe);
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, output};
}

std::map<std::string, std::vector<std::string>> names() {
  std::map<std::string, std::vector<std::string>> table;
  std::ifstream in(testing::test_data("bad/names.txt"));
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with('#')) continue;
    std::istringstream words(line);
    std::string input;
    words >> input;
    for (std::string word; words >> word;) table[input].push_back(word);
  }
  return table;
}

TEST(BadFiles, EachIsRefusedByName) {
  std::ifstream in(testing::test_data("bad/index.json"));
  const auto index = nlohmann::json::parse(in);
  const auto table = names();
  ASSERT_GT(index.size(), 70u);
  for (const auto& entry : index) {
    const std::string input = entry["path"];
    SCOPED_TRACE(input + ": " + std::string(entry["what"]));
    const Outcome outcome = run(std::string(TEAPOT_BINARY) + " run " + testing::test_data("bad").string() + "/" + input +
                                " --ids 1,2,3 --max-tokens 3 --temperature 0 --threads 1");
    if (entry["expect"] == "must work") {
      EXPECT_EQ(outcome.exit_code, 0) << outcome.output;
      continue;
    }
    EXPECT_EQ(outcome.exit_code, 2) << outcome.output;
    EXPECT_NE(outcome.output.find("error: "), std::string::npos) << outcome.output;
    EXPECT_LT(outcome.output.size(), 2000u);
    ASSERT_TRUE(table.contains(input));
    for (const std::string& word : table.at(input))
      EXPECT_NE(outcome.output.find(word), std::string::npos) << word << " is not in: " << outcome.output;
  }
}

}  // namespace
}  // namespace teapot
