#include "text/regex_syntax.h"

#include <gtest/gtest.h>

#include "text/pretokenizer.h"

namespace teapot::text {
namespace {

std::vector<std::string_view> pieces(std::string_view pattern, std::string_view text) {
  const auto pretokenizer = Pretokenizer::compile(pattern);
  EXPECT_TRUE(pretokenizer) << pretokenizer.error().message;
  return pretokenizer->split(text).value();
}

using Pieces = std::vector<std::string_view>;

TEST(RegexSyntax, CharactersStandForThemselves) {
  EXPECT_EQ(pieces("é#", "xé#y"), (Pieces{"x", "é#", "y"}));
  EXPECT_EQ(pieces("\\.\\[\\\\", "a.[\\b"), (Pieces{"a", ".[\\", "b"}));
  EXPECT_EQ(pieces("\\x41\\u00e9\\x{1F600}", "AAé😀"), (Pieces{"A", "Aé😀"}));
}

TEST(RegexSyntax, LettersInEscapesAreNotWhatPcre2Means) {
  EXPECT_EQ(pieces("\\v", "\n\v"), (Pieces{"\n", "\v"})) << "\\v is U+000B alone";
  EXPECT_EQ(pieces("\\s+", "a\u180Eb\u0085"), (Pieces{"a\u180Eb", "\u0085"})) << "U+180E is no white space";
  EXPECT_EQ(pieces("[\\S]+", "\u180Ea b"), (Pieces{"\u180Ea", " ", "b"}));
}

TEST(RegexSyntax, CaseFoldingReachesTheLongS) {
  EXPECT_EQ(pieces("(?i:'s)", "a'\u017Fb"), (Pieces{"a", "'\u017F", "b"}));
  EXPECT_EQ(pieces("(?i)k|x", "a\u212AX"), (Pieces{"a", "\u212A", "X"}));
}

TEST(RegexSyntax, Repeats) {
  EXPECT_EQ(pieces("\\p{N}{1,3}", "12345"), (Pieces{"123", "45"}));
  EXPECT_EQ(pieces("a{2}", "aaaaa"), (Pieces{"aa", "aa", "a"}));
  EXPECT_EQ(pieces("a{,2}b", "aaab"), (Pieces{"a", "aab"}));
  EXPECT_EQ(pieces("[a-c-]+?x", "a-xb"), (Pieces{"a-x", "b"}));
}

TEST(RegexSyntax, RefusesWhatTheTwoReadDifferently) {
  for (const char* pattern :
       {"a.b",      "^a",      "a$",     "\\d",         "\\w+",    "\\bx",   "\\h",      "\\R",        "\\1",   "\\p{Lu}",
        "\\p{Han}", "\\p{^L}", "[a&&b]", "[[:alpha:]]", "[a[b]]",  "a(?i)b", "(?m:a)",   "(?<name>a)", "(?#c)", "(*FAIL)",
        "a{2}+",    "a{2}?",   "a{",     "a{1001}",     "[\\s-z]", "[z-a]",  "[\\P{L}]", "\\xE9",      "\\xe",  "\\x{110000}",
        "\\ud800",  "[]a]",    "[a",     "[a-",         "[",       "\\",     "[\\",      "\\p{",       "(?"}) {
    const auto result = to_pcre2(pattern);
    ASSERT_FALSE(result) << pattern;
    EXPECT_EQ(result.error().kind, ErrorKind::kUnsupported) << pattern;
    EXPECT_NE(result.error().message.find("at byte"), std::string::npos) << result.error().message;
  }
  EXPECT_FALSE(to_pcre2("\xFF"));
}

TEST(RegexSyntax, BrokenPatternsAreErrorsOfTheCompiler) {
  for (const std::string& pattern : {std::string("(a"), std::string("a)"), std::string("*a"), std::string("a**"), std::string(1000, '(')}) {
    EXPECT_FALSE(Pretokenizer::compile(pattern)) << pattern;
  }
}

}  // namespace
}  // namespace teapot::text
