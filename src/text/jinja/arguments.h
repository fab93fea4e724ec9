// Python's rules for bringing the arguments of a call to parameters with names, for functions that are written in C++.
#pragma once

#include <array>
#include <optional>
#include <string_view>

#include "text/jinja/value.h"

namespace teapot::text::jinja {

// Puts each argument at its parameter's place; fails on surplus, unknown or doubled ones.
void bind_arguments(std::string_view function, const Arguments& arguments, std::span<const std::string_view> names,
                    std::span<const Value*> bound);

template <size_t N>
class Bound {
 public:
  Bound(std::string_view function, const Arguments& arguments, const std::array<std::string_view, N>& names)
      : function_(function), names_(names) {
    bind_arguments(function, arguments, names_, values_);
  }

  const Value* operator[](size_t index) const { return values_[index]; }  // null if not given
  const Value& required(size_t index) const {
    if (values_[index] == nullptr) raise_runtime("{}() missing a required argument: '{}'", function_, names_[index]);
    return *values_[index];
  }
  bool flag(size_t index, bool fallback = false) const { return values_[index] == nullptr ? fallback : truth(*values_[index]); }
  // None counts as not given.
  const Value* unless_none(size_t index) const { return values_[index] == nullptr || values_[index]->is_none() ? nullptr : values_[index]; }

 private:
  std::string_view function_;
  std::array<std::string_view, N> names_;
  std::array<const Value*, N> values_{};
};

template <class... Names>
Bound<sizeof...(Names)> bind(std::string_view function, const Arguments& arguments, Names... names) {
  return {function, arguments, {std::string_view(names)...}};
}

// For functions that take none.
void expect_no_arguments(std::string_view function, const Arguments& arguments);

// A text, or an error that names what it was wanted for.
std::string_view require_text(const Value& value, std::string_view what);

}  // namespace teapot::text::jinja
