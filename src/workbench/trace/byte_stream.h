// Bytes of a file in pieces, unpacked if they are gzip, whatever the file is called.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "workbench/trace/fault.h"

namespace teapot::workbench::trace {

class ByteStream {
 public:
  // A regular file.
  static Read<ByteStream> open(const std::string& path);
  // Bytes that outlive the stream; `name` stands for the path in messages.
  static Read<ByteStream> over(std::string_view bytes, std::string name);

  ByteStream(ByteStream&&) noexcept;
  ByteStream& operator=(ByteStream&&) noexcept;
  ~ByteStream();

  // Up to out.size() bytes; 0 at the end. A packed file that ends too early: "truncated", with the offset in the file as stored.
  Read<size_t> read(std::span<char> out);
  // The first bytes (unpacked) that the next read() gives, up to `size` of them, fewer where the file ends.
  Read<std::string> peek(size_t size);

  const std::string& name() const;
  bool packed() const;
  uint64_t stored_bytes() const;  // taken from the file as stored so far

 private:
  struct State;
  explicit ByteStream(std::unique_ptr<State> state);

  std::unique_ptr<State> state_;
};

}  // namespace teapot::workbench::trace
