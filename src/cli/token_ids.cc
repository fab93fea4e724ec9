#include "cli/token_ids.h"

#include <charconv>

#include "base/npy.h"

namespace teapot::cli {

Result<std::vector<int32_t>> parse_token_ids(const std::string& argument) {
  if (argument.starts_with('@')) {
    const std::string path = argument.substr(1);
    TEAPOT_TRY(NpyArray<int32_t> array, read_npy_i32(path));
    if (array.shape.size() != 1) return fail(ErrorKind::kInvalid, "{}: {} dimensions, expected a list of ids", path, array.shape.size());
    return std::move(array.values);
  }
  std::vector<int32_t> ids;
  for (size_t begin = 0; begin <= argument.size();) {
    const size_t end = std::min(argument.find(',', begin), argument.size());
    const std::string_view item = std::string_view(argument).substr(begin, end - begin);
    int32_t id = 0;
    const auto [rest, error] = std::from_chars(item.data(), item.data() + item.size(), id);
    if (error != std::errc() || rest != item.data() + item.size() || id < 0) {
      return fail(ErrorKind::kInvalid, "--ids: '{}' is no token id; expected numbers from 0, with commas between them", item);
    }
    ids.push_back(id);
    begin = end + 1;
  }
  return ids;
}

}  // namespace teapot::cli
