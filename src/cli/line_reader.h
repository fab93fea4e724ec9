// Lines from a person: with editing and history on a terminal (libedit), as they come otherwise.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/error.h"

namespace teapot::cli {

class LineReader {
 public:
  // prompt is shown on a terminal only.
  static Result<LineReader> open(std::string prompt);

  LineReader(LineReader&&) noexcept;
  LineReader& operator=(LineReader&&) noexcept;
  ~LineReader();

  // Without its line break; nothing at the end of input. Ctrl-C empties the line.
  std::optional<std::string> read();

 private:
  struct Terminal;
  explicit LineReader(std::unique_ptr<Terminal> terminal);

  std::unique_ptr<Terminal> terminal_;  // none: stdin is not one
};

}  // namespace teapot::cli
