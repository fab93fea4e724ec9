#include "workbench/trace/json_reader.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <memory>
#include <streambuf>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "workbench/trace/decimal.h"

namespace teapot::workbench::trace {
namespace {

constexpr int kMicrosecond = -6;
constexpr size_t kPiece = size_t{256} << 10;
constexpr size_t kMaxString = size_t{1} << 20;  // longer texts are none of a profiler's names

// The parser's view of the stream. It keeps the fault with which the stream ended.
class Buffer : public std::streambuf {
 public:
  Buffer(ByteStream& stream, const std::function<void(uint64_t)>& progress) : stream_(stream), progress_(progress), piece_(kPiece) {}

  std::optional<Fault> fault;
  bool ended = false;
  uint64_t taken() const { return before_ + static_cast<uint64_t>(gptr() - eback()); }  // unpacked bytes

 protected:
  int_type underflow() override {
    before_ += static_cast<uint64_t>(egptr() - eback());
    setg(nullptr, nullptr, nullptr);
    const Read<size_t> n = fault ? Read<size_t>(0) : stream_.read(piece_);
    if (!n) fault = n.error();
    ended = !n || *n == 0;
    if (ended) return traits_type::eof();
    if (progress_) progress_(stream_.stored_bytes());
    setg(piece_.data(), piece_.data(), piece_.data() + *n);
    return traits_type::to_int_type(*gptr());
  }

 private:
  ByteStream& stream_;
  const std::function<void(uint64_t)>& progress_;
  std::vector<char> piece_;
  uint64_t before_ = 0;
};

enum class Key {
  kOther,
  kName,
  kPhase,
  kCategory,
  kPid,
  kTid,
  kTs,
  kDur,
  kId,
  kArgs,  // of an event
  kTaskType,
  kModel,
  kConnection,
  kCorrelation,
  kGraphNode,
  kBytes,
  kCount,
  kDataType,
  kLabels,
  kStep,  // of its arguments
};

Key event_key(std::string_view key) {
  if (key == "name") return Key::kName;
  if (key == "ph") return Key::kPhase;
  if (key == "cat") return Key::kCategory;
  if (key == "pid") return Key::kPid;
  if (key == "tid") return Key::kTid;
  if (key == "ts") return Key::kTs;
  if (key == "dur") return Key::kDur;
  if (key == "id") return Key::kId;
  if (key == "args") return Key::kArgs;
  return Key::kOther;
}

Key argument_key(std::string_view key) {
  if (key == "name") return Key::kName;
  if (key == "labels") return Key::kLabels;
  if (key == "Task Type") return Key::kTaskType;
  if (key == "Model Id" || key == "model id") return Key::kModel;
  if (key == "connection_id") return Key::kConnection;
  if (key == "correlation") return Key::kCorrelation;
  if (key == "graph node id") return Key::kGraphNode;
  if (key == "bytes" || key == "size(B)") return Key::kBytes;
  if (key == "count" || key == "In msg nelems" || key == "page_faults") return Key::kCount;
  if (key == "data_type" || key == "dtype") return Key::kDataType;
  if (key == "step") return Key::kStep;
  return Key::kOther;
}

// The event that is being read.
struct Event {
  char phase = 0;
  Name pid = 0, tid = 0, labels = 0, argument_name = 0;
  std::optional<int64_t> ts_ns, length_ns, flow_id;
  int64_t connection = kNoId, correlation = kNoId;
  Detail detail;
};

struct DetailHash {
  size_t operator()(const Detail& d) const {
    uint64_t h = 0;
    for (const uint64_t part : {uint64_t{d.category}, uint64_t{d.core}, uint64_t{d.data_type}, uint64_t{d.model}, uint64_t{d.replayed},
                                static_cast<uint64_t>(d.bytes), static_cast<uint64_t>(d.count), static_cast<uint64_t>(d.step)}) {
      h = (h ^ part) * 0x9E3779B97F4A7C15u;
      h ^= h >> 29;
    }
    return h;
  }
};

// nlohmann's events -> RawTrace. Returning false stops the parser; `fault` then says why.
class Handler {
 public:
  Handler(RawTrace& trace, const Buffer& buffer, const std::string& source) : trace_(trace), buffer_(buffer), source_(source) {
    for (size_t i = 0; i < trace.tracks.size(); ++i) tracks_.emplace(track_key(trace.tracks[i].process, trace.tracks[i].thread), i);
    for (size_t i = 0; i < trace.details.size(); ++i) details_.emplace(trace.details[i], i);
    flow_category_ = trace.names.of("HostToDevice");
  }

