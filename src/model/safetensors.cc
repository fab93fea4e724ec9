#include "model/safetensors.h"

#include <array>
#include <cstring>
#include <set>

#include "model/json_events.h"
#include "model/placement.h"

namespace teapot::model {
namespace {

// The format's own limit: a header of the largest published checkpoints has about 10 MB.
constexpr uint64_t kMaxHeaderBytes = 100'000'000;
// Real tensors have at most five dimensions.
constexpr size_t kMaxDimensions = 16;

struct ElementType {
  std::string_view name;
  uint32_t bits;
  std::optional<plan::WeightType> weight;
};

constexpr std::array<ElementType, 20> kElementTypes = {{
    {"F32", 32, plan::WeightType::kF32},
    {"F16", 16, plan::WeightType::kF16},
    {"BF16", 16, plan::WeightType::kBF16},
    {"F64", 64, {}},
    {"C64", 64, {}},
    {"I64", 64, {}},
    {"U64", 64, {}},
    {"I32", 32, {}},
    {"U32", 32, {}},
    {"I16", 16, {}},
    {"U16", 16, {}},
    {"I8", 8, {}},
    {"U8", 8, {}},
    {"BOOL", 8, {}},
    {"F8_E4M3", 8, {}},
    {"F8_E5M2", 8, {}},
    {"F8_E8M0", 8, {}},
    {"F6_E2M3", 6, {}},
    {"F6_E3M2", 6, {}},
    {"F4", 4, {}},
}};

const ElementType* element_type(std::string_view name) {
  for (const ElementType& type : kElementTypes)
    if (type.name == name) return &type;
  return nullptr;
}

// What the header says of one tensor, before anything is checked against the file.
struct Entry {
  std::string name;
  std::optional<std::string> dtype;
  std::optional<std::vector<uint64_t>> shape;
  std::optional<std::vector<uint64_t>> offsets;
};

class Header final : public JsonVisitor {
 public:
  explicit Header(const std::string& path) : path_(path) {}

  Status begin(const Path& keys, bool array) override {
    if (keys.empty()) return array ? fail(ErrorKind::kInvalid, "{}: the header is an array, expected an object", path_) : Status{};
    if (keys.size() == 1 && !array) {
      if (keys[0] == kMetadata) return {};
      entries_.push_back({keys[0], {}, {}, {}});
      return {};
    }
    if (keys.size() == 2 && array && keys[0] != kMetadata) {
      Entry& entry = entries_.back();
      numbers_ = nullptr;
      if (keys[1] == "shape" && !entry.shape) numbers_ = &entry.shape.emplace();
      if (keys[1] == "data_offsets" && !entry.offsets) numbers_ = &entry.offsets.emplace();
      if (numbers_ != nullptr) return {};
    }
    return unexpected(keys);
  }

  Status end(const Path&) override { return {}; }

  Status value(const Path& keys, const JsonScalar& scalar) override {
    if (keys.empty()) return fail(ErrorKind::kInvalid, "{}: the header is not an object", path_);
    if (keys[0] == kMetadata) {
      if (keys.size() == 2 && std::holds_alternative<std::string_view>(scalar)) return {};
      return fail(ErrorKind::kInvalid, "{}: __metadata__ must be an object of strings", path_);
    }
    if (keys.size() == 2 && keys[1] == "dtype" && std::holds_alternative<std::string_view>(scalar) && !entries_.back().dtype) {
      entries_.back().dtype = std::get<std::string_view>(scalar);
      return {};
    }
    if (keys.size() == 3 && (keys[1] == "shape" || keys[1] == "data_offsets")) return number(keys, scalar);
    return unexpected(keys);
  }

  std::vector<Entry> entries_;

 private:
  static constexpr std::string_view kMetadata = "__metadata__";

  Status number(const Path& keys, const JsonScalar& scalar) {
    const auto* number = std::get_if<uint64_t>(&scalar);
    if (number == nullptr)
      return fail(ErrorKind::kInvalid, "{}: tensor '{}': {} must hold whole numbers that are not negative", path_, keys[0], keys[1]);
    if (numbers_->size() == (keys[1] == "shape" ? kMaxDimensions : 2))
      return fail(ErrorKind::kInvalid, "{}: tensor '{}': {} has more than {} numbers", path_, keys[0], keys[1], numbers_->size());
    numbers_->push_back(*number);
    return {};
  }

