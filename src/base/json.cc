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
    switch (event) {
      case Json::parse_event_t::object_start:
      case Json::parse_event_t::array_start:
        if (depth >= limits_.max_depth) stop(fmt::format("nested deeper than {} levels", limits_.max_depth));
        if (event == Json::parse_event_t::object_start) objects_.emplace_back();
        break;
      case Json::parse_event_t::object_end:
        objects_.pop_back();
        break;
      case Json::parse_event_t::key:
        count(parsed.get_ref<const std::string&>());
        break;
      default:
        break;
    }
    return true;
  }

  struct Stop {};
  std::optional<Error> error_;

 private:
  struct Object {
    size_t keys = 0;
    std::set<std::string> seen;  // only if duplicates are refused
  };

  void count(const std::string& key) {
    Object& object = objects_.back();
    if (++object.keys > limits_.max_keys) stop(fmt::format("an object with more than {} keys", limits_.max_keys));
    if (limits_.refuse_duplicate_keys && !object.seen.insert(key).second) stop(fmt::format("key '{}' stands there twice", key));
  }

  [[noreturn]] void stop(const std::string& what) {
    error_ = Error{ErrorKind::kInvalid, fmt::format("{}: {}", source_, what)};
    throw Stop{};
  }

  std::string_view source_;
  JsonLimits limits_;
  std::vector<Object> objects_;  // those that are open
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
