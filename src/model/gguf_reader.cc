#include "model/gguf_reader.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <set>

#include "model/gguf_types.h"
#include "model/placement.h"

namespace teapot::model {
namespace {

static_assert(std::endian::native == std::endian::little);

constexpr uint64_t kDefaultAlignment = 32;
constexpr uint32_t kMaxDimensions = 4;  // the format's
// Each is far above what files have (40 keys, 22,000 tensors, 250,000 tokens, a template of 10 kB) and keeps what a large file of
// nonsense can make us allocate far below its own size.
constexpr uint64_t kMaxCount = 1 << 20;
constexpr uint64_t kMaxElements = 1 << 24;
constexpr uint64_t kMaxString = 1 << 26;
constexpr uint64_t kMaxName = 1 << 12;

struct TypeInfo {
  std::string_view name;
  size_t bytes;
};

constexpr std::array<TypeInfo, 13> kTypeInfo = {{{"u8", 1},
                                                 {"i8", 1},
                                                 {"u16", 2},
                                                 {"i16", 2},
                                                 {"u32", 4},
                                                 {"i32", 4},
                                                 {"f32", 4},
                                                 {"bool", 1},
                                                 {"string", 0},
                                                 {"array", 0},
                                                 {"u64", 8},
                                                 {"i64", 8},
                                                 {"f64", 8}}};

template <class T>
T load(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof(T));
  return value;
}

// Names go into messages and listings: no bytes that a terminal obeys.
bool is_printable(std::string_view name) {
  return !name.empty() && std::none_of(name.begin(), name.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; });
}

class Reader {
 public:
  Reader(std::span<const std::byte> file, const std::string& path) : file_(file), path_(path) {}

  Result<GgufPart> read() {
    GgufPart part;
    TEAPOT_CHECK(read_header());
    for (uint64_t i = 0; i < keys_; ++i) TEAPOT_CHECK(read_key(i, part.metadata));
    TEAPOT_TRY(alignment_, alignment(part.metadata));
    std::set<std::string, std::less<>> names;
    std::vector<uint64_t> offsets;
    for (uint64_t i = 0; i < tensors_; ++i) {
      TEAPOT_TRY(Tensor tensor, read_tensor_info(i, offsets));
      if (!names.insert(tensor.name).second) return fail(ErrorKind::kInvalid, "{}: tensor '{}' is there twice", path_, tensor.name);
      part.tensors.push_back(std::move(tensor));
    }
    TEAPOT_TRY(part.gap, place(part.tensors, offsets));
    return part;
  }

 private:
  Status read_header() {
    if (file_.empty()) return fail(ErrorKind::kInvalid, "{}: the file has no bytes", path_);
    TEAPOT_TRY(const auto magic, take(4, "magic"));
    if (std::memcmp(magic.data(), "GGUF", 4) != 0)
      return fail(ErrorKind::kInvalid, "{}: not a GGUF file: begins with bytes {:02x} {:02x} {:02x} {:02x}, expected \"GGUF\"", path_,
                  static_cast<unsigned>(magic[0]), static_cast<unsigned>(magic[1]), static_cast<unsigned>(magic[2]),
                  static_cast<unsigned>(magic[3]));
    TEAPOT_TRY(const auto version, number<uint32_t>("version"));
    if (version != 0 && (version & 0xffff) == 0) return fail(ErrorKind::kUnsupported, "{}: a big-endian GGUF file", path_);
    if (version != 2 && version != 3) return fail(ErrorKind::kUnsupported, "{}: GGUF version {}, supported are 2 and 3", path_, version);
    TEAPOT_TRY(tensors_, number<uint64_t>("tensor count"));
    TEAPOT_TRY(keys_, number<uint64_t>("key count"));
    // The least that a key takes: length, one byte of name, type, one byte; a tensor: the same name, dimensions, type, offset.
    TEAPOT_CHECK(check_count("keys", keys_, kMaxCount, 8 + 1 + 4 + 1));
    return check_count("tensors", tensors_, kMaxCount, 8 + 1 + 4 + 8 + 4 + 8);
  }

  Status read_key(uint64_t index, GgufMetadata& metadata) {
    const std::string what = fmt::format("key {} of {}", index + 1, keys_);
    TEAPOT_TRY(const std::string_view name, text(what, kMaxName));
    if (!is_printable(name)) return fail(ErrorKind::kInvalid, "{}: {} is empty or holds control characters", path_, what);
    std::string key(name);
    if (metadata.contains(key)) return fail(ErrorKind::kInvalid, "{}: key '{}' is there twice", path_, key);
    auto value = read_value(fmt::format("key '{}'", key));
    if (!value) return std::unexpected(std::move(value).error());
    metadata.emplace(std::move(key), *std::move(value));
    return {};
  }

  Result<GgufType> read_type(const std::string& where) {
    TEAPOT_TRY(const auto id, number<uint32_t>(where));
    if (id >= kTypeInfo.size()) return fail(ErrorKind::kInvalid, "{}: {}: unknown value type {}", path_, where, id);
    return static_cast<GgufType>(id);
  }

