#include "workbench/trace/import.h"

#include <algorithm>
#include <filesystem>
#include <tuple>

#include <fmt/format.h>

#include "base/error.h"
#include "workbench/trace/json_reader.h"
#include "workbench/trace/kernel_csv.h"
#include "workbench/trace/nsight.h"
#include "workbench/trace/resolve.h"

namespace teapot::workbench::trace {
namespace {

Read<Trace> read_timelines(const Source& source, const Rules& rules, const ImportOptions& options, std::string& format) {
  RawTrace raw;
  for (const std::string& path : source.timelines) {
    TEAPOT_TRY(ByteStream stream, ByteStream::open(path));
    std::error_code unknown;
    const uint64_t size = std::filesystem::file_size(path, unknown);
    std::function<void(uint64_t)> progress;
    if (options.progress && !unknown) progress = [&](uint64_t read) { options.progress(read, size); };
    const Read<void> done = read_json_trace(stream, raw, progress);
    format = format_of(raw);
    if (!done) return std::unexpected(done.error());
  }
  return resolve(std::move(raw), rules, source.timelines.front());
}

// A format is told by the columns that are there, even where one is missing.
Read<Trace> read_tables(const Source& source, const Rules& rules, std::string& format) {
  Trace trace;
  for (const std::string& path : source.tables) {
    TEAPOT_TRY(ByteStream stream, ByteStream::open(path));
    TEAPOT_TRY(const std::string head, stream.peek(size_t{64} << 10));
    is_kernel_csv(head, format);
    TEAPOT_CHECK(read_kernel_csv(stream, rules, trace));
  }
  return trace;
}

}  // namespace

Read<Trace> read_source(const Source& source, const Rules& rules, const ImportOptions& options, std::string& format) {
  Read<Trace> trace;
  if (!source.database.empty()) {
    TEAPOT_TRY(const Database database, open_database(source.database));
    trace = read_nsight(database.get(), rules, source.database);
    if (trace) format = trace->format;
  } else if (!source.timelines.empty()) {
    trace = read_timelines(source, rules, options, format);
    if (trace && !source.tables.empty()) {
      std::string ignored;
      TEAPOT_TRY(const Trace tables, read_tables(source, rules, ignored));
      take_bytes(tables, *trace);
    }
  } else {
    trace = read_tables(source, rules, format);
  }
  if (trace && options.format != "auto" && options.format != trace->format) {
    return refuse("unknown format", fmt::format("{}: the trace is of format {}, not {}", source.input, trace->format, options.format));
  }
  return trace;
}

std::expected<std::vector<Analysis>, ImportFault> import_traces(const std::vector<std::string>& paths, const Rules& rules,
                                                                const ImportOptions& options) {
  std::vector<Analysis> result;
  std::vector<int64_t> seen;
  for (const std::string& path : paths) {
    Read<std::vector<Source>> sources = find_sources(path);
    if (!sources) return std::unexpected(ImportFault{sources.error(), "unknown", path.substr(path.find_last_of('/') + 1)});
    for (const Source& source : *sources) {
      std::string format = "unknown";
      const auto faulty = [&](const Fault& fault) { return std::unexpected(ImportFault{fault, format, source.input}); };
      if (options.rank && source.rank && *source.rank != *options.rank) {
        seen.push_back(*source.rank);
        continue;
      }
      Read<Trace> trace = read_source(source, rules, options, format);
      if (!trace) return faulty(trace.error());
      const std::vector<uint32_t> numbers = devices(*trace);
      if (numbers.empty()) return faulty(Fault{"no device events", fmt::format("{}: no event of a device", source.input), {}, {}});
      for (const uint32_t number : numbers) {
        const bool last = number == numbers.back();
        const int64_t rank = numbers.size() > 1 ? number : source.rank ? *source.rank : trace->rank.value_or(number);
        seen.push_back(rank);
        if (options.rank && rank != *options.rank) continue;
        Trace part = last ? std::move(*trace) : *trace;
        if (numbers.size() > 1) keep_device(part, number);
        Read<Analysis> analysis = analyse(std::move(part), rules, options.analysis, source.input);
        if (!analysis) return faulty(analysis.error());
        analysis->input = source.input;
        analysis->rank = rank;
        if (numbers.size() > 1) analysis->device = number;
        result.push_back(std::move(*analysis));
      }
    }
  }
  if (result.empty()) {
    std::string found;
    for (const int64_t rank : seen) found += fmt::format("{}{}", found.empty() ? "" : ", ", rank);
    return std::unexpected(
        ImportFault{{"no such rank", fmt::format("rank {} is not there; found: {}", options.rank.value_or(0), found), {}, {}},
                    "unknown",
                    paths.front()});
  }
  std::ranges::sort(result, [](const Analysis& a, const Analysis& b) { return std::tie(a.rank, a.input) < std::tie(b.rank, b.input); });
  return result;
}

}  // namespace teapot::workbench::trace