  std::optional<Fault> fault;
  bool parsed_nothing() const { return !any_; }

  bool null() { return scalar({}, nullptr); }
  bool boolean(bool) { return scalar({}, nullptr); }
  bool number_integer(int64_t value) { return scalar({}, &value); }
  bool number_unsigned(uint64_t value) {
    if (value > INT64_MAX) return scalar(integer_text(value), nullptr);
    const auto whole = static_cast<int64_t>(value);
    return scalar({}, &whole);
  }
  bool number_float(double, const std::string& text) { return scalar(text, nullptr); }
  bool string(std::string& text) {
    if (text.size() > kMaxString) return stop("malformed", fmt::format("a string of {} bytes", text.size()));
    return scalar(text, nullptr);
  }
  bool binary(std::vector<uint8_t>&) { return true; }

  bool start_object(size_t) {
    any_ = true;
    switch (place_) {
      case Place::kTop:
        place_ = Place::kTopObject;
        return true;
      case Place::kTopObject:
        if (top_key_ == "otherData" || top_key_ == "distributedInfo") {
          place_ = Place::kTopPart;
        } else {
          ++skip_;
          place_ = Place::kSkipTop;
        }
        return true;
      case Place::kEvents:
        place_ = Place::kEvent;
        event_ = {};
        name_.clear();
        return true;
      case Place::kEvent:
        if (key_ == Key::kArgs) {
          place_ = Place::kArgs;
          return true;
        }
        return begin_skip(Place::kSkipEvent);
      case Place::kArgs:
        return begin_skip(Place::kSkipArgs);
      case Place::kTopPart:
        return begin_skip(Place::kSkipPart);
      default:
        ++skip_;
        return true;
    }
  }

  bool key(std::string& text) {
    if (place_ == Place::kEvent) {
      key_ = event_key(text);
    } else if (place_ == Place::kArgs) {
      key_ = argument_key(text);
    } else if (place_ == Place::kTopObject) {
      top_key_ = text;
    } else if (place_ == Place::kTopPart) {
      part_key_ = text;
    }
    return true;
  }

  bool end_object() {
    switch (place_) {
      case Place::kTopPart:
        place_ = Place::kTopObject;
        return true;
      case Place::kArgs:
        place_ = Place::kEvent;
        return true;
      case Place::kEvent:
        place_ = Place::kEvents;
        return finish();
      case Place::kTopObject:
        place_ = Place::kTop;
        return true;
      default:
        return end_skip();
    }
  }

  bool start_array(size_t) {
    any_ = true;
    if (place_ == Place::kTop) {
      trace_.is_list = trace_.has_events = true;
      place_ = Place::kEvents;
      return true;
    }
    if (place_ == Place::kTopObject) {
      if (top_key_ != "traceEvents") return begin_skip(Place::kSkipTop);
      trace_.has_events = true;
      in_object_ = true;
      place_ = Place::kEvents;
      return true;
    }
    if (place_ == Place::kEvents) return stop("unknown format", "a list within the list of events");
    if (place_ == Place::kEvent) return begin_skip(Place::kSkipEvent);
    if (place_ == Place::kArgs) return begin_skip(Place::kSkipArgs);
    if (place_ == Place::kTopPart) return begin_skip(Place::kSkipPart);
    ++skip_;
    return true;
  }

  bool end_array() {
    if (place_ == Place::kEvents) {
      place_ = in_object_ ? Place::kTopObject : Place::kTop;
      return true;
    }
    return end_skip();
  }

  bool parse_error(size_t, const std::string&, const nlohmann::json::exception& e) {
    std::string_view what = e.what();
    if (const size_t bracket = what.find("] "); bracket != what.npos) what.remove_prefix(bracket + 2);
    return stop("malformed", fmt::format("not JSON: {}", what));
  }

 private:
  enum class Place { kTop, kTopObject, kTopPart, kEvents, kEvent, kArgs, kSkipTop, kSkipPart, kSkipEvent, kSkipArgs };

  static uint64_t track_key(Name process, Name thread) { return uint64_t{process} << 32 | thread; }

  bool stop(std::string error, const std::string& message) {
    fault = Fault{std::move(error), fmt::format("{}: {}", source_, message), {}, buffer_.taken()};
    return false;
  }

  bool begin_skip(Place place) {
    place_ = place;
    skip_ = 1;
    return true;
  }

