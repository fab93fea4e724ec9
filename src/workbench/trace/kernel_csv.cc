#include "workbench/trace/kernel_csv.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>

#include <fmt/format.h>

#include "base/error.h"
#include "workbench/trace/csv_reader.h"
#include "workbench/trace/data_types.h"
#include "workbench/trace/decimal.h"
#include "workbench/trace/raw_trace.h"

namespace teapot::workbench::trace {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
constexpr std::string_view kCollectiveCore = "COMMUNICATION";
constexpr int64_t kCoarse = 10'000;  // ns; starts that all are multiples of it were rounded: 15 digits of a time in us
constexpr uint64_t kEnoughRows = 16;

enum Column {
  kName,
  kType,
  kCore,
  kStart,
  kDuration,
  kStep,
  kDevice,
  kModel,
  kStream,
  kInShapes,
  kInTypes,
  kOutShapes,
  kOutTypes,
  kColumns
};

// By file: what each calls its columns, without their units.
constexpr std::array<std::array<std::string_view, kColumns>, 3> kHeaders = {{
    {"Name", "Type", "Accelerator Core", "Start Time", "Duration", "Step Id", "Device_id", "Model ID", "Stream ID", "Input Shapes",
     "Input Data Types", "Output Shapes", "Output Data Types"},
    {"Op Name", "OP Type", "Task Type", "Task Start Time", "Task Duration", "Step Id", "Device_id", "Model ID", "Stream ID", "Input Shapes",
     "Input Data Types", "Output Shapes", "Output Data Types"},
    {"kernel_name", "", "kernel_type", "task_start", "task_time", "", "Device_id", "", "stream_id", "", "", "", ""},
}};

struct Header {
  std::string name, unit;  // "Duration(us)" -> "Duration", "us"
};

Header header_of(std::string_view text) {
  text = trimmed(text);
  const size_t open = text.rfind('(');
  if (open == text.npos || !text.ends_with(')')) return {std::string(text), ""};
  return {std::string(text.substr(0, open)), std::string(text.substr(open + 1, text.size() - open - 2))};
}

struct Layout {
  std::array<int, kColumns> at{};  // index of the field, -1: not there
  int start_exponent = 0, duration_exponent = 0;
  std::string start_header;
};

// The file whose name column the header has.
std::optional<size_t> kind_of(const std::vector<std::string>& fields) {
  for (size_t kind = 0; kind < kHeaders.size(); ++kind) {
    const auto has = [&](Column column) {
      return std::ranges::any_of(fields, [&](const std::string& field) { return header_of(field).name == kHeaders[kind][column]; });
    };
    if (has(kName) && (has(kStart) || has(kDuration))) return kind;
  }
  return std::nullopt;
}

Read<Layout> layout_of(const std::vector<std::string>& fields, size_t kind, const std::string& source) {
  Layout layout;
  layout.at.fill(-1);
  std::array<std::string, kColumns> units, headers;
  for (size_t i = 0; i < fields.size(); ++i) {
    const Header header = header_of(fields[i]);
    for (size_t column = 0; column < kColumns; ++column) {
      if (layout.at[column] >= 0 || header.name.empty() || header.name != kHeaders[kind][column]) continue;
      layout.at[column] = static_cast<int>(i);
      units[column] = header.unit;
      headers[column] = trimmed(fields[i]);
    }
  }
  for (const Column column : {kStart, kDuration}) {
    if (layout.at[column] < 0) {
      const std::string wanted = std::string(kHeaders[kind][column]) + "(us)";
      return refuse("missing column", fmt::format("{}: no column '{}'", source, wanted), wanted);
    }
    const std::optional<int> exponent = unit_exponent(units[column]);
    if (!exponent) {
      return refuse("unknown unit",
                    fmt::format("{}: column '{}' is in '{}', expected s, ms, us or ns", source, headers[column], units[column]),
                    headers[column]);
    }
    (column == kStart ? layout.start_exponent : layout.duration_exponent) = *exponent;
  }
  layout.start_header = headers[kStart];
  return layout;
}

class Rows {
 public:
  Rows(const Layout& layout, const Rules& rules, Trace& trace) : layout_(layout), rules_(rules), trace_(trace) {
    for (size_t i = 0; i < trace.markers.size(); ++i) steps_.emplace(trace.markers[i].id, i);
    for (size_t i = 0; i < trace.streams.size(); ++i) streams_.emplace(trace.streams[i], i);
  }

