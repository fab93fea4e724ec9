#include "workbench/trace/sources.h"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "base/error.h"
#include "base/json.h"
#include "workbench/trace/byte_stream.h"
#include "workbench/trace/decimal.h"
#include "workbench/trace/kernel_csv.h"

namespace teapot::workbench::trace {
namespace {

namespace fs = std::filesystem;

constexpr int kMaxDepth = 4;  // worker / ASCEND_PROFILER_OUTPUT, PROF / mindstudio_profiler_output, with room for folders of runs
constexpr size_t kHead = size_t{64} << 10;
constexpr std::string_view kSqlite{"SQLite format 3\0", 16};
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

enum class Content { kNone, kJson, kKernels, kDatabase };

Read<Content> content_of(const std::string& path) {
  TEAPOT_TRY(ByteStream stream, ByteStream::open(path));
  TEAPOT_TRY(const std::string head, stream.peek(kHead));
  if (head.starts_with(kSqlite)) return Content::kDatabase;
  std::string_view text = head;
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  text = trimmed(text);
  if (text.starts_with('{') || text.starts_with('[')) return Content::kJson;
  std::string format;
  return is_kernel_csv(head, format) ? Content::kKernels : Content::kNone;
}

bool packed_or_plain(std::string_view name, std::string_view ending) {
  return name.ends_with(ending) || (name.ends_with(".gz") && name.substr(0, name.size() - 3).ends_with(ending));
}

struct Folder {
  std::vector<fs::path> files, folders;  // by name
};

Read<Folder> list(const fs::path& path) {
  Folder result;
  std::error_code error;
  for (fs::directory_iterator at(path, error), end; !error && at != end; at.increment(error)) {
    if (at->is_directory(error)) {
      result.folders.push_back(at->path());
    } else if (at->is_regular_file(error)) {
      result.files.push_back(at->path());
    }
    error.clear();
  }
  if (error) return refuse("cannot read", fmt::format("{}: {}", path.string(), error.message()));
  std::ranges::sort(result.files);
  std::ranges::sort(result.folders);
  return result;
}

// profiler_info_3.json says {"rank_id": 3}; with one rank the file has no number and the field is absent.
std::optional<int64_t> noted_rank(const Folder& folder) {
  for (const fs::path& file : folder.files) {
    const std::string name = file.filename().string();
    if (!name.starts_with("profiler_info") || !name.ends_with(".json")) continue;
    const auto json = read_json_file(file.string());
    if (!json || !json->is_object()) continue;
    const auto rank = json->find("rank_id");
    if (rank != json->end() && rank->is_number_integer()) return rank->get<int64_t>();
  }
  return std::nullopt;
}

void add_by_name(const Folder& folder, const Source& kind, std::vector<Source>& sources) {
  Source ascend = kind;
  const auto single = [&](const fs::path& file) {
    Source source = kind;
    source.input = file.filename().string();
    return source;
  };
  for (const fs::path& file : folder.files) {
    const std::string name = file.filename().string();
    if (packed_or_plain(name, "trace_view.json") || (name.starts_with("msprof") && packed_or_plain(name, ".json"))) {
      ascend.timelines.push_back(file.string());
    } else if (name.starts_with("kernel_details") || name.starts_with("op_summary")) {
      if (packed_or_plain(name, ".csv")) ascend.tables.push_back(file.string());
    } else if (packed_or_plain(name, ".pt.trace.json")) {
      sources.push_back(single(file));
      sources.back().timelines.push_back(file.string());
    } else if (name.ends_with(".sqlite")) {
      sources.push_back(single(file));
      sources.back().database = file.string();
    }
  }
  if (!ascend.empty()) sources.push_back(ascend);
}

Read<void> add_by_content(const Folder& folder, const Source& kind, std::vector<Source>& sources) {
  for (const fs::path& file : folder.files) {
    const Read<Content> content = content_of(file.string());
    if (!content || *content == Content::kNone) continue;
    Source source = kind;
    source.input = file.filename().string();
    if (*content == Content::kDatabase) {
      source.database = file.string();
    } else if (*content == Content::kKernels) {
      source.tables.push_back(file.string());
    } else {
      TEAPOT_TRY(ByteStream stream, ByteStream::open(file.string()));
      TEAPOT_TRY(const std::string head, stream.peek(kHead));
      if (head.find("\"traceEvents\"") == head.npos && head.find("\"ph\"") == head.npos) continue;  // JSON, but of another kind
      source.timelines.push_back(file.string());
    }
    sources.push_back(source);
  }
  return {};
}

using AddFiles = Read<void> (*)(const Folder&, const Source&, std::vector<Source>&);

Read<void> add_folder(const fs::path& path, Source kind, int depth, AddFiles add, std::vector<Source>& sources) {
  TEAPOT_TRY(const Folder folder, list(path));
  if (const auto rank = noted_rank(folder)) kind.rank = rank;
  TEAPOT_CHECK(add(folder, kind, sources));
  if (depth == kMaxDepth) return {};
  const auto output = std::ranges::find_if(folder.folders, [](const fs::path& sub) { return sub.filename() == "ASCEND_PROFILER_OUTPUT"; });
  for (const fs::path& sub : folder.folders) {
    // Beside it lie the raw data that it was made of.
    if (output != folder.folders.end() && sub != *output) continue;
    Source below = kind;
    const std::string name = sub.filename().string();
    if (name != "ASCEND_PROFILER_OUTPUT" && name != "mindstudio_profiler_output") below.input = name;
    TEAPOT_CHECK(add_folder(sub, below, depth + 1, add, sources));
  }
  return {};
}

}  // namespace

Read<std::vector<Source>> find_sources(const std::string& path) {
  fs::path given(path);
  if (given.filename().empty()) given = given.parent_path();
  Source kind;
  kind.input = given.filename().string();
  std::vector<Source> sources;
  std::error_code error;
  const fs::file_status status = fs::status(given, error);
  if (!fs::exists(status)) return refuse("cannot read", fmt::format("{}: no such file or folder", path));
  if (fs::is_directory(status)) {
    TEAPOT_CHECK(add_folder(
        given, kind, 0,
        [](const Folder& folder, const Source& like, std::vector<Source>& out) -> Read<void> {
          add_by_name(folder, like, out);
          return {};
        },
        sources));
    if (sources.empty()) TEAPOT_CHECK(add_folder(given, kind, 0, add_by_content, sources));
    if (sources.empty()) return refuse("unknown format", fmt::format("{}: no file of this folder is a trace", path));
    return sources;
  }
  TEAPOT_TRY(const Content content, content_of(path));
  if (content == Content::kNone) {
    return refuse("unknown format",
                  fmt::format("{}: neither JSON nor a list of kernels nor SQLite (of Nsight Systems: nsys export --type sqlite)", path));
  }
  if (content == Content::kDatabase) {
    kind.database = path;
  } else {
    (content == Content::kJson ? kind.timelines : kind.tables).push_back(path);
  }
  sources.push_back(kind);
  return sources;
}

}  // namespace teapot::workbench::trace
