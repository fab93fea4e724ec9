// Templates that would hurt, and where errors are said to be. What templates mean is in chat_template_golden_test.cc.
#include "text/chat_template.h"

#include <gtest/gtest.h>

#include <thread>

#include "test_data.h"
#include "text/chat_template_files.h"

namespace teapot::text {
namespace {

std::expected<std::string, TemplateError> render(std::string_view source, const Json& context = Json::object(),
                                                 const RenderOptions& options = {}) {
  const auto compiled = ChatTemplate::compile(source);
  if (!compiled) return std::unexpected(compiled.error());
  return compiled->render(context, options);
}

std::string repeat(std::string_view text, int count) {
  std::string out;
  for (int i = 0; i < count; ++i) out += text;
  return out;
}

void expect_kind(std::string_view source, TemplateErrorKind kind, const RenderOptions& options = {}) {
  const auto got = render(source, Json{{"l", {1, 2, 3}}}, options);
  ASSERT_FALSE(got) << source.substr(0, 100);
  EXPECT_EQ(name_of(got.error().kind), name_of(kind)) << source.substr(0, 100) << ": " << got.error().message;
}

TEST(ChatTemplate, EndlessWorkEndsInTheBudget) {
  for (const char* source : {
           "{% for i in range(100000) %}{% for j in range(100000) %}{% endfor %}{% endfor %}",
           "{{ 'a' * 10 ** 10 }}",
           "{{ [0] * 10 ** 10 }}",
           "{{ 'a' * 10 ** 18 }}",
           "{% set s = 'a' * 10 ** 6 %}{% for i in range(100000) %}{{ s }}{% endfor %}",
           "{% set n = namespace(s='a') %}{% for i in range(100) %}{% set n.s = n.s + n.s %}{% endfor %}",
           "{% set n = namespace(s='a') %}{% for i in range(100) %}{% set n.s = n.s ~ n.s %}{% endfor %}",
           "{% set n = namespace(s='ab') %}{% for i in range(100) %}{% set n.s = n.s | replace('', n.s) %}{% endfor %}",
           "{% set n = namespace(l=[1]) %}{% for i in range(100) %}{% set n.l = n.l + n.l %}{% endfor %}",
           "{% set n = namespace(l=[1]) %}{% for i in range(100) %}{% set n.l = [n.l, n.l] %}{% endfor %}{{ n.l | tojson }}",
           "{% set n = namespace(l=[1]) %}{% for i in range(100) %}{% set n.l = [n.l, n.l] %}{% endfor %}{{ n.l == n.l | list }}",
           "{% set n = namespace(l=[1]) %}{% for i in range(1000) %}{% set n.l = [n.l] %}{% endfor %}",
           "{% set n = namespace(t=()) %}{% for i in range(1000) %}{% set n.t = (n.t,) %}{% endfor %}{{ {n.t: 1} }}",
           "{% set n = namespace() %}{% set n.self = n %}{{ n }}",
           "{{ range(100000) | map('string') | join('x' * 100000) }}",
           "{{ 'x' | center(10 ** 15) }}",
           "{{ ('a\n' * 1000000) | indent(100000) }}",
           "{{ [1] | batch(10 ** 15, 0) | list }}",
           "{{ [1] | tojson(indent=10 ** 12) }}",
       }) {
    // Less than the default, so that the test is quick where a sanitizer watches.
    expect_kind(source, TemplateErrorKind::kBudget,
                {.max_steps = 2'000'000, .max_value_bytes = size_t{32} << 20, .max_output_bytes = size_t{8} << 20});
  }
}

TEST(ChatTemplate, TooLongOutputEndsInTheBudget) {
  expect_kind("{% for i in range(100) %}0123456789{% endfor %}", TemplateErrorKind::kBudget, {.max_output_bytes = 999});
  EXPECT_TRUE(render("{% for i in range(100) %}0123456789{% endfor %}", Json::object(), {.max_output_bytes = 1000}));
}

TEST(ChatTemplate, DeepRecursionEndsInTheBudget) {
  for (const char* source : {
           "{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}",
           "{% macro f(x) %}{% for i in [1] %}{% if true %}{{ f(x ~ [f(x)]) }}{% endif %}{% endfor %}{% endmacro %}{{ f(1) }}",
           "{% macro f() %}{% call f() %}{{ caller() }}{% endcall %}{{ caller() }}{% endmacro %}{% call f() %}x{% endcall %}",
           "{% for x in l recursive %}{{ loop(l) }}{% endfor %}",
           "{% macro f(a=f()) %}{{ a }}{% endmacro %}{{ f() }}",
       }) {
    expect_kind(source, TemplateErrorKind::kBudget);
  }
}

TEST(ChatTemplate, DeepNestingIsRefused) {
  constexpr int kDeep = 50'000;
  for (const char* part : {"(", "[", "{1:", "-", "not ", "f(", "a[", "1 if 1 else ", "'a'|default("}) {
    EXPECT_FALSE(render("{{ " + repeat(part, kDeep) + " }}")) << part;
    EXPECT_FALSE(render("{{ " + repeat(part, kDeep))) << part;
  }
  for (const char* part : {"+1", " and 1", " or 1", "|abs", ".a", "[0]", "()", "**1", "*1"}) {
    expect_kind("{{ 1" + repeat(part, kDeep) + " }}", TemplateErrorKind::kBudget);
  }
  for (const char* part :
       {"{% if 1 %}", "{% for x in l %}", "{% macro f() %}", "{% set x %}", "{% filter upper %}", "{% with %}", "{% call f() %}"}) {
    expect_kind(repeat(part, kDeep), TemplateErrorKind::kBudget);
  }
  EXPECT_FALSE(render("{% set " + repeat("(", kDeep) + "a = 1 %}"));
}

TEST(ChatTemplate, LongIsNotDeep) {
  EXPECT_EQ(render("{{ 'a'" + repeat(" ~ 'a'", 5000) + " }}"), repeat("a", 5001));
  EXPECT_EQ(render("{% if 0 %}" + repeat("{% elif 0 %}", 5000) + "{% else %}x{% endif %}"), "x");
  EXPECT_EQ(render("{{ [1" + repeat(", 1", 5000) + "] | sum }}"), "5001");
}

TEST(ChatTemplate, DeepContextIsRefused) {
  Json deep = 1;
  for (int i = 0; i < 2000; ++i) deep = Json::array({std::move(deep)});
  const auto got = render("{{ x }}", Json{{"x", deep}});
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().kind, TemplateErrorKind::kBudget);
}

TEST(ChatTemplate, ErrorsSayWhere) {
  struct Case {
    std::string_view source;
    int line, column;
  };
  for (const Case& c : {
           Case{"{{ 1 / 0 }}", 1, 6},
           Case{"a\nb\n  {{ missing.x }}", 3, 14},
           Case{"a\r\nb\r\n  {{ missing.x }}", 3, 14},
           Case{"é你😀{{ missing.x }}", 1, 15},
           Case{"x\n{% if y %}\n{{ 1 +  }}", 3, 9},
           Case{"x\n{% if y %}", 2, 11},
           Case{"\n\n{{ 'a' | nosuch }}", 3, 10},
           Case{"{% macro f() %}\n{{ none + 1 }}{% endmacro %}\n\n{{ f() }}", 2, 9},
           Case{"{{ raise_exception('no') }}", 1, 4},
           Case{"\n{# never closed", 2, 1},
           Case{"{{ a }}\n{{ \"b }}", 2, 4},
       }) {
    const auto got = render(c.source);
    ASSERT_FALSE(got) << c.source;
    EXPECT_EQ(got.error().line, c.line) << c.source << ": " << got.error().message;
    EXPECT_EQ(got.error().column, c.column) << c.source << ": " << got.error().message;
  }
}

TEST(ChatTemplate, ErrorsOfTheTemplateItselfCarryItsMessageAlone) {
  const auto raised = render("\n{{ raise_exception('No user query found.') }}");
  ASSERT_FALSE(raised);
  EXPECT_EQ(as_error(raised.error()).message, "No user query found.");
  const auto parsed = ChatTemplate::parse("\n{{ ( }}");
  ASSERT_FALSE(parsed);
  EXPECT_EQ(parsed.error().message.substr(0, 35), "chat template, line 2, column 6: un");
}

TEST(ChatTemplate, IntegersThatDoNotFitAreErrors) {
  for (const char* source : {"{{ 9223372036854775807 + 1 }}", "{{ 2 ** 63 }}", "{{ 9223372036854775808 }}",
                             "{{ -9223372036854775807 - 2 }}", "{{ 9223372036854775807 * 2 }}", "{{ '99999999999999999999' | int }}",
                             "{{ 1e30 | int }}", "{{ (-9223372036854775807 - 1) // -1 }}"}) {
    EXPECT_FALSE(render(source)) << source;
  }
  EXPECT_EQ(render("{{ 9223372036854775807 }} {{ -9223372036854775807 - 1 }} {{ (-9223372036854775807 - 1) % -1 }}"),
            "9223372036854775807 -9223372036854775808 0");
  EXPECT_FALSE(render("{{ x }}", Json{{"x", std::numeric_limits<uint64_t>::max()}}));
}

// Where Jinja's compiler shows. The expected texts are Jinja 3.1's.
TEST(ChatTemplate, AScopeHidesWhatItWillSet) {
  const Json context = {{"x", "outer"}, {"l", {1, 2}}};
  for (const auto& [source, expected] : std::initializer_list<std::pair<std::string_view, std::string_view>>{
           {"{% for i in l %}[{{ x }}]{% endfor %}{% set x = 1 %}", "[][]"},
           {"{% for i in l %}[{{ x }}]{% endfor %}{% if l %}{% set x = 1 %}{% endif %}", "[outer][outer]"},
           {"{{ x }}{% for i in l %}[{{ x }}]{% endfor %}{% set x = 1 %}", "outer[outer][outer]"},
           {"{% macro f() %}[{{ x }}]{% endmacro %}{{ f() }}{% set x = 1 %}{{ f() }}", "[][1]"},
           {"{% for i in l %}{% for j in l %}[{{ x }}]{% endfor %}{% set x = i %}{% endfor %}", "[][][][]"},
           {"{% set x = x ~ '!' %}{% for i in l %}{{ x }}{% set x = i %}{{ x }}{% endfor %}{{ x }}", "outer!1outer!2outer!"},
       }) {
    EXPECT_EQ(render(source, context), expected) << source;
  }
}

TEST(ChatTemplate, IllFormedTextIsRefused) {
  EXPECT_FALSE(ChatTemplate::compile("\xFF"));
  EXPECT_FALSE(ChatTemplate::compile("{{ '\\ud83d' }}"));
}

TEST(ChatTemplate, WhatOnlyPythonKnowsIsRefused) {
  for (const char* source : {"{{ l | map('upper') }}", "{{ range }}", "{{ 'a'.upper }}", "{{ 'a'.encode() }}", "{{ 1 .bit_length() }}",
                             "{{ lipsum() }}", "{{ self.b() }}", "{{ l | random }}", "{% autoescape true %}{% endautoescape %}"}) {
    EXPECT_FALSE(render(source, Json{{"l", {"a"}}})) << source;
  }
}

TEST(ChatTemplate, ThreadsShareATemplate) {
  const auto compiled = ChatTemplate::compile(
      "{% macro f(n) %}{{ n }}{% if n %}{{ f(n - 1) }}{% endif %}{% endmacro %}{% for x in l %}{{ f(x) }};{% endfor %}");
  ASSERT_TRUE(compiled);
  std::vector<std::jthread> threads;
  threads.reserve(4);
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int round = 0; round < 50; ++round) EXPECT_EQ(compiled->render(Json{{"l", {3, 1}}}), "3210;10;");
    });
  }
}

TEST(ChatTemplateFiles, ConfigurationHoldsATextOrNamedTemplates) {
  EXPECT_EQ(chat_template_of(Json{{"chat_template", "x"}}, "c").value(), "x");
  const Json named = {{"chat_template", {{{"name", "tool_use"}, {"template", "a"}}, {{"name", "default"}, {"template", "b"}}}}};
  EXPECT_EQ(chat_template_of(named, "c").value(), "b");
  EXPECT_EQ(chat_template_of(Json::object(), "c").error().kind, ErrorKind::kNotFound);
  EXPECT_EQ(chat_template_of(Json{{"chat_template", 5}}, "c").error().kind, ErrorKind::kInvalid);
  EXPECT_EQ(chat_template_of(Json{{"chat_template", {1}}}, "c").error().kind, ErrorKind::kInvalid);
}

}  // namespace
}  // namespace teapot::text
