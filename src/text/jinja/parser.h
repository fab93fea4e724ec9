// Jinja's grammar. Everything that is wrong with a template whatever its context, unknown filters included, is said here.
#pragma once

#include <memory>
#include <string_view>

#include "text/jinja/ast.h"

namespace teapot::text::jinja {

// Throws Failure (kSyntax or, for nesting, kBudget), with the place.
std::shared_ptr<const Program> parse_program(std::string_view source);

}  // namespace teapot::text::jinja
