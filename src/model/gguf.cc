#include "model/gguf.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "model/gguf_reader.h"

namespace teapot::model {
namespace {

Result<const GgufValue*> look_up(const Gguf& file, std::string_view key) {
  const auto entry = file.metadata.find(key);
  if (entry == file.metadata.end()) return fail(ErrorKind::kNotFound, "{}: key '{}' is missing", file.path, key);
  return &entry->second;
}

std::string type_of(const GgufValue& value) {
  if (const auto* array = std::get_if<GgufArray>(&value.value)) return fmt::format("array of {}", gguf_type_name(array->element_type));
  return std::string(gguf_type_name(value.type));
}

std::unexpected<Error> wrong_type(const Gguf& file, std::string_view key, const GgufValue& found, std::string_view expected) {
  return fail(ErrorKind::kInvalid, "{}: key '{}' is of type {}, expected {}", file.path, key, type_of(found), expected);
}

bool same_value(const GgufValue& a, const GgufValue& b) {
  if (a.type != b.type) return false;
  const auto* array_a = std::get_if<GgufArray>(&a.value);
  const auto* array_b = std::get_if<GgufArray>(&b.value);
  if (array_a != nullptr && array_b != nullptr)
    return array_a->element_type == array_b->element_type && std::ranges::equal(array_a->bytes, array_b->bytes);
  if (const auto* x = std::get_if<int64_t>(&a.value)) return *x == std::get<int64_t>(b.value);
  if (const auto* x = std::get_if<uint64_t>(&a.value)) return *x == std::get<uint64_t>(b.value);
  if (const auto* x = std::get_if<double>(&a.value)) return *x == std::get<double>(b.value);
  if (const auto* x = std::get_if<bool>(&a.value)) return *x == std::get<bool>(b.value);
  return std::get<std::string_view>(a.value) == std::get<std::string_view>(b.value);
}

struct OpenPart {
  MappedFile file;
  GgufPart part;
};

Result<OpenPart> open_part(const std::string& path) {
  TEAPOT_TRY(MappedFile file, MappedFile::open(path));
  TEAPOT_TRY(GgufPart part, parse_gguf(file.bytes(), path));
  return OpenPart{std::move(file), std::move(part)};
}

// Which part of how many a file says it is.
struct Split {
  uint64_t number = 0;
  uint64_t count = 1;
};

Result<Split> split_of(const GgufPart& part, const std::string& path) {
  Gguf keys;
  keys.path = path;
  for (const auto* key : {"split.count", "split.no"})
    if (const auto entry = part.metadata.find(key); entry != part.metadata.end()) keys.metadata.insert(*entry);
  if (keys.metadata.empty()) return Split{};
  Split split;
  TEAPOT_TRY(split.count, keys.unsigned_value("split.count"));
  TEAPOT_TRY(split.number, keys.unsigned_value("split.no"));
  if (split.count == 0 || split.number >= split.count || split.count > 99999)
    return fail(ErrorKind::kInvalid, "{}: split.no is {} and split.count {}: no part of a split file", path, split.number, split.count);
  return split;
}

std::string part_suffix(uint64_t number, uint64_t count) { return fmt::format("-{:05}-of-{:05}.gguf", number + 1, count); }

// A later part describes tensors only; whatever else it says must not contradict the first.
Status check_later_part(const GgufPart& part, const std::string& path, const Gguf& first) {
  for (const auto& [key, value] : part.metadata) {
    if (key.starts_with("split.") || key == "general.alignment") continue;
    const auto entry = first.metadata.find(key);
    if (entry == first.metadata.end() || !same_value(value, entry->second))
      return fail(ErrorKind::kInvalid, "{}: key '{}' is not the same in {}, the first part", path, key, first.path);
  }
  return {};
}

Status add_part(Gguf& gguf, OpenPart open) {
  if (gguf.checkpoint.gap.empty()) gguf.checkpoint.gap = std::move(open.part.gap);
  return gguf.checkpoint.add(std::move(open.file), std::move(open.part.tensors));
}

}  // namespace

Result<uint64_t> Gguf::unsigned_value(std::string_view key) const {
  TEAPOT_TRY(const GgufValue* found, look_up(*this, key));
  if (const auto* x = std::get_if<uint64_t>(&found->value)) return *x;
  const auto* x = std::get_if<int64_t>(&found->value);
  if (x == nullptr) return wrong_type(*this, key, *found, "an integer");
  if (*x < 0) return fail(ErrorKind::kInvalid, "{}: key '{}' is {}, expected no negative number", path, key, *x);
  return static_cast<uint64_t>(*x);
}

Result<double> Gguf::number(std::string_view key) const {
  TEAPOT_TRY(const GgufValue* found, look_up(*this, key));
  if (const auto* x = std::get_if<double>(&found->value)) return *x;
  if (const auto* x = std::get_if<uint64_t>(&found->value)) return static_cast<double>(*x);
  if (const auto* x = std::get_if<int64_t>(&found->value)) return static_cast<double>(*x);
  return wrong_type(*this, key, *found, "a number");
}

Result<bool> Gguf::boolean(std::string_view key) const {
  TEAPOT_TRY(const GgufValue* found, look_up(*this, key));
  if (const auto* x = std::get_if<bool>(&found->value)) return *x;
  return wrong_type(*this, key, *found, "bool");
}

Result<std::string> Gguf::string(std::string_view key) const {
  TEAPOT_TRY(const GgufValue* found, look_up(*this, key));
  if (const auto* x = std::get_if<std::string_view>(&found->value)) return std::string(*x);
  return wrong_type(*this, key, *found, "string");
}

Result<std::vector<std::string>> Gguf::strings(std::string_view key) const {
  TEAPOT_TRY(const GgufValue* found, look_up(*this, key));
  const auto* array = std::get_if<GgufArray>(&found->value);
  if (array == nullptr || array->element_type != GgufType::kString) return wrong_type(*this, key, *found, "array of string");
  std::vector<std::string> strings;
  strings.reserve(array->count);
  const std::byte* at = array->bytes.data();
  for (uint64_t i = 0; i < array->count; ++i) {
    uint64_t length = 0;
    std::memcpy(&length, at, sizeof(length));
    at += sizeof(length);
    strings.emplace_back(reinterpret_cast<const char*>(at), length);
    at += length;
  }
  return strings;
}

Result<std::vector<int64_t>> Gguf::integers(std::string_view key) const {
  TEAPOT_TRY(const GgufValue* found, look_up(*this, key));
  const auto* array = std::get_if<GgufArray>(&found->value);
  const auto is_whole = [](GgufType type) {
    return type != GgufType::kString && type != GgufType::kF32 && type != GgufType::kF64 && type != GgufType::kArray;
  };
  if (array == nullptr || !is_whole(array->element_type)) return wrong_type(*this, key, *found, "array of integers");
  std::vector<int64_t> numbers;
  numbers.reserve(array->count);
  for (uint64_t i = 0; i < array->count; ++i) {
    const GgufValue element = gguf_fixed_value(array->element_type, array->bytes.data() + i * gguf_type_bytes(array->element_type));
    if (const auto* x = std::get_if<int64_t>(&element.value)) {
      numbers.push_back(*x);
    } else if (const auto* flag = std::get_if<bool>(&element.value)) {
      numbers.push_back(*flag ? 1 : 0);
    } else {
      const uint64_t number = std::get<uint64_t>(element.value);
      if (number > static_cast<uint64_t>(std::numeric_limits<int64_t>::max()))
        return fail(ErrorKind::kInvalid, "{}: key '{}': element {} is {}, too large", path, key, i, number);
      numbers.push_back(static_cast<int64_t>(number));
    }
  }
  return numbers;
}

Result<Gguf> open_gguf(const std::string& path) {
  TEAPOT_TRY(OpenPart given, open_part(path));
  TEAPOT_TRY(const Split split, split_of(given.part, path));
  Gguf gguf;
  if (split.count == 1) {
    gguf.path = path;
    gguf.metadata = std::move(given.part.metadata);
    TEAPOT_CHECK(add_part(gguf, std::move(given)));
    return gguf;
  }
  const std::string suffix = part_suffix(split.number, split.count);
  if (!path.ends_with(suffix))
    return fail(ErrorKind::kInvalid, "{}: is part {} of {}, so its name must end in '{}' for the other parts to be found", path,
                split.number + 1, split.count, suffix);
  const std::string stem = path.substr(0, path.size() - suffix.size());
  for (uint64_t i = 0; i < split.count; ++i) {
    const std::string part_path = stem + part_suffix(i, split.count);
    auto open = open_part(part_path);  // the given one once more: reading its header twice is cheaper than a special case
    if (!open) return at(fmt::format("part {} of {}", i + 1, split.count), std::move(open).error());
    TEAPOT_TRY(const Split found, split_of(open->part, part_path));
    if (found.number != i || found.count != split.count)
      return fail(ErrorKind::kInvalid, "{}: says it is part {} of {}, expected part {} of {}", part_path, found.number + 1, found.count,
                  i + 1, split.count);
    if (i == 0) {
      gguf.path = part_path;
      gguf.metadata = std::move(open->part.metadata);
    } else {
      TEAPOT_CHECK(check_later_part(open->part, part_path, gguf));
    }
    TEAPOT_CHECK(add_part(gguf, *std::move(open)));
  }
  if (gguf.has("split.tensors.count")) {
    TEAPOT_TRY(const uint64_t total, gguf.unsigned_value("split.tensors.count"));
    if (total != gguf.checkpoint.tensors.size())
      return fail(ErrorKind::kInvalid, "{}: split.tensors.count is {}, but the {} parts hold {} tensors", gguf.path, total, split.count,
                  gguf.checkpoint.tensors.size());
  }
  return gguf;
}

}  // namespace teapot::model