  Result<GgufValue> read_value(const std::string& where) {
    TEAPOT_TRY(const GgufType type, read_type(where));
    if (type == GgufType::kArray) {
      TEAPOT_TRY(const GgufArray array, read_array(where));
      return GgufValue{type, array};
    }
    if (type == GgufType::kString) {
      TEAPOT_TRY(const std::string_view string, text(where, kMaxString));
      return GgufValue{type, string};
    }
    TEAPOT_TRY(const auto bytes, take(gguf_type_bytes(type), where));
    if (type == GgufType::kBool) TEAPOT_CHECK(check_booleans(where, bytes));
    return gguf_fixed_value(type, bytes.data());
  }

  Result<GgufArray> read_array(const std::string& where) {
    TEAPOT_TRY(const GgufType type, read_type(where));
    if (type == GgufType::kArray) return fail(ErrorKind::kUnsupported, "{}: {}: arrays of arrays are not supported", path_, where);
    TEAPOT_TRY(const auto count, number<uint64_t>(where));
    const bool strings = type == GgufType::kString;
    TEAPOT_CHECK(check_count(fmt::format("elements of {}", where), count, kMaxElements, strings ? 8 : gguf_type_bytes(type)));
    const size_t begin = at_;
    if (strings) {
      for (uint64_t i = 0; i < count; ++i) TEAPOT_CHECK(text(where, kMaxString));
    } else {
      TEAPOT_TRY(const auto bytes, take(count * gguf_type_bytes(type), where));
      if (type == GgufType::kBool) TEAPOT_CHECK(check_booleans(where, bytes));
    }
    return GgufArray{type, count, file_.subspan(begin, at_ - begin)};
  }

  Status check_booleans(const std::string& where, std::span<const std::byte> bytes) const {
    for (const std::byte byte : bytes)
      if (static_cast<unsigned>(byte) > 1)
        return fail(ErrorKind::kInvalid, "{}: {}: a boolean is {}, expected 0 or 1", path_, where, static_cast<unsigned>(byte));
    return {};
  }

  Result<uint64_t> alignment(const GgufMetadata& metadata) const {
    const auto entry = metadata.find("general.alignment");
    if (entry == metadata.end()) return kDefaultAlignment;
    const auto* value = std::get_if<uint64_t>(&entry->second.value);
    if (value == nullptr)
      return fail(ErrorKind::kInvalid, "{}: key 'general.alignment' is of type {}, expected u32", path_,
                  gguf_type_name(entry->second.type));
    if (!std::has_single_bit(*value) || *value > uint64_t{1} << 32)
      return fail(ErrorKind::kInvalid, "{}: key 'general.alignment' is {}, expected a power of two", path_, *value);
    return *value;
  }

  Result<Tensor> read_tensor_info(uint64_t index, std::vector<uint64_t>& offsets) {
    const std::string what = fmt::format("tensor {} of {}", index + 1, tensors_);
    TEAPOT_TRY(const std::string_view name, text(what, kMaxName));
    if (!is_printable(name)) return fail(ErrorKind::kInvalid, "{}: the name of {} is empty or holds control characters", path_, what);
    const std::string where = fmt::format("tensor '{}'", name);
    Tensor tensor;
    tensor.name = name;
    TEAPOT_TRY(const auto dimensions, number<uint32_t>(where));
    if (dimensions == 0 || dimensions > kMaxDimensions)
      return fail(ErrorKind::kInvalid, "{}: {} has {} dimensions, expected 1 to {}", path_, where, dimensions, kMaxDimensions);
    for (uint32_t i = 0; i < dimensions; ++i) {
      TEAPOT_TRY(const auto dim, number<uint64_t>(where));
      tensor.shape.insert(tensor.shape.begin(), dim);
    }
    TEAPOT_TRY(const auto type, number<uint32_t>(where));
    TEAPOT_TRY(const auto offset, number<uint64_t>(where));
    offsets.push_back(offset);
    TEAPOT_CHECK(set_type(tensor, type));
    return tensor;
  }

  // Type and, from it and the shape, bytes.
  Status set_type(Tensor& tensor, uint32_t id) const {
    const auto bad = [&](const std::string& what) { return fail(ErrorKind::kInvalid, "{}: tensor '{}' {}", path_, tensor.name, what); };
    const GgufTensorType* type = gguf_tensor_type(id);
    if (type == nullptr) return bad(fmt::format("is of unknown type {}", id));
    if (type->elements == 0) return bad(fmt::format("is of type {} ({}), which the format has dropped", id, type->name));
    tensor.type = type->weight;
    tensor.type_name = type->name;
    const std::optional<uint64_t> count = element_count(tensor.shape);
    if (!count || __builtin_mul_overflow(*count / type->elements, uint64_t{type->bytes}, &tensor.bytes))
      return bad(fmt::format("has shape {}, which overflows 64 bits", shape_text(tensor.shape)));
    if (*count == 0) return bad(fmt::format("has shape {}, with a dimension of 0", shape_text(tensor.shape)));
    if (*count % type->elements != 0)
      return bad(fmt::format("has shape {}, but {} has blocks of {}", shape_text(tensor.shape), type->name, type->elements));
    // Whoever expects another shape has the better message, with both; nobody can use rows of broken blocks.
    if (tensor.shape.back() % type->elements != 0) {
      tensor.type.reset();
      tensor.type_name += fmt::format(" (rows of {} are no whole blocks of {})", tensor.shape.back(), type->elements);
    }
    return {};
  }

