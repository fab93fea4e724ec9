#include "model/json_events.h"

#include <optional>

#include <nlohmann/json.hpp>

namespace teapot::model {
namespace {

// nlohmann's parser keeps its own stack on the heap, so depth costs no stack; the limit bounds the path.
class Events final : public nlohmann::json_sax<nlohmann::json> {
 public:
  Events(const std::string& source, size_t max_depth, JsonVisitor& visitor) : source_(source), max_depth_(max_depth), visitor_(visitor) {}

  bool null() override { return scalar(nullptr); }
  bool boolean(bool x) override { return scalar(x); }
  bool number_integer(number_integer_t x) override { return scalar(static_cast<int64_t>(x)); }
  bool number_unsigned(number_unsigned_t x) override { return scalar(static_cast<uint64_t>(x)); }
  bool number_float(number_float_t x, const string_t&) override { return scalar(x); }
  bool string(string_t& x) override { return scalar(std::string_view(x)); }
  bool binary(binary_t&) override { return false; }  // never in text
  bool start_object(size_t) override { return open(false); }
  bool key(string_t& x) override {
    path_.back() = x;
    return true;
  }
  bool end_object() override { return close(); }
  bool start_array(size_t) override { return open(true); }
  bool end_array() override { return close(); }
  bool parse_error(size_t position, const std::string&, const nlohmann::detail::exception& e) override {
    std::string_view what = e.what();
    if (const size_t bracket = what.find("] "); bracket != what.npos) what.remove_prefix(bracket + 2);
    error_ = Error{ErrorKind::kInvalid, fmt::format("{}: not JSON (byte {}): {}", source_, position, what)};
    return false;
  }

  std::optional<Error> error_;

 private:
  bool keep(Status status) {
    if (!status) error_ = std::move(status).error();
    return !error_;
  }
  bool scalar(const JsonScalar& x) { return keep(visitor_.value(path_, x)); }
  bool open(bool array) {
    if (path_.size() >= max_depth_) {
      error_ = Error{ErrorKind::kInvalid, fmt::format("{}: nested deeper than {} levels", source_, max_depth_)};
      return false;
    }
    if (!keep(visitor_.begin(path_, array))) return false;
    path_.emplace_back();
    return true;
  }
  bool close() {
    path_.pop_back();
    return keep(visitor_.end(path_));
  }

  const std::string& source_;
  size_t max_depth_;
  JsonVisitor& visitor_;
  JsonVisitor::Path path_;
};

}  // namespace

Status read_json_events(std::string_view text, const std::string& source, size_t max_depth, JsonVisitor& visitor) {
  Events events(source, max_depth, visitor);
  if (nlohmann::json::sax_parse(text, &events)) return {};
  if (events.error_) return std::unexpected(*std::move(events.error_));
  return fail(ErrorKind::kInvalid, "{}: not JSON", source);
}

}  // namespace teapot::model
