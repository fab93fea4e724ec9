// What is wrong with a trace, by kind: programs compare the kind, people read the message.
#pragma once

#include <cstdint>
#include <expected>
#include <optional>
#include <string>

namespace teapot::workbench::trace {

struct Fault {
  // "truncated", "malformed", "missing column", "unknown unit", "precision lost", "no device events", "no steps found",
  // "unknown format", "no such rank", "cannot read"; of the command itself "bad option", "bad rules", "cannot write"
  std::string error;
  std::string message;                  // names file, what was found, what was expected
  std::string column;                   // of a CSV or a table, where one is at fault
  std::optional<uint64_t> byte_offset;  // in the file as stored, where a place is known
};

template <class T>
using Read = std::expected<T, Fault>;

[[nodiscard]] inline std::unexpected<Fault> refuse(std::string error, std::string message, std::string column = {},
                                                   std::optional<uint64_t> byte_offset = {}) {
  return std::unexpected(Fault{std::move(error), std::move(message), std::move(column), byte_offset});
}

}  // namespace teapot::workbench::trace
