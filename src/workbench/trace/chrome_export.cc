#include "workbench/trace/chrome_export.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

#include <fmt/format.h>

#include "base/json.h"
#include "workbench/trace/sweep.h"

namespace teapot::workbench::trace {
namespace {

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};

class Writer {
 public:
  explicit Writer(std::FILE* file) : file_(file) { put("{\"displayTimeUnit\": \"ns\", \"traceEvents\": [\n"); }

  void name(int64_t process, size_t thread, const char* kind, std::string_view name) {
    event(fmt::format(R"({{"ph": "M", "name": "{}", "pid": {}, "tid": {}, "args": {{"name": {}}}}})", kind, process, thread, quoted(name)));
  }

  void slice(int64_t process, size_t thread, std::string_view name, std::string_view category, int64_t start, int64_t end) {
    event(fmt::format(R"({{"ph": "X", "name": {}, "cat": "{}", "pid": {}, "tid": {}, "ts": {}, "dur": {}}})", quoted(name), category,
                      process, thread, micro(start), micro(end - start)));
  }

  void end() { put("\n]}\n"); }
  bool failed() const { return failed_; }

 private:
  static std::string quoted(std::string_view text) { return dump_json(Json(text)); }
  static std::string micro(int64_t ns) {
    const uint64_t size = ns < 0 ? -static_cast<uint64_t>(ns) : static_cast<uint64_t>(ns);
    return fmt::format("{}{}.{:03}", ns < 0 ? "-" : "", size / 1000, size % 1000);
  }

  void event(const std::string& text) {
    put(first_ ? "" : ",\n");
    first_ = false;
    put(text);
  }
  void put(std::string_view text) { failed_ |= std::fwrite(text.data(), 1, text.size(), file_) != text.size(); }

  std::FILE* file_;
  bool first_ = true, failed_ = false;
};

void write_rank(const Analysis& analysis, Writer& writer) {
  const int64_t process = analysis.rank;
  Trace trace = analysis.trace;  // the sweep sorts, which the analysis has done already
  writer.name(process, 0, "process_name", fmt::format("rank {}: {}", analysis.rank, analysis.input));
  writer.name(process, 0, "thread_name", "steps");
  writer.name(process, 1, "thread_name", "classes");
  for (size_t i = 0; i < trace.streams.size(); ++i) writer.name(process, 2 + i, "thread_name", trace.streams[i]);
  Sweep sweep(trace);
  for (const StepTimes& step : analysis.steps) {
    writer.slice(process, 0, "step " + step.step.id, "step", step.step.start, step.step.end);
    Piece open;  // neighbours of one class are one slice
    bool any = false;
    const auto put = [&] {
      if (any) writer.slice(process, 1, name_of(open.kind), name_of(open.kind), open.start, open.end);
    };
    sweep.step(step.step, [&](const Piece& piece) {
      if (any && open.kind == piece.kind && open.end == piece.start) {
        open.end = piece.end;
        return;
      }
      put();
      open = piece;
      any = true;
    });
    put();
  }
  const int64_t from = analysis.steps.front().step.start, to = analysis.steps.back().step.end;
  for (const DeviceSlice& slice : trace.device) {
    if (slice.end <= from || slice.start >= to || slice.stream == kNoStream) continue;
    writer.slice(process, 2 + slice.stream, trace.names.text(slice.name), name_of(slice.kind), slice.start, slice.end);
  }
}

}  // namespace

Status write_chrome_trace(const std::vector<Analysis>& ranks, const std::string& path) {
  const std::unique_ptr<std::FILE, CloseFile> file(std::fopen(path.c_str(), "wbe"));
  if (file == nullptr) return fail(ErrorKind::kIo, "{}: {}", path, std::strerror(errno));
  Writer writer(file.get());
  for (const Analysis& analysis : ranks) write_rank(analysis, writer);
  writer.end();
  if (writer.failed() || std::fflush(file.get()) != 0) return fail(ErrorKind::kIo, "{}: {}", path, std::strerror(errno));
  return {};
}

}  // namespace teapot::workbench::trace
