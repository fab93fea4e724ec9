// Checkpoint files made by hand, byte by byte, for tests of the readers.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/error.h"

namespace teapot::testing {

template <class T>
std::string raw(T value) {
  return std::string(reinterpret_cast<const char*>(&value), sizeof(T));
}

inline std::string safetensors_file(const std::string& header, const std::string& data) {
  return raw(uint64_t{header.size()}) + header + data;
}

// A GGUF file; every number in it can be made wrong.
struct GgufFile {
  uint32_t version = 3;
  uint64_t alignment = 32;  // of the data; the key general.alignment is not written by itself
  std::vector<std::string> keys;
  std::vector<std::string> tensors;
  std::string data;

  static std::string text(const std::string& s) { return raw(uint64_t{s.size()}) + s; }
  void key(const std::string& name, uint32_t type, const std::string& value) { keys.push_back(text(name) + raw(type) + value); }
  void u16(const std::string& name, uint16_t value) { key(name, 2, raw(value)); }
  void u32(const std::string& name, uint32_t value) { key(name, 4, raw(value)); }
  void i32(const std::string& name, int32_t value) { key(name, 5, raw(value)); }
  void string(const std::string& name, const std::string& value) { key(name, 8, text(value)); }
  void strings(const std::string& name, const std::vector<std::string>& values) {
    std::string array = raw(uint32_t{8}) + raw(uint64_t{values.size()});
    for (const std::string& value : values) array += text(value);
    key(name, 9, array);
  }
  // dims as the format has them: fastest first.
  void tensor(const std::string& name, const std::vector<uint64_t>& dims, uint32_t type, uint64_t offset) {
    std::string info = text(name) + raw(static_cast<uint32_t>(dims.size()));
    for (const uint64_t dim : dims) info += raw(dim);
    tensors.push_back(info + raw(type) + raw(offset));
  }
  // At the next aligned offset, with these bytes.
  void tensor(const std::string& name, const std::vector<uint64_t>& dims, uint32_t type, const std::string& bytes) {
    data.resize((data.size() + alignment - 1) / alignment * alignment);
    tensor(name, dims, type, uint64_t{data.size()});
    data += bytes;
  }

  std::string bytes() const {
    std::string file = "GGUF" + raw(version) + raw(uint64_t{tensors.size()}) + raw(uint64_t{keys.size()});
    for (const std::string& entry : keys) file += entry;
    for (const std::string& entry : tensors) file += entry;
    if (!tensors.empty()) file.resize((file.size() + alignment - 1) / alignment * alignment);
    return file + data;
  }
};

// A message that does not name the file, or the culprit in it, is not clear.
template <class T>
void expect_fails_naming(const Result<T>& result, std::initializer_list<std::string> parts) {
  ASSERT_FALSE(result) << "should have failed";
  for (const std::string& part : parts) EXPECT_NE(result.error().message.find(part), std::string::npos) << result.error().message;
}

}  // namespace teapot::testing