  // Finds the tensors' bytes; offsets[i] is tensors[i]'s, from the start of the data.
  Result<std::string> place(std::vector<Tensor>& tensors, const std::vector<uint64_t>& offsets) const {
    if (tensors.empty()) return std::string();
    const uint64_t start = (at_ + alignment_ - 1) / alignment_ * alignment_;
    const std::span<const std::byte> data = file_.subspan(std::min<uint64_t>(start, file_.size()));
    for (size_t i = 0; i < tensors.size(); ++i) {
      Tensor& tensor = tensors[i];
      if (offsets[i] % alignment_ != 0)
        return fail(ErrorKind::kInvalid, "{}: tensor '{}' has offset {}, no multiple of the alignment {}", path_, tensor.name, offsets[i],
                    alignment_);
      if (offsets[i] > data.size() || tensor.bytes > data.size() - offsets[i])
        return fail(ErrorKind::kInvalid, "{}: tensor '{}' has {} bytes at offset {}, but the file has only {} bytes of data", path_,
                    tensor.name, tensor.bytes, offsets[i], data.size());
      tensor.data = data.data() + offsets[i];
    }
    return order_by_place(path_, data.data(), alignment_, tensors);
  }

  Result<std::span<const std::byte>> take(uint64_t bytes, std::string_view what) {
    if (bytes > file_.size() - at_)
      return fail(ErrorKind::kInvalid, "{}: {}: needs {} bytes at {}, but the file ends at {}", path_, what, bytes, at_, file_.size());
    at_ += bytes;
    return file_.subspan(at_ - bytes, bytes);
  }

  template <class T>
  Result<T> number(std::string_view what) {
    TEAPOT_TRY(const auto bytes, take(sizeof(T), what));
    return load<T>(bytes.data());
  }

  Result<std::string_view> text(std::string_view what, uint64_t limit) {
    TEAPOT_TRY(const auto length, number<uint64_t>(what));
    if (length > limit && length <= file_.size() - at_)
      return fail(ErrorKind::kInvalid, "{}: {}: a string of {} bytes, more than {}", path_, what, length, limit);
    TEAPOT_TRY(const auto bytes, take(length, what));
    return std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  }

  Status check_count(const std::string& what, uint64_t count, uint64_t limit, uint64_t least_bytes) const {
    if (count > (file_.size() - at_) / least_bytes)
      return fail(ErrorKind::kInvalid, "{}: claims {} {}, but only {} bytes follow in the file", path_, count, what, file_.size() - at_);
    if (count > limit) return fail(ErrorKind::kInvalid, "{}: {} {}, more than {}", path_, count, what, limit);
    return {};
  }

  std::span<const std::byte> file_;
  const std::string& path_;
  uint64_t at_ = 0;
  uint64_t keys_ = 0;
  uint64_t tensors_ = 0;
  uint64_t alignment_ = kDefaultAlignment;
};

}  // namespace

Result<GgufPart> parse_gguf(std::span<const std::byte> file, const std::string& path) { return Reader(file, path).read(); }

std::string_view gguf_type_name(GgufType type) { return kTypeInfo[static_cast<size_t>(type)].name; }

size_t gguf_type_bytes(GgufType type) { return kTypeInfo[static_cast<size_t>(type)].bytes; }

GgufValue gguf_fixed_value(GgufType type, const std::byte* at) {
  switch (type) {
    case GgufType::kU8:
      return {type, uint64_t{load<uint8_t>(at)}};
    case GgufType::kI8:
      return {type, int64_t{load<int8_t>(at)}};
    case GgufType::kU16:
      return {type, uint64_t{load<uint16_t>(at)}};
    case GgufType::kI16:
      return {type, int64_t{load<int16_t>(at)}};
    case GgufType::kU32:
      return {type, uint64_t{load<uint32_t>(at)}};
    case GgufType::kI32:
      return {type, int64_t{load<int32_t>(at)}};
    case GgufType::kU64:
      return {type, load<uint64_t>(at)};
    case GgufType::kI64:
      return {type, load<int64_t>(at)};
    case GgufType::kF32:
      return {type, double{load<float>(at)}};
    case GgufType::kF64:
      return {type, load<double>(at)};
    case GgufType::kBool:
      return {type, load<uint8_t>(at) != 0};
    case GgufType::kString:
    case GgufType::kArray:
      break;
  }
  std::unreachable();
}

}  // namespace teapot::model