  Read<void> add(const std::vector<std::string>& fields, const std::string& source, uint64_t row) {
    fields_ = &fields;
    const std::string_view name = text(kName), core = text(kCore);
    const DeviceClass kind = rules_.device(Tracks::kAscend, name, core);
    if (!kind) return {};
    DeviceSlice slice;
    const std::string_view start = text(kStart), length = text(kDuration);
    const auto from = start == "N/A" || start.empty() ? Decimal{} : parse_decimal(start, layout_.start_exponent);
    const auto time = length == "N/A" || length.empty() ? Decimal{} : parse_decimal(length, layout_.duration_exponent);
    if (!from || !time) {
      return refuse("malformed", fmt::format("{}: row {}: '{}' is no time", source, row, (!from ? start : length).substr(0, 40)));
    }
    if (from->rounded) return lost(start, source);
    coarse_ &= from->ns % kCoarse == 0;
    ++rows_;
    slice.timeless = (from->ns == 0 && time->ns == 0) || std::abs(from->ns) > kMaxTime || std::abs(time->ns) > kMaxTime;
    if (!slice.timeless) {
      slice.start = from->ns;
      slice.end = from->ns + time->ns;
    }
    slice.name = trace_.names.of(name);
    slice.core = trace_.names.of(core);
    slice.kind = *kind;
    slice.collective = core == kCollectiveCore;
    slice.part = !slice.collective && slice.kind == Class::kComm;
    slice.device = static_cast<uint32_t>(number(kDevice).value_or(0));
    const uint64_t model = number(kModel).value_or(kNoModel);
    slice.replay = model == kNoModel ? 0 : static_cast<uint32_t>(model + 1);
    slice.stream = stream();
    slice.step = step();
    if (slice.kind == Class::kBandwidth && layout_.at[kInShapes] >= 0) {
      const bool grouped =
          text(kType).find("GroupedMatmul") != std::string_view::npos || name.find("GroupedMatmul") != std::string_view::npos;
      slice.bytes = moved_bytes(text(kInShapes), text(kInTypes), text(kOutShapes), text(kOutTypes), grouped).value_or(-1);
    }
    trace_.device.push_back(slice);
    return {};
  }

  // After the last row.
  Read<void> finish(const std::string& source) const {
    if (rows_ < kEnoughRows || !coarse_) return {};
    return refuse("precision lost", fmt::format("{}: all {} start times are multiples of {} us", source, rows_, kCoarse / 1000),
                  layout_.start_header);
  }

 private:
  std::string_view text(Column column) const {
    const int at = layout_.at[column];
    return at < 0 || static_cast<size_t>(at) >= fields_->size() ? std::string_view() : trimmed((*fields_)[static_cast<size_t>(at)]);
  }

  std::optional<uint64_t> number(Column column) const {
    const std::string_view digits = text(column);
    uint64_t value = 0;
    const auto [end, code] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (digits.empty() || code != std::errc{} || end != digits.data() + digits.size() || value > UINT32_MAX) return std::nullopt;
    return value;
  }

  Read<void> lost(std::string_view start, const std::string& source) const {
    return refuse("precision lost",
                  fmt::format("{}: '{}' in column '{}' has lost its digits: a spreadsheet rounds times so; export the file anew", source,
                              start, layout_.start_header),
                  layout_.start_header);
  }

  // Without a stream nothing can be told of what overlaps.
  uint32_t stream() {
    const std::string_view id = text(kStream);
    if (id.empty() || id == "N/A") return kNoStream;
    const auto [at, is_new] = streams_.try_emplace(fmt::format("stream {}", id), static_cast<uint32_t>(trace_.streams.size()));
    if (is_new) trace_.streams.push_back(at->first);
    return at->second;
  }

