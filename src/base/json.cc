#include "base/json.h"

#include <set>
#include <vector>

#include "base/file.h"

namespace teapot {
namespace {

// Watches the parser's events: depth for the limit, keys for duplicates. nlohmann's parser keeps its own stack on the heap.
class Guard {
 public:
  Guard(std::string_view source, JsonLimits limits) : source_(source), limits_(limits) {}

  bool operator()(int depth, Json::parse_event_t event, Json& parsed) {
    if (error_) return false;
    if (event == Json::parse_event_t::object_start || event == Json::parse_event_t::array_start) {
      if (depth >= limits_.max_depth) {
        error_ = Error{ErrorKind::kInvalid, fmt::format("{}: nested deeper than {} levels", source_, limits_.max_depth)};
        throw Stop{};
      }
      if (limits_.refuse_duplicate_keys && event == Json::parse_event_t::object_start) keys_.emplace_back();
    } else if (limits_.refuse_duplicate_keys && event == Json::parse_event_t::object_end) {
      keys_.pop_back();
    } else if (limits_.refuse_duplicate_keys && event == Json::parse_event_t::key) {
      const auto& key = parsed.get_ref<const std::string&>();
      if (!keys_.back().insert(key).second) {
        error_ = Error{ErrorKind::kInvalid, fmt::format("{}: key '{}' stands there twice", source_, key)};
        throw Stop{};
      }
    }
    return true;
  }

  struct Stop {};
  std::optional<Error> error_;

 private:
  std::string_view source_;
  JsonLimits limits_;
  std::vector<std::set<std::string>> keys_;
};

}  // namespace

Result<Json> parse_json(std::string_view text, std::string_view source, JsonLimits limits) {
  Guard guard(source, limits);
  try {
    return Json::parse(text, [&guard](int depth, Json::parse_event_t event, Json& parsed) { return guard(depth, event, parsed); });
  } catch (const Guard::Stop&) {
    return std::unexpected(*guard.error_);
  } catch (const nlohmann::json::exception& e) {
    std::string_view what = e.what();
    if (const size_t bracket = what.find("] "); bracket != what.npos) what.remove_prefix(bracket + 2);
    return fail(ErrorKind::kInvalid, "{}: not JSON: {}", source, what);
  }
}

Result<Json> read_json_file(const std::string& path, JsonLimits limits) {
  TEAPOT_TRY(const std::string text, read_file(path));
  if (text.empty()) return fail(ErrorKind::kInvalid, "{}: the file has no bytes", path);
  return parse_json(text, path, limits);
}

std::string dump_json(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

}  // namespace teapot
