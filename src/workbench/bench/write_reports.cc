// A run's folder: written beside its place, and named when it is whole.
#include <unistd.h>

#include <filesystem>

#include "base/file.h"
#include "workbench/bench/report_folder.h"
#include "workbench/bench/reports.h"

namespace teapot::workbench {
namespace {

namespace fs = std::filesystem;

constexpr int kMaxFolders = 10'000;  // of one name

// A folder that is removed with what is in it unless it was kept.
class Unfinished {
 public:
  explicit Unfinished(fs::path path) : path_(std::move(path)) {}
  ~Unfinished() {
    std::error_code ignored;
    if (!path_.empty()) fs::remove_all(path_, ignored);
  }
  Unfinished(const Unfinished&) = delete;
  Unfinished& operator=(const Unfinished&) = delete;

  const fs::path& path() const { return path_; }
  void keep() { path_.clear(); }

 private:
  fs::path path_;
};

Status write_files(const BenchRun& run, const fs::path& folder) {
  TEAPOT_CHECK(write_file(folder / "summary.json", summary_json(run).dump(1, ' ', false, Json::error_handler_t::replace) + "\n"));
  TEAPOT_CHECK(write_file(folder / "requests.jsonl", requests_jsonl(run)));
  TEAPOT_CHECK(write_requests_sqlite(run, folder / "requests.sqlite"));
  return write_file(folder / "report.html", report_html(run));
}

}  // namespace

Result<std::string> write_reports(const BenchRun& run, const std::string& dir) {
  const fs::path parent(dir);
  const std::string name = folder_name(run.name);
  std::error_code error;
  fs::create_directories(parent, error);
  if (error) return fail(ErrorKind::kIo, "{}: cannot be made: {}", dir, error.message());
  Unfinished folder(parent / fmt::format(".{}.{}", name, getpid()));
  fs::remove_all(folder.path(), error);
  fs::create_directory(folder.path(), error);
  if (error) return fail(ErrorKind::kIo, "{}: cannot be made: {}", folder.path().string(), error.message());
  TEAPOT_CHECK(write_files(run, folder.path()));
  for (int number = 1; number <= kMaxFolders; ++number) {
    const fs::path target = parent / (number == 1 ? name : fmt::format("{}-{}", name, number));
    if (fs::exists(fs::symlink_status(target, error))) continue;
    fs::rename(folder.path(), target, error);
    if (error) return fail(ErrorKind::kIo, "{}: cannot be made: {}", target.string(), error.message());
    folder.keep();
    return target.string();
  }
  return fail(ErrorKind::kIo, "{}: {} folders of the name {} are there already", dir, kMaxFolders, name);
}

}  // namespace teapot::workbench
