// Bounds of numbers as people say them: those of CLI11 print the largest number that there is.
#pragma once

#include <CLI/CLI.hpp>
#include <cmath>

namespace teapot::cli {

inline const CLI::Validator kPositive(
    [](const std::string& text) -> std::string {
      double value = 0;
      if (CLI::detail::lexical_cast(text, value) && std::isfinite(value) && value > 0) return "";
      return text + ": expected a number above 0";
    },
    "NUMBER > 0");

inline const CLI::Validator kNotNegative(
    [](const std::string& text) -> std::string {
      double value = 0;
      if (CLI::detail::lexical_cast(text, value) && std::isfinite(value) && value >= 0) return "";
      return text + ": expected a number, 0 or above";
    },
    "NUMBER >= 0");

}  // namespace teapot::cli
