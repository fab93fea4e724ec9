#include "workbench/trace/nsight.h"

#include <sqlite3.h>
#include <algorithm>
#include <cstring>
#include <map>
#include <set>
#include <unordered_map>

#include <fmt/format.h>

#include "base/error.h"
#include "workbench/trace/call_table.h"
#include "workbench/trace/raw_trace.h"
#include "workbench/trace/resolve.h"

namespace teapot::workbench::trace {
namespace {

constexpr int kPushPop = 59, kStartEnd = 60;  // kinds of NVTX ranges
constexpr uint64_t kThreadBits = 0xFFFFFF;    // of a global thread id; the rest is the process

void harden(sqlite3* database) {
  // A database is data: no functions out of its schema, no writes to it.
  sqlite3_db_config(database, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(database, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  sqlite3_db_config(database, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, nullptr);
  sqlite3_db_config(database, SQLITE_DBCONFIG_ENABLE_VIEW, 0, nullptr);
}

struct Finalize {
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};
using Statement = std::unique_ptr<sqlite3_stmt, Finalize>;

class Reader {
 public:
  Reader(sqlite3* database, const Rules& rules, const std::string& source) : database_(database), rules_(rules), source_(source) {
    trace_.format = "nsight";
    trace_.names.of("");
  }

  Read<Trace> run() {
    TEAPOT_CHECK(each("SELECT name FROM sqlite_master WHERE type='table'", [&](sqlite3_stmt* row) { tables_.insert(text(row, 0)); }));
    if (!tables_.contains("CUPTI_ACTIVITY_KIND_KERNEL") && !tables_.contains("CUPTI_ACTIVITY_KIND_RUNTIME")) {
      return refuse("unknown format", source_ + ": SQLite, but without Nsight Systems' tables of CUDA activity");
    }
    if (tables_.contains("StringIds")) {
      TEAPOT_CHECK(
          each("SELECT id, value FROM StringIds", [&](sqlite3_stmt* row) { strings_[integer(row, 0)] = trace_.names.of(text(row, 1)); }));
    }
    TEAPOT_CHECK(read_calls());
    TEAPOT_CHECK(read_ranges());
    TEAPOT_CHECK(read_kernels());
    TEAPOT_CHECK(read_copies());
    TEAPOT_CHECK(read_fills());
    order_markers(trace_.markers);
    return std::move(trace_);
  }

 private:
  static int64_t integer(sqlite3_stmt* row, int column) { return sqlite3_column_int64(row, column); }
  static bool null(sqlite3_stmt* row, int column) { return sqlite3_column_type(row, column) == SQLITE_NULL; }
  static std::string text(sqlite3_stmt* row, int column) {
    const auto* bytes = reinterpret_cast<const char*>(sqlite3_column_text(row, column));
    return bytes == nullptr ? "" : std::string(bytes, static_cast<size_t>(sqlite3_column_bytes(row, column)));
  }

  std::unexpected<Fault> broken() const { return refuse("malformed", fmt::format("{}: {}", source_, sqlite3_errmsg(database_))); }

  template <class Row>
  Read<void> each(const std::string& query, Row&& use) {
    sqlite3_stmt* prepared = nullptr;
    if (sqlite3_prepare_v2(database_, query.c_str(), static_cast<int>(query.size()), &prepared, nullptr) != SQLITE_OK) return broken();
    const Statement statement(prepared);
    while (true) {
      const int code = sqlite3_step(prepared);
      if (code == SQLITE_DONE) return {};
      if (code != SQLITE_ROW) return broken();
      use(prepared);
    }
  }

  // SELECT of the columns; those that this version of the table lacks, or that may be missing, are NULL. "!" before a name: it must be
  // there.
  template <class Row>
  Read<void> select(const std::string& table, std::initializer_list<std::string_view> columns, Row&& use) {
    if (!tables_.contains(table)) return {};
    std::set<std::string> there;
    TEAPOT_CHECK(
        each(fmt::format("SELECT name FROM pragma_table_info('{}')", table), [&](sqlite3_stmt* row) { there.insert(text(row, 0)); }));
    std::string list;
    for (std::string_view column : columns) {
      const bool needed = column.starts_with('!');
      if (needed) column.remove_prefix(1);
      const std::string name(column);
      if (!there.contains(name) && needed) {
        return refuse("missing column", fmt::format("{}: table {} has no column '{}'", source_, table, name), name);
      }
      list += (list.empty() ? "" : ", ") + (there.contains(name) ? '"' + name + '"' : "NULL");
    }
    return each(fmt::format("SELECT {} FROM {}", list, table), use);
  }

  Name string(sqlite3_stmt* row, int column) {
    const auto at = strings_.find(integer(row, column));
    return at == strings_.end() ? 0 : at->second;
  }

  uint32_t process(int64_t global) {
    const uint64_t id = static_cast<uint64_t>(global) & ~kThreadBits;
    return processes_.try_emplace(id, static_cast<uint32_t>(processes_.size())).first->second;
  }

  void add_host(int64_t start, int64_t end, Name name, int64_t global_thread) {
    if (!countable(start, end)) return;
    const std::string& text = trace_.names.text(name);
    if (const auto id = marker(name)) {
      Marker marker;
      marker.id = *id;
      marker.start = start;
      marker.end = end;
      marker.process = process(global_thread);
      trace_.markers.push_back(std::move(marker));
      return;
    }
    if (end <= start) return;
    const auto [thread, is_new] = threads_.try_emplace(global_thread, static_cast<uint32_t>(trace_.threads.size()));
    if (is_new) trace_.threads.push_back(fmt::format("thread {}", static_cast<uint64_t>(global_thread) & kThreadBits));
    const auto [role, new_role] = roles_.try_emplace(name);
    if (new_role) role->second = rules_.host(text);
    HostSlice slice;
    slice.start = start;
    slice.end = end;
    slice.name = name;
    slice.thread = thread->second;
    slice.process = process(global_thread);
    slice.role = role->second;
    trace_.host.push_back(slice);
  }

  std::optional<std::string> marker(Name name) {
    const auto [at, is_new] = markers_.try_emplace(name);
    if (is_new) at->second = rules_.marker(trace_.names.text(name));
    return at->second;
  }

  // "cudaLaunchKernel_v7000" -> "cudaLaunchKernel"
  Name call_name(Name name) {
    const auto [at, is_new] = call_names_.try_emplace(name, name);
    if (is_new) {
      const std::string text = trace_.names.text(name);
      const size_t version = text.rfind("_v");
      if (version != text.npos && version + 2 < text.size() && text.find_first_not_of("0123456789", version + 2) == text.npos) {
        at->second = trace_.names.of(text.substr(0, version));
      }
    }
    return at->second;
  }

  Read<void> read_calls() {
    TEAPOT_CHECK(select("CUPTI_ACTIVITY_KIND_RUNTIME", {"!start", "!end", "globalTid", "correlationId", "!nameId"}, [&](sqlite3_stmt* row) {
      const Name name = call_name(string(row, 4));
      add_host(integer(row, 0), integer(row, 1), name, integer(row, 2));
      if (null(row, 3)) return;
      const bool replays = rules_.is_graph_launch(trace_.names.text(name));
      const uint32_t of = process(integer(row, 2));
      calls_.add({of, integer(row, 3), integer(row, 0), of, replays});
    }));
    calls_.finish();
    return {};
  }

  Read<void> read_ranges() {
    return select("NVTX_EVENTS", {"!start", "end", "eventType", "text", "textId", "globalTid"}, [&](sqlite3_stmt* row) {
      const int64_t kind = integer(row, 2);
      if ((kind != kPushPop && kind != kStartEnd) || null(row, 1)) return;
      const Name name = null(row, 3) ? string(row, 4) : trace_.names.of(text(row, 3));
      add_host(integer(row, 0), integer(row, 1), name, integer(row, 5));
    });
  }

  // Columns 0 to 6: start, end, deviceId, streamId, correlationId, globalPid, graphNodeId.
  DeviceSlice device_slice(sqlite3_stmt* row) {
    DeviceSlice slice;
    slice.start = integer(row, 0);
    slice.end = integer(row, 1);
    slice.timeless = (slice.start == 0 && slice.end == 0) || !countable(slice.start, slice.end);
    if (slice.timeless) slice.start = slice.end = 0;
    slice.device = static_cast<uint32_t>(integer(row, 2));
    slice.process = process(integer(row, 5));
    const auto [stream, is_new] = streams_.try_emplace({slice.device, integer(row, 3)}, static_cast<uint32_t>(trace_.streams.size()));
    if (is_new) trace_.streams.push_back(fmt::format("GPU {} stream {}", slice.device, integer(row, 3)));
    slice.stream = stream->second;
    if (null(row, 4)) return slice;
    const std::pair key{slice.process, integer(row, 4)};
    const Calls call = calls_.find(key.first, key.second);
    if (call.known) slice.launch = call.start;
    if (!null(row, 6) || call.replays) {
      slice.replay = replays_.try_emplace(key, static_cast<uint32_t>(replays_.size() + 1)).first->second;
    }
    return slice;
  }

  Read<void> read_kernels() {
    return select("CUPTI_ACTIVITY_KIND_KERNEL",
                  {"!start", "!end", "!deviceId", "!streamId", "correlationId", "globalPid", "graphNodeId", "!demangledName"},
                  [&](sqlite3_stmt* row) {
                    DeviceSlice slice = device_slice(row);
                    slice.name = string(row, 7);
                    const auto [kind, is_new] = kinds_.try_emplace(slice.name);
                    if (is_new) kind->second = rules_.device(Tracks::kCuda, trace_.names.text(slice.name), "");
                    if (!kind->second) return;
                    slice.kind = *kind->second;
                    trace_.device.push_back(slice);
                  });
  }

  Read<void> read_copies() {
    std::map<int64_t, std::string> kinds;
    if (tables_.contains("ENUM_CUDA_MEMCPY_OPER")) {
      TEAPOT_CHECK(select("ENUM_CUDA_MEMCPY_OPER", {"!id", "label"}, [&](sqlite3_stmt* row) { kinds[integer(row, 0)] = text(row, 1); }));
    }
    return select("CUPTI_ACTIVITY_KIND_MEMCPY",
                  {"!start", "!end", "!deviceId", "!streamId", "correlationId", "globalPid", "graphNodeId", "copyKind", "bytes"},
                  [&](sqlite3_stmt* row) {
                    DeviceSlice slice = device_slice(row);
                    const auto kind = kinds.find(integer(row, 7));
                    slice.name = trace_.names.of(kind == kinds.end() ? "Memcpy" : "Memcpy " + kind->second);
                    slice.kind = Class::kSyncCopy;
                    slice.bytes = null(row, 8) ? -1 : integer(row, 8);
                    trace_.device.push_back(slice);
                  });
  }

  Read<void> read_fills() {
    return select("CUPTI_ACTIVITY_KIND_MEMSET",
                  {"!start", "!end", "!deviceId", "!streamId", "correlationId", "globalPid", "graphNodeId", "bytes"},
                  [&](sqlite3_stmt* row) {
                    DeviceSlice slice = device_slice(row);
                    slice.name = trace_.names.of("Memset");
                    slice.kind = Class::kSyncCopy;
                    slice.bytes = null(row, 7) ? -1 : integer(row, 7);
                    trace_.device.push_back(slice);
                  });
  }

  sqlite3* database_;
  const Rules& rules_;
  const std::string& source_;
  Trace trace_;
  std::set<std::string> tables_;
  std::unordered_map<int64_t, Name> strings_;
  std::unordered_map<uint64_t, uint32_t> processes_;
  std::unordered_map<int64_t, uint32_t> threads_;
  std::unordered_map<Name, Role> roles_;
  std::unordered_map<Name, std::optional<std::string>> markers_;
  std::unordered_map<Name, Name> call_names_;
  std::unordered_map<Name, DeviceClass> kinds_;
  CallTable calls_;
  std::map<std::pair<uint32_t, int64_t>, uint32_t> replays_;  // (process, correlation)
  std::map<std::pair<uint32_t, int64_t>, uint32_t> streams_;  // (device, stream)
};

}  // namespace

void CloseDatabase::operator()(sqlite3* database) const { sqlite3_close(database); }

Read<Database> open_database(const std::string& path) {
  std::string uri = "file:";
  for (const char c : path) {  // what a URI would take for its own
    if (c == '?' || c == '#' || c == '%') {
      uri += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    } else {
      uri += c;
    }
  }
  sqlite3* raw = nullptr;
  const int code =
      sqlite3_open_v2((uri + "?mode=ro&immutable=1").c_str(), &raw, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX, nullptr);
  Database database(raw);
  if (code != SQLITE_OK) return refuse("cannot read", fmt::format("{}: {}", path, raw == nullptr ? "out of memory" : sqlite3_errmsg(raw)));
  harden(raw);
  return database;
}

Read<Database> open_database(std::span<const unsigned char> bytes) {
  sqlite3* raw = nullptr;
  if (sqlite3_open_v2(":memory:", &raw, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, nullptr) != SQLITE_OK) {
    sqlite3_close(raw);
    return refuse("cannot read", "no database in memory");
  }
  Database database(raw);
  auto* copy = static_cast<unsigned char*>(sqlite3_malloc64(std::max<size_t>(bytes.size(), 1)));
  if (copy == nullptr) return refuse("cannot read", "out of memory");
  std::ranges::copy(bytes, copy);
  const auto size = static_cast<sqlite3_int64>(bytes.size());
  if (sqlite3_deserialize(raw, "main", copy, size, size, SQLITE_DESERIALIZE_FREEONCLOSE | SQLITE_DESERIALIZE_READONLY) != SQLITE_OK) {
    return refuse("malformed", sqlite3_errmsg(raw));
  }
  harden(raw);
  return database;
}

Read<Trace> read_nsight(sqlite3* database, const Rules& rules, const std::string& source) { return Reader(database, rules, source).run(); }

}  // namespace teapot::workbench::trace
