#include "cli/share.h"

#include <CLI/CLI.hpp>

namespace teapot::cli {

Result<double> parse_share(const std::string& option, const std::string& text) {
  const bool percent = text.ends_with('%');
  double value = 0;
  if (!CLI::detail::lexical_cast(percent ? text.substr(0, text.size() - 1) : text, value)) {
    return fail(ErrorKind::kInvalid, "{}: found '{}'; expected a share like 1% or 0.01", option, text);
  }
  return percent ? value / 100 : value;
}

}  // namespace teapot::cli
