// What went wrong in a chat template, and where.
#pragma once

#include <string>
#include <string_view>

namespace teapot::text {

enum class TemplateErrorKind {
  kRaise,      // the template's own raise_exception: the message is meant for whoever sent the conversation
  kSyntax,     // not a template, or one that uses what this interpreter does not have
  kUndefined,  // a missing variable, attribute or element was used
  kSecurity,   // an attribute that the sandbox keeps away from templates
  kRuntime,    // an operation that does not exist for these values
  kBudget,     // more steps, memory, output or nesting than one rendering may take
};

// "raise", "syntax", ...: as the golden data and `teapot text render` name the kinds.
constexpr std::string_view name_of(TemplateErrorKind kind) {
  switch (kind) {
    case TemplateErrorKind::kRaise:
      return "raise";
    case TemplateErrorKind::kSyntax:
      return "syntax";
    case TemplateErrorKind::kUndefined:
      return "undefined";
    case TemplateErrorKind::kSecurity:
      return "security";
    case TemplateErrorKind::kRuntime:
      return "runtime";
    case TemplateErrorKind::kBudget:
      return "budget";
  }
  return "";
}

struct TemplateError {
  TemplateErrorKind kind;
  std::string message;
  int line = 1;    // 1-based
  int column = 1;  // 1-based, in characters
};

}  // namespace teapot::text
