// What a check asks for, as far as it is written for a machine (data/catalogues/README.md); the rest of its words are for people.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/error.h"
#include "workbench/tune/catalogue.h"
#include "workbench/tune/check_pattern.h"

namespace teapot::workbench {

// "GET /server_info threads.active"
struct PageForm {
  std::string target, path;
};
// "FORMULA must grow": over the server's counters, or over the numbers of a file of /proc/PID.
struct CountForm {
  enum class Expect : uint8_t { kShown, kNothing, kSomething };
  std::string file;  // empty: counters
  std::string formula;
  Expect expect = Expect::kShown;
};
// A text that must be in the log or in a file of /proc/PID, or must not. {model} is the name of the model's file.
struct TextForm {
  std::string file;  // empty: the log
  std::string text;
  bool must_be_absent = false;
};
// The same as a pattern.
struct PatternForm {
  std::string file;
  CheckPattern pattern;
  bool must_be_absent = false;
};
// "status Cpus_allowed_list = {value}": of one thread at least, where the file is task/*/status. Processors may be fewer.
struct FieldForm {
  std::string file, field;
};
// The knob's variable stands in /proc/PID/environ.
struct EnvironForm {};

using CheckForm = std::variant<PageForm, CountForm, TextForm, PatternForm, FieldForm, EnvironForm>;

// Nothing: prose. kInvalid: a pattern that is none.
Result<std::vector<CheckForm>> parse_check(CheckKind kind, std::string_view what);

// At least one of them can say yes or no.
bool is_judged(const std::vector<CheckForm>& forms);

}  // namespace teapot::workbench
