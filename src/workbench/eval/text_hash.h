// A hash to see by whether texts are the same: FNV-1a of 64 bits. No protection from anybody who means harm.
#pragma once

#include <cstdint>
#include <string_view>

namespace teapot::workbench {

class TextHash {
 public:
  // The length too, so that "ab", "c" is not "a", "bc".
  void add(std::string_view text) {
    add(text.size());
    for (const char byte : text) add_byte(static_cast<unsigned char>(byte));
  }
  void add(uint64_t number) {
    for (int i = 0; i < 8; ++i) add_byte(static_cast<unsigned char>(number >> (8 * i)));
  }
  uint64_t value() const { return value_; }

 private:
  void add_byte(unsigned char byte) { value_ = (value_ ^ byte) * 0x100000001b3; }

  uint64_t value_ = 0xcbf29ce484222325;
};

}  // namespace teapot::workbench