  bool end_skip() {
    if (--skip_ > 0) return true;
    place_ = place_ == Place::kSkipTop    ? Place::kTopObject
             : place_ == Place::kSkipPart ? Place::kTopPart
             : place_ == Place::kSkipArgs ? Place::kArgs
                                          : Place::kEvent;
    return true;
  }

  std::string_view integer_text(uint64_t value) {
    const auto end = std::to_chars(digits_, digits_ + sizeof digits_, value).ptr;
    return {digits_, static_cast<size_t>(end - digits_)};
  }

  // A string, the text of a number that is no 64-bit integer, or an integer; null and booleans are the empty text.
  bool scalar(std::string_view text, const int64_t* whole) {
    any_ = true;
    if (place_ == Place::kEvent) return event_value(text, whole);
    if (place_ == Place::kArgs) return argument(text, whole);
    if (place_ == Place::kTopObject) {
      if (top_key_ != "baseTimeNanoseconds" || whole == nullptr) return true;
      if (*whole < 0 || *whole > kMaxTime) return stop("malformed", fmt::format("baseTimeNanoseconds is {}", *whole));
      trace_.base_ns = *whole;
      return true;
    }
    if (place_ == Place::kTopPart) return part(text, whole);
    if (place_ == Place::kEvents) return stop("unknown format", "the list holds values that are no events");
    return true;
  }

  bool part(std::string_view text, const int64_t* whole) {
    if (top_key_ == "distributedInfo") {
      if (part_key_ == "rank" && whole != nullptr) trace_.rank = *whole;
    } else if (part_key_ == "format") {
      trace_.own_format = text;
    } else if (part_key_ == "page_faults_by") {
      trace_.page_faults_by = text;
    } else if (part_key_ == "version" && whole != nullptr) {
      trace_.own_version = *whole;
    } else if (part_key_ == "roof_gbps") {
      double value = whole != nullptr ? static_cast<double>(*whole) : 0;
      if (whole == nullptr) std::from_chars(text.data(), text.data() + text.size(), value);
      if (value > 0) trace_.roof_gbps = value;
    }
    return true;
  }

  Name name_of(std::string_view text, const int64_t* whole) { return trace_.names.of(whole == nullptr ? text : digits_of(*whole)); }

  std::string_view digits_of(int64_t whole) {
    const auto end = std::to_chars(digits_, digits_ + sizeof digits_, whole).ptr;
    return {digits_, static_cast<size_t>(end - digits_)};
  }

