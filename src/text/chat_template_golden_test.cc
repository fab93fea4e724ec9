// Templates against the texts that Jinja makes of them. Level "core" must be right; level "rare" may be refused, never be wrong.
#include <gtest/gtest.h>

#include <fstream>

#include "base/file.h"
#include "test_data.h"
#include "text/chat_template.h"

namespace teapot::text {
namespace {

RenderOptions at_golden_time() {
  RenderOptions options;
  std::tm now{};
  now.tm_year = 2026 - 1900;
  now.tm_mday = 2;
  now.tm_hour = 3;
  now.tm_min = 4;
  now.tm_sec = 5;
  now.tm_wday = 5;
  now.tm_yday = 1;
  options.now = now;
  return options;
}

struct Count {
  int core = 0;
  int rare = 0;
  int refused = 0;
};

// What is wrong with the outcome of a case; empty if nothing.
std::string complaint(const Json& golden, const std::expected<std::string, TemplateError>& got, Count& count) {
  const bool is_core = golden["level"] == "core";
  ++(is_core ? count.core : count.rare);
  if (!golden.contains("error")) {
    const auto expected = golden["expected"].get<std::string>();
    if (got) return *got == expected ? "" : fmt::format("expected {}\n     got {}", golden["expected"].dump(), Json(*got).dump());
    ++count.refused;
    return is_core
               ? fmt::format("refused: {} ({}:{} {})", got.error().message, got.error().line, got.error().column, name_of(got.error().kind))
               : "";
  }
  const Json& error = golden["error"];
  if (got) return fmt::format("expected the error {}\n     got {}", error.dump(), Json(*got).dump());
  const bool is_raise = error["kind"] == "raise";
  if (is_raise && (got.error().kind != TemplateErrorKind::kRaise || got.error().message != error["message"].get<std::string>())) {
    return fmt::format("expected {} to be raised, got {}: {}", error["message"].dump(), name_of(got.error().kind), got.error().message);
  }
  return "";
}

std::expected<std::string, TemplateError> render(const std::string& source, const Json& context) {
  const auto compiled = ChatTemplate::compile(source);
  if (!compiled) return std::unexpected(compiled.error());
  return compiled->render(context, at_golden_time());
}

// templates: the folder of the files that cases name, or empty if they hold the template itself.
void check_all(const std::filesystem::path& cases, const std::filesystem::path& templates, Count& count) {
  std::ifstream lines(cases);
  ASSERT_TRUE(lines) << cases;
  for (std::string line; std::getline(lines, line);) {
    const auto golden = parse_json(line, cases.string());
    ASSERT_TRUE(golden) << golden.error().message;
    std::string source = (*golden)["template"];
    std::string name = (*golden)["template"].dump();
    if (!templates.empty()) {
      name += fmt::format(" {}", (*golden)["note"].get<std::string>());
      const auto file = read_file((templates / source).string());
      ASSERT_TRUE(file) << file.error().message;
      source = *file;
    }
    const std::string wrong = complaint(*golden, render(source, (*golden)["context"]), count);
    EXPECT_TRUE(wrong.empty()) << name << " with " << (*golden)["context"].dump().substr(0, 300) << "\n" << wrong;
  }
}

TEST(ChatTemplateGolden, LanguageIsJinjas) {
  Count count;
  check_all(testing::test_data("text/jinja.jsonl"), "", count);
  EXPECT_EQ(count.core + count.rare, 693);
  EXPECT_LE(count.refused, 2);  // wordwrap, autoescape
}

TEST(ChatTemplateGolden, OurTemplatesRenderAsJinjaRendersThem) {
  Count count;
  check_all(testing::test_data("text/templates.jsonl"), testing::test_data(""), count);
  EXPECT_EQ(count.refused, 0);
}

TEST(ChatTemplateGolden, CheckpointsTemplatesRenderAsJinjaRendersThem) {
  const auto cases = testing::shared_data("text/templates.jsonl");
  TEAPOT_NEEDS(cases);
  Count count;
  check_all(cases, testing::shared_data(""), count);
  EXPECT_EQ(count.refused, 0);
}

}  // namespace
}  // namespace teapot::text