  Status unexpected(const Path& keys) const {
    return fail(ErrorKind::kInvalid,
                "{}: tensor '{}': {}; expected an object with one dtype (string), one shape and one data_offsets (arrays of numbers)",
                path_, keys[0],
                keys.size() < 2 ? "is no object" : fmt::format("field '{}' is unknown, there twice or of a wrong type", keys[1]));
  }

  const std::string& path_;
  std::vector<uint64_t>* numbers_ = nullptr;  // of the array that is being read
};

Result<Tensor> tensor_of(Entry entry, std::span<const std::byte> data, const std::string& path) {
  const auto bad = [&](const std::string& what) { return fail(ErrorKind::kInvalid, "{}: tensor '{}': {}", path, entry.name, what); };
  if (!entry.dtype || !entry.shape || !entry.offsets || entry.offsets->size() != 2)
    return bad("dtype, shape or the two data_offsets are missing");
  const ElementType* type = element_type(*entry.dtype);
  if (type == nullptr) return bad(fmt::format("unknown dtype '{}'", *entry.dtype));
  const auto [begin, end] = std::pair((*entry.offsets)[0], (*entry.offsets)[1]);
  if (begin > end) return bad(fmt::format("ends at {}, before it begins at {}", end, begin));
  if (end > data.size()) return bad(fmt::format("lies at {}..{}, but the file has only {} bytes of data", begin, end, data.size()));
  const std::optional<uint64_t> count = element_count(*entry.shape);
  uint64_t bits = 0;
  if (!count || __builtin_mul_overflow(*count, uint64_t{type->bits}, &bits))
    return bad(fmt::format("shape {} overflows 64 bits", shape_text(*entry.shape)));
  if (bits % 8 != 0 || bits / 8 != end - begin)
    return bad(fmt::format("{} bytes at {}..{}, but shape {} of {} asks for {} bits", end - begin, begin, end, shape_text(*entry.shape),
                           *entry.dtype, bits));
  return Tensor{std::move(entry.name), type->weight, *std::move(entry.dtype), *std::move(entry.shape), data.data() + begin, end - begin, 0};
}

}  // namespace

Result<SafetensorsFile> parse_safetensors(std::span<const std::byte> file, const std::string& path) {
  if (file.empty()) return fail(ErrorKind::kInvalid, "{}: the file has no bytes", path);
  if (file.size() < sizeof(uint64_t))
    return fail(ErrorKind::kInvalid, "{}: {} bytes, too short for the length of a safetensors header", path, file.size());
  uint64_t header_bytes = 0;
  std::memcpy(&header_bytes, file.data(), sizeof(header_bytes));
  file = file.subspan(sizeof(header_bytes));
  if (header_bytes > file.size())
    return fail(ErrorKind::kInvalid, "{}: the header claims {} bytes, but only {} follow in the file", path, header_bytes, file.size());
  if (header_bytes > kMaxHeaderBytes)
    return fail(ErrorKind::kInvalid, "{}: a header of {} bytes, more than the {} that the format allows", path, header_bytes,
                kMaxHeaderBytes);
  Header header(path);
  const std::string_view text(reinterpret_cast<const char*>(file.data()), header_bytes);
  // The deepest that a sound header goes: object, tensor, array.
  TEAPOT_CHECK(read_json_events(text, path, 3, header));

  SafetensorsFile result;
  const std::span<const std::byte> data = file.subspan(header_bytes);
  result.tensors.reserve(header.entries_.size());
  std::set<std::string, std::less<>> names;
  for (Entry& entry : header.entries_) {
    if (!names.insert(entry.name).second) return fail(ErrorKind::kInvalid, "{}: tensor '{}' stands in the header twice", path, entry.name);
    TEAPOT_TRY(Tensor tensor, tensor_of(std::move(entry), data, path));
    result.tensors.push_back(std::move(tensor));
  }
  TEAPOT_TRY(result.gap, order_by_place(path, data.data(), 1, result.tensors));
  return result;
}

}  // namespace teapot::model
