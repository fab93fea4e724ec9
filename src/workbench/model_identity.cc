#include "workbench/model_identity.h"

#include <algorithm>
#include <filesystem>
#include <vector>

#include "base/file.h"
#include "workbench/eval/text_hash.h"

namespace teapot::workbench {
namespace {

namespace fs = std::filesystem;

constexpr size_t kHashedBytes = size_t{1} << 20;  // at either end

// "m-00001-of-00002.gguf" and "m-00002-of-00002.gguf": parts of one model.
bool same_split(const std::string& a, const std::string& b) {
  constexpr size_t kTail = std::string_view("-00001-of-00002.gguf").size(), kNumber = std::string_view("-00001").size();
  return a.size() == b.size() && a.size() > kTail && a.substr(a.size() - kTail + kNumber, 4) == "-of-" &&
         a.substr(0, a.size() - kTail) == b.substr(0, b.size() - kTail) &&
         a.substr(a.size() - kTail + kNumber) == b.substr(b.size() - kTail + kNumber);
}

std::vector<std::string> files_of(const fs::path& path) {
  std::error_code error;
  const bool folder = fs::is_directory(path, error);
  std::vector<std::string> files;
  for (const auto& entry : fs::directory_iterator(folder ? path : fs::absolute(path, error).parent_path(), error)) {
    const std::string type = entry.path().extension().string();
    const bool part =
        folder ? type == ".safetensors" || type == ".json" : same_split(entry.path().filename().string(), path.filename().string());
    if (part) files.push_back(entry.path().string());
  }
  if (!folder && files.empty()) files.push_back(path.string());
  std::ranges::sort(files);
  return files;
}

}  // namespace

Result<Json> model_identity(const std::string& path) {
  TextHash hash;
  uint64_t bytes = 0;
  const std::vector<std::string> files = files_of(path);
  for (const std::string& name : files) {
    TEAPOT_TRY(const MappedFile file, MappedFile::open(name));
    const std::string_view text(reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size());
    hash.add(uint64_t{text.size()});
    hash.add(text.substr(0, kHashedBytes));
    hash.add(text.substr(text.size() - std::min(text.size(), kHashedBytes)));
    bytes += text.size();
  }
  return Json{{"files", files.size()}, {"bytes", bytes}, {"hash", fmt::format("{:016x}", hash.value())}};
}

}  // namespace teapot::workbench
