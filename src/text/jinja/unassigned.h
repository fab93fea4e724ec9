// Which variables a scope hides before it sets them.
//
// Jinja decides at compile time where a name lives: a name that a scope sets, and has not read before that, is the scope's own from
// the scope's beginning. Whoever looks at it too early, a loop or macro inside for example, finds it undefined, even where the
// context has a variable of that name. Names that are set in some branches of an if only, or that a scope around has, are looked
// up as usual.
#pragma once

#include "text/jinja/ast.h"

namespace teapot::text::jinja {

// Fills in `unassigned` of the program, its statements and its macros.
void find_unassigned(Program& program);

}  // namespace teapot::text::jinja
