#include "base/npy.h"

#include <charconv>
#include <cstring>
#include <limits>

#include "base/file.h"

namespace teapot {
namespace {

struct Header {
  std::string descr;
  std::vector<size_t> shape;
  size_t count = 1;
  std::string_view data;
};

Result<Header> parse_header(const std::string& path, std::string_view file) {
  const auto bad = [&path](std::string_view what) { return fail(ErrorKind::kInvalid, "{}: not a usable .npy file: {}", path, what); };
  if (file.size() < 12 || file.substr(0, 6) != std::string_view("\x93NUMPY", 6)) return bad("no NumPy magic");
  const int major = static_cast<unsigned char>(file[6]);
  if (major < 1 || major > 3) return bad("unknown version");
  const size_t fixed = major == 1 ? 10 : 12;
  size_t length = 0;
  for (size_t i = 8; i < fixed; ++i) length |= static_cast<size_t>(static_cast<unsigned char>(file[i])) << (8 * (i - 8));
  if (length > file.size() - fixed) return bad("header longer than the file");
  const std::string_view text = file.substr(fixed, length);

  Header header;
  const size_t descr = text.find("'descr':");
  const size_t open = text.find('\'', descr == text.npos ? descr : descr + 8);
  const size_t close = text.find('\'', open == text.npos ? open : open + 1);
  if (close == text.npos) return bad("no descr");
  header.descr = text.substr(open + 1, close - open - 1);
  if (text.find("'fortran_order': False") == text.npos) return bad("not row-major");
  const size_t shape = text.find("'shape': (");
  if (shape == text.npos) return bad("no shape");
  for (size_t i = shape + 10; i < text.size() && text[i] != ')';) {
    if (text[i] == ',' || text[i] == ' ') {
      ++i;
      continue;
    }
    size_t dim = 0;
    const auto [end, error] = std::from_chars(text.data() + i, text.data() + text.size(), dim);
    if (error != std::errc{}) return bad("shape is not numbers");
    if (dim != 0 && header.count > std::numeric_limits<size_t>::max() / 16 / dim) return bad("shape overflows");
    header.count *= dim;
    header.shape.push_back(dim);
    i = static_cast<size_t>(end - text.data());
  }
  header.data = file.substr(fixed + length);
  return header;
}

template <class From, class To>
Result<std::vector<To>> convert(const std::string& path, const Header& header) {
  if (header.data.size() != header.count * sizeof(From))
    return fail(ErrorKind::kInvalid, "{}: {} bytes of data, the shape asks for {}", path, header.data.size(), header.count * sizeof(From));
  std::vector<To> values(header.count);
  for (size_t i = 0; i < header.count; ++i) {
    From value;
    std::memcpy(&value, header.data.data() + i * sizeof(From), sizeof(From));
    if constexpr (std::is_integral_v<From>) {
      if (value < std::numeric_limits<To>::min() || value > std::numeric_limits<To>::max())
        return fail(ErrorKind::kInvalid, "{}: {} does not fit 32 bits", path, value);
    }
    values[i] = static_cast<To>(value);
  }
  return values;
}

template <class T>
Status write(const std::string& path, std::span<const size_t> shape, std::span<const T> values, std::string_view descr) {
  std::string dims;
  for (const size_t dim : shape) dims += fmt::format("{},", dim);
  std::string dict = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}", descr, dims);
  dict.append(63 - (10 + dict.size()) % 64, ' ');
  dict += '\n';
  std::string file("\x93NUMPY\x01\x00", 8);
  file += static_cast<char>(dict.size() & 0xff);
  file += static_cast<char>(dict.size() >> 8);
  file += dict;
  file.append(reinterpret_cast<const char*>(values.data()), values.size_bytes());
  return write_file(path, file);
}

}  // namespace

Result<NpyArray<float>> read_npy_f32(const std::string& path) {
  TEAPOT_TRY(const std::string file, read_file(path));
  TEAPOT_TRY(const Header header, parse_header(path, file));
  NpyArray<float> array{header.shape, {}};
  if (header.descr == "<f4") {
    TEAPOT_TRY(array.values, convert<float, float>(path, header));
  } else if (header.descr == "<f8") {
    TEAPOT_TRY(array.values, convert<double, float>(path, header));
  } else {
    return fail(ErrorKind::kInvalid, "{}: type {}, expected <f4 or <f8", path, header.descr);
  }
  return array;
}

Result<NpyArray<int32_t>> read_npy_i32(const std::string& path) {
  TEAPOT_TRY(const std::string file, read_file(path));
  TEAPOT_TRY(const Header header, parse_header(path, file));
  NpyArray<int32_t> array{header.shape, {}};
  if (header.descr == "<i4") {
    TEAPOT_TRY(array.values, convert<int32_t, int32_t>(path, header));
  } else if (header.descr == "<i8") {
    TEAPOT_TRY(array.values, convert<int64_t, int32_t>(path, header));
  } else {
    return fail(ErrorKind::kInvalid, "{}: type {}, expected <i4 or <i8", path, header.descr);
  }
  return array;
}

Status write_npy(const std::string& path, std::span<const size_t> shape, std::span<const float> values) {
  return write(path, shape, values, "<f4");
}

Status write_npy(const std::string& path, std::span<const size_t> shape, std::span<const int32_t> values) {
  return write(path, shape, values, "<i4");
}

}  // namespace teapot