  uint32_t step() {
    if (layout_.at[kStep] < 0) return kNoStep;
    trace_.steps_told = true;
    const std::string_view id = text(kStep);
    if (id.empty() || id == "N/A") return kNoStep;
    const auto [at, is_new] = steps_.try_emplace(std::string(id), static_cast<uint32_t>(trace_.markers.size()));
    if (is_new) {
      Marker marker;
      marker.id = id;
      trace_.markers.push_back(std::move(marker));
    }
    return at->second;
  }

  const Layout& layout_;
  const Rules& rules_;
  Trace& trace_;
  const std::vector<std::string>* fields_ = nullptr;
  std::map<std::string, uint32_t> steps_, streams_;
  uint64_t rows_ = 0;
  bool coarse_ = true;
};

}  // namespace

bool is_kernel_csv(std::string_view head, std::string& format) {
  if (head.starts_with(kByteOrderMark)) head.remove_prefix(kByteOrderMark.size());
  head = head.substr(0, head.find('\n'));
  std::vector<std::string> fields;
  while (!head.empty()) {
    const size_t comma = std::min(head.find(','), head.size());
    fields.emplace_back(trimmed(head.substr(0, comma)));
    if (fields.back().size() >= 2 && fields.back().front() == '"') fields.back() = fields.back().substr(1, fields.back().size() - 2);
    head.remove_prefix(std::min(comma + 1, head.size()));
  }
  const std::optional<size_t> kind = kind_of(fields);
  if (kind) format = *kind == 0 ? "ascend_pt" : "msprof";
  return kind.has_value();
}

Read<void> read_kernel_csv(ByteStream& stream, const Rules& rules, Trace& trace) {
  CsvReader reader(stream);
  std::vector<std::string> fields;
  TEAPOT_TRY(const bool header, reader.next(fields));
  const std::optional<size_t> kind = header ? kind_of(fields) : std::nullopt;
  if (!kind) return refuse("unknown format", stream.name() + ": no header of a list of kernels");
  trace.format = *kind == 0 ? "ascend_pt" : "msprof";
  TEAPOT_TRY(const Layout layout, layout_of(fields, *kind, stream.name()));
  Rows rows(layout, rules, trace);
  while (true) {
    TEAPOT_TRY(const bool more, reader.next(fields));
    if (!more) break;
    if (fields.size() == 1 && trimmed(fields[0]).empty()) continue;
    TEAPOT_CHECK(rows.add(fields, stream.name(), reader.row()));
  }
  TEAPOT_CHECK(rows.finish(stream.name()));
  trace.replays_by_step = true;
  return {};
}

void take_bytes(const Trace& csv, Trace& trace) {
  std::map<std::string_view, std::vector<const DeviceSlice*>> listed;
  for (const DeviceSlice& slice : csv.device) {
    if (slice.kind == Class::kBandwidth && !slice.timeless) listed[csv.names.text(slice.name)].push_back(&slice);
  }
  std::map<std::string_view, std::vector<DeviceSlice*>> shown;
  for (DeviceSlice& slice : trace.device) {
    if (slice.kind == Class::kBandwidth && !slice.timeless) shown[trace.names.text(slice.name)].push_back(&slice);
  }
  for (auto& [name, rows] : listed) {
    const auto found = shown.find(name);
    if (found == shown.end()) continue;
    const auto by_start = [](const DeviceSlice* slice) { return std::pair(slice->start, slice); };
    std::ranges::sort(rows, {}, by_start);
    std::ranges::sort(found->second, {}, by_start);
    for (size_t i = 0; i < found->second.size(); ++i) {
      DeviceSlice& slice = *found->second[i];
      if (rows.size() == found->second.size()) {
        slice.bytes = rows[i]->bytes;
        continue;
      }
      const auto at = std::ranges::lower_bound(rows, slice.start, {}, [](const DeviceSlice* row) { return row->start; });
      if (at != rows.end() && (*at)->start == slice.start) slice.bytes = (*at)->bytes;
    }
  }
}

}  // namespace teapot::workbench::trace
