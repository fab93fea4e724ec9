#include "cli/share.h"

#include <CLI/CLI.hpp>

namespace teapot::cli {
namespace {

constexpr double kMostShare = 10;

}  // namespace

Result<double> parse_share(const std::string& option, const std::string& text) {
  const bool percent = text.ends_with('%');
  double value = 0;
  const bool number = CLI::detail::lexical_cast(percent ? text.substr(0, text.size() - 1) : text, value);
  if (percent) value /= 100;
  if (number && value >= 0 && value <= kMostShare) return value;
  return fail(ErrorKind::kInvalid, "{}: found '{}'; expected a share from 0 to {}, like 1% or 0.01", option, text, kMostShare);
}

}  // namespace teapot::cli
