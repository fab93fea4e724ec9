// Errors by value. Everything that reads the outside world returns Result<T>; exceptions do not cross a floor.
#pragma once

#include <expected>
#include <string>
#include <utility>

#include <fmt/format.h>

namespace teapot {

enum class ErrorKind {
  kInvalid,      // the input is broken or contradicts itself: the message names file, tensor or field, what was found, what was expected
  kUnsupported,  // the input is sound, but asks for something that is not there
  kNotFound,     // a file, tensor, key or route is missing
  kIo,           // the system refused: the message ends in its reason
  kMemory,       // does not fit: the message has both numbers
  kBusy,         // a bounded queue is full: try again later
  kInternal,     // our fault
};

struct Error {
  ErrorKind kind;
  std::string message;
};

template <class T>
using Result = std::expected<T, Error>;
using Status = Result<void>;

template <class... Args>
[[nodiscard]] std::unexpected<Error> fail(ErrorKind kind, fmt::format_string<Args...> format, Args&&... args) {
  return std::unexpected(Error{kind, fmt::format(format, std::forward<Args>(args)...)});
}

// The same error with "where: " in front of its message.
[[nodiscard]] inline std::unexpected<Error> at(const std::string& where, Error error) {
  error.message = where + ": " + error.message;
  return std::unexpected(std::move(error));
}

}  // namespace teapot

// TEAPOT_TRY(auto x, call()): x is the value, or the enclosing function returns the error.
#define TEAPOT_CONCAT_(a, b) a##b
#define TEAPOT_CONCAT(a, b) TEAPOT_CONCAT_(a, b)
#define TEAPOT_TRY_(holder, declaration, ...)                     \
  auto holder = (__VA_ARGS__);                                    \
  if (!holder) return std::unexpected(std::move(holder).error()); \
  declaration = *std::move(holder)
#define TEAPOT_TRY(declaration, ...) TEAPOT_TRY_(TEAPOT_CONCAT(teapot_result_, __COUNTER__), declaration, __VA_ARGS__)
// TEAPOT_CHECK(call()): for calls that return Status.
#define TEAPOT_CHECK(...) \
  if (auto teapot_status = (__VA_ARGS__); !teapot_status) return std::unexpected(std::move(teapot_status).error())
