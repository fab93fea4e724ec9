// How an error travels inside the interpreter: thrown as Failure, caught and turned into a TemplateError in chat_template.cc, so
// that evaluation can be written as expressions. It never leaves this folder otherwise.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "text/template_error.h"

namespace teapot::text::jinja {

struct Failure {
  TemplateErrorKind kind;
  std::string message;
  std::optional<uint32_t> offset;  // in the template's text; the interpreter fills it in where the thrower cannot know it
};

template <class... Args>
[[noreturn]] void raise(TemplateErrorKind kind, fmt::format_string<Args...> format, Args&&... args) {
  throw Failure{kind, fmt::format(format, std::forward<Args>(args)...), std::nullopt};
}

template <class... Args>
[[noreturn]] void raise_runtime(fmt::format_string<Args...> format, Args&&... args) {
  throw Failure{TemplateErrorKind::kRuntime, fmt::format(format, std::forward<Args>(args)...), std::nullopt};
}

template <class... Args>
[[noreturn]] void raise_syntax_at(uint32_t offset, fmt::format_string<Args...> format, Args&&... args) {
  throw Failure{TemplateErrorKind::kSyntax, fmt::format(format, std::forward<Args>(args)...), offset};
}

}  // namespace teapot::text::jinja
