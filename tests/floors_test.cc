// The house stands: a file includes only from its own floor and from floors below, and no two files include each other in a ring.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "test_data.h"

namespace {

namespace fs = std::filesystem;

// What a floor may include, besides itself. cpu, model and text know nothing of each other.
const std::map<std::string, std::set<std::string>> kBelow = {
    {"base", {}},
    {"plan", {"base"}},
    {"cpu", {"base", "plan"}},
    {"model", {"base", "plan"}},
    {"text", {"base"}},
    {"engine", {"base", "plan", "cpu", "model", "text"}},
    {"server", {"base", "plan", "cpu", "model", "text", "engine"}},
    {"workbench", {"base", "plan", "cpu", "model", "text", "engine", "server"}},
    {"cli", {"base", "plan", "cpu", "model", "text", "engine", "server", "workbench"}},
};

std::string floor_of(const std::string& file) { return file.substr(0, file.find('/')); }

// The file that the line includes in quotes, or nothing.
std::string included(std::string_view line) {
  const auto skip_space = [&line] { line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size())); };
  skip_space();
  if (!line.starts_with('#')) return "";
  line.remove_prefix(1);
  skip_space();
  if (!line.starts_with("include")) return "";
  line.remove_prefix(7);
  skip_space();
  const size_t end = line.find('"', 1);
  return line.starts_with('"') && end != line.npos ? std::string(line.substr(1, end - 1)) : "";
}

// file -> files of the project that it includes, both relative to src/
std::map<std::string, std::vector<std::string>> includes() {
  const fs::path root = fs::path(TEAPOT_SOURCE_DIR) / "src";
  std::map<std::string, std::vector<std::string>> graph;
  for (const auto& entry : fs::recursive_directory_iterator(root)) {
    const std::string extension = entry.path().extension().string();
    if (extension != ".cc" && extension != ".h" && extension != ".inc") continue;
    auto& out = graph[fs::relative(entry.path(), root).string()];
    std::ifstream in(entry.path());
    for (std::string line; std::getline(in, line);) {
      const std::string target = included(line);
      if (!target.empty() && fs::exists(root / target)) out.push_back(target);
    }
  }
  return graph;
}

TEST(Floors, IncludesGoDownwardsOnly) {
  const auto graph = includes();
  ASSERT_GT(graph.size(), 20u);
  for (const auto& [file, targets] : graph) {
    const auto below = kBelow.find(floor_of(file));
    ASSERT_NE(below, kBelow.end()) << file << " is on no known floor";
    for (const std::string& target : targets) {
      EXPECT_TRUE(floor_of(target) == floor_of(file) || below->second.contains(floor_of(target))) << file << " includes " << target;
    }
  }
}

// GCC 12 destroys the temporaries of a conditional within an awaited expression twice: the value is made before it is awaited.
TEST(Floors, NothingIsChosenWhileItIsAwaited) {
  size_t awaited = 0;
  for (const auto& entry : fs::recursive_directory_iterator(fs::path(TEAPOT_SOURCE_DIR) / "src")) {
    if (entry.path().extension() != ".cc" && entry.path().extension() != ".h") continue;
    std::ifstream in(entry.path());
    for (std::string line; std::getline(in, line);) {
      const size_t at = line.find("co_await ");
      if (at == line.npos) continue;
      ++awaited;
      EXPECT_EQ(line.substr(at).find(" ? "), line.npos) << entry.path() << ": " << line;
    }
  }
  EXPECT_GT(awaited, 10u);
}

TEST(Floors, NoFileIncludesItselfOverOthers) {
  const auto graph = includes();
  ASSERT_GT(graph.size(), 20u);
  enum class Mark { kNew, kOpen, kDone };
  std::map<std::string, Mark> marks;
  const auto visit = [&](const auto& self, const std::string& file) -> void {
    marks[file] = Mark::kOpen;
    const auto found = graph.find(file);
    if (found != graph.end()) {
      for (const std::string& target : found->second) {
        if (marks[target] == Mark::kNew) self(self, target);
        EXPECT_EQ(marks[target], Mark::kDone) << "a ring over " << file << " and " << target;
      }
    }
    marks[file] = Mark::kDone;
  };
  for (const auto& [file, targets] : graph) {
    if (marks[file] == Mark::kNew) visit(visit, file);
  }
}

TEST(Floors, FilesAreOneIdeaLong) {
  for (const auto& [file, targets] : includes()) {
    std::ifstream in(fs::path(TEAPOT_SOURCE_DIR) / "src" / file);
    const auto lines = std::count(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>(), '\n');
    EXPECT_LE(lines, 520) << file << ": a bigger file is two ideas";
  }
}

}  // namespace