  static std::optional<int64_t> integer(std::string_view text, const int64_t* whole) {
    if (whole != nullptr) return *whole;
    uint64_t value = 0;  // flow ids use all 64 bits
    const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (text.empty() || code != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return static_cast<int64_t>(value);
  }

  bool time(std::string_view text, const int64_t* whole, std::optional<int64_t>& out, bool exact) {
    if (whole != nullptr) {
      out = whole_to_ns(*whole, kMicrosecond);
      return (out && std::abs(*out) <= kMaxTime) ||
             stop("malformed", fmt::format("the time {} us is beyond what nanoseconds can count", *whole));
    }
    const std::optional<Decimal> value = parse_decimal(text, kMicrosecond);
    if (!value) return stop("malformed", fmt::format("'{}' is no time", text.substr(0, 40)));
    if (exact && value->rounded) return stop("precision lost", fmt::format("the time '{}' has lost its digits", text));
    if (std::abs(value->ns) > kMaxTime)
      return stop("malformed", fmt::format("the time '{}' us is beyond what nanoseconds can count", text));
    out = value->ns;
    return true;
  }

  bool event_value(std::string_view text, const int64_t* whole) {
    switch (key_) {
      case Key::kName:
        name_.assign(whole == nullptr ? text : digits_of(*whole));
        break;
      case Key::kPhase:
        event_.phase = text.size() == 1 ? text[0] : 0;
        break;
      case Key::kCategory:
        event_.detail.category = name_of(text, whole);
        break;
      case Key::kPid:
        event_.pid = name_of(text, whole);
        break;
      case Key::kTid:
        event_.tid = name_of(text, whole);
        break;
      case Key::kTs:
        return time(text, whole, event_.ts_ns, true);
      case Key::kDur:
        return time(text, whole, event_.length_ns, false);
      case Key::kId:
        event_.flow_id = integer(text, whole);
        break;
      default:
        break;
    }
    return true;
  }

  bool argument(std::string_view text, const int64_t* whole) {
    const auto number = [&] { return integer(text, whole); };
    switch (key_) {
      case Key::kName:
        event_.argument_name = name_of(text, whole);
        break;
      case Key::kLabels:
        event_.labels = name_of(text, whole);
        break;
      case Key::kTaskType:
        event_.detail.core = name_of(text, whole);
        break;
      case Key::kDataType:
        event_.detail.data_type = name_of(text, whole);
        break;
      case Key::kModel:
        event_.detail.model = static_cast<uint32_t>(number().value_or(kNoModel));
        break;
      case Key::kConnection:
        event_.connection = number().value_or(kNoId);
        break;
      case Key::kCorrelation:
        event_.correlation = number().value_or(kNoId);
        break;
      case Key::kGraphNode:
        event_.detail.replayed = number().value_or(0) != 0;
        break;
      case Key::kBytes:
        event_.detail.bytes = number().value_or(-1);
        break;
      case Key::kCount:
        event_.detail.count = number().value_or(-1);
        break;
      case Key::kStep:
        event_.detail.step = number().value_or(kNoId);
        break;
      default:
        break;
    }
    return true;
  }

  uint32_t track() {
    const auto [at, is_new] = tracks_.try_emplace(track_key(event_.pid, event_.tid), static_cast<uint32_t>(trace_.tracks.size()));
    if (is_new) trace_.tracks.push_back({event_.pid, event_.tid, 0});
    return at->second;
  }

  uint32_t detail() {
    const auto [at, is_new] = details_.try_emplace(event_.detail, static_cast<uint32_t>(trace_.details.size()));
    if (is_new) trace_.details.push_back(event_.detail);
    return at->second;
  }

  bool finish() {
    if (event_.phase == 'X') {
      RawSlice slice;
      slice.start_ns = event_.ts_ns.value_or(0);
      slice.length_ns = event_.length_ns.value_or(0);
      slice.id = event_.correlation != kNoId ? event_.correlation : event_.connection;
      slice.name = trace_.names.of(name_);
      slice.track = track();
      slice.detail = detail();
      trace_.slices.push_back(slice);
    } else if (event_.phase == 'M') {
      if (name_ == "process_name") {
        trace_.processes[event_.pid].name = trace_.names.text(event_.argument_name);
      } else if (name_ == "process_labels") {
        trace_.processes[event_.pid].labels = trace_.names.text(event_.labels);
      } else if (name_ == "thread_name") {
        trace_.tracks[track()].thread_name = event_.argument_name;
      }
    } else if ((event_.phase == 's' || event_.phase == 'f') && event_.detail.category == flow_category_ && event_.flow_id && event_.ts_ns) {
      trace_.flows.push_back({*event_.flow_id, *event_.ts_ns, track(), event_.phase == 's'});
    }
    return true;
  }

  RawTrace& trace_;
  const Buffer& buffer_;
  const std::string& source_;
  Place place_ = Place::kTop;
  Key key_ = Key::kOther;
  std::string top_key_, part_key_;
  size_t skip_ = 0;
  bool in_object_ = false;
  bool any_ = false;
  Event event_;
  std::string name_;  // of the event; kept only of slices: each flow has one of its own
  Name flow_category_ = 0;
  char digits_[24];
  std::unordered_map<uint64_t, uint32_t> tracks_;
  std::unordered_map<Detail, uint32_t, DetailHash> details_;
};

}  // namespace

Read<void> read_json_trace(ByteStream& stream, RawTrace& trace, const std::function<void(uint64_t)>& progress) {
  const std::string source = stream.name();
  Buffer buffer(stream, progress);
  std::istream in(&buffer);
  Handler handler(trace, buffer, source);
  const bool done = nlohmann::json::sax_parse(in, &handler);
  if (buffer.fault) return std::unexpected(*buffer.fault);
  if (!done) {
    Fault fault = handler.fault.value_or(Fault{"malformed", source + ": not JSON", {}, buffer.taken()});
    if (fault.error == "malformed" && buffer.ended) {
      fault.error = "truncated";
      fault.message = fmt::format("{}: the file ends at byte {}, in the middle of its JSON", source, stream.stored_bytes());
      fault.byte_offset = stream.stored_bytes();
    }
    if (handler.parsed_nothing()) fault.error = "unknown format";
    return std::unexpected(std::move(fault));
  }
  if (!trace.has_events) return refuse("unknown format", source + ": JSON, but no trace: neither a list of events nor 'traceEvents'");
  return {};
}

}  // namespace teapot::workbench::trace
