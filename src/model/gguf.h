// GGUF v2/v3 files, split ones too: metadata and tensors (spec 5).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "base/error.h"
#include "model/checkpoint.h"

namespace teapot::model {

struct GgufValue;
struct GgufArray {
  uint32_t element_type;  // GGUF's value type id
  std::vector<GgufValue> values;
};

// Integers of all widths are held as int64 / uint64, floats as double.
struct GgufValue {
  std::variant<int64_t, uint64_t, double, bool, std::string, GgufArray> value;
};

struct Gguf {
  std::map<std::string, GgufValue, std::less<>> metadata;  // of the first part
  Checkpoint checkpoint;                                   // tensors of all parts

  // Typed look-ups: kNotFound names the missing key, kInvalid the key, the type found and the type expected.
  Result<uint64_t> unsigned_value(std::string_view key) const;  // any integer type, not negative
  Result<double> number(std::string_view key) const;            // any numeric type
  Result<bool> boolean(std::string_view key) const;
  Result<std::string> string(std::string_view key) const;
  Result<std::vector<std::string>> strings(std::string_view key) const;
  Result<std::vector<int64_t>> integers(std::string_view key) const;
  bool has(std::string_view key) const { return metadata.contains(key); }
};

// path: a file, or any part "-0000K-of-0000N.gguf" of a split one (the others are found beside it; a missing one is named).
Result<Gguf> open_gguf(const std::string& path);

}  // namespace teapot::model
