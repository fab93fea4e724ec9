// GGUF v2/v3 files, split ones too: metadata and tensors (spec 5).
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/error.h"
#include "model/checkpoint.h"

namespace teapot::model {

// GGUF's value type ids.
enum class GgufType : uint32_t { kU8, kI8, kU16, kI16, kU32, kI32, kF32, kBool, kString, kArray, kU64, kI64, kF64 };

// As messages name it: "u32", "string".
std::string_view gguf_type_name(GgufType type);

// Elements as the file has them, checked at opening: strings end inside `bytes`, booleans are 0 or 1, no element is an array.
struct GgufArray {
  GgufType element_type;
  uint64_t count;
  std::span<const std::byte> bytes;  // in the mapped file
};

// Integers of all widths are held as int64 / uint64, floats as double. Strings and arrays are views of the mapped file.
struct GgufValue {
  GgufType type;
  std::variant<int64_t, uint64_t, double, bool, std::string_view, GgufArray> value;
};

using GgufMetadata = std::map<std::string, GgufValue, std::less<>>;

struct Gguf {
  std::string path;       // of the first part, for messages
  GgufMetadata metadata;  // of the first part
  Checkpoint checkpoint;  // tensors of all parts

  // Typed look-ups: kNotFound names the missing key, kInvalid the key, the type found and the type expected.
  Result<uint64_t> unsigned_value(std::string_view key) const;  // any integer type, not negative
  Result<double> number(std::string_view key) const;            // any numeric type
  Result<bool> boolean(std::string_view key) const;
  Result<std::string> string(std::string_view key) const;
  Result<std::vector<std::string>> strings(std::string_view key) const;
  Result<std::vector<int64_t>> integers(std::string_view key) const;  // of any integer type or bool
  bool has(std::string_view key) const { return metadata.contains(key); }
};

// path: a file, or any part "-0000K-of-0000N.gguf" of a split one (the others are found beside it; a missing one is named).
Result<Gguf> open_gguf(const std::string& path);

}  // namespace teapot::model
