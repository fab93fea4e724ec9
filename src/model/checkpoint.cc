#include "model/checkpoint.h"

#include <algorithm>
#include <filesystem>
#include <set>

#include "model/json_events.h"
#include "model/safetensors.h"

namespace teapot::model {
namespace {

namespace fs = std::filesystem;

// Tensors and the shard that each lies in, out of model.safetensors.index.json.
class WeightMap final : public JsonVisitor {
 public:
  explicit WeightMap(const std::string& path) : path_(path) {}

  Status begin(const Path& keys, bool array) override {
    if (keys.empty() && array) return fail(ErrorKind::kInvalid, "{}: an array, expected an object", path_);
    if (in_map(keys)) {
      if (keys.size() > 1) return bad_entry(keys[1]);
      if (array) return fail(ErrorKind::kInvalid, "{}: weight_map is an array, expected an object", path_);
      found_ = true;
    }
    return {};
  }

  Status end(const Path&) override { return {}; }

  Status value(const Path& keys, const JsonScalar& scalar) override {
    if (!in_map(keys)) return {};
    if (keys.size() == 1) return fail(ErrorKind::kInvalid, "{}: weight_map is no object", path_);
    const auto* shard = std::get_if<std::string_view>(&scalar);
    if (shard == nullptr) return bad_entry(keys[1]);
    if (!shards_[std::string(*shard)].insert({keys[1], false}).second || !tensors_.insert(keys[1]).second)
      return fail(ErrorKind::kInvalid, "{}: tensor '{}' stands there twice", path_, keys[1]);
    return {};
  }

  bool found_ = false;
  // Shard -> its tensors -> whether the shard was seen to hold it.
  std::map<std::string, std::map<std::string, bool, std::less<>>, std::less<>> shards_;

 private:
  static bool in_map(const Path& keys) { return !keys.empty() && keys[0] == "weight_map"; }
  Status bad_entry(const std::string& tensor) const {
    return fail(ErrorKind::kInvalid, "{}: weight_map: tensor '{}': expected the name of a file", path_, tensor);
  }

  const std::string& path_;
  std::set<std::string, std::less<>> tensors_;
};

// Judged by its text, not by what is on the disk: files that are links to elsewhere are how download caches store models.
bool stays_inside(const std::string& shard) {
  if (shard.empty() || std::any_of(shard.begin(), shard.end(), [](unsigned char c) { return c < 0x20; })) return false;
  const fs::path path(shard);
  return path.is_relative() && std::none_of(path.begin(), path.end(), [](const fs::path& part) { return part == ".."; });
}

Result<Checkpoint> open_one(const std::string& path) {
  Checkpoint checkpoint;
  TEAPOT_TRY(MappedFile file, MappedFile::open(path));
  TEAPOT_TRY(SafetensorsFile content, parse_safetensors(file.bytes(), path));
  checkpoint.gap = std::move(content.gap);
  TEAPOT_CHECK(checkpoint.add(std::move(file), std::move(content.tensors)));
  return checkpoint;
}

Result<Checkpoint> open_shards(const std::string& directory, const std::string& index, WeightMap& map) {
  for (const auto& [shard, tensors] : map.shards_)
    if (!stays_inside(shard))
      return fail(ErrorKind::kInvalid, "{}: shard '{}' (of tensor '{}') is outside the model's folder", index, shard,
                  tensors.begin()->first);
  struct Shard {
    MappedFile file;
    SafetensorsFile content;
  };
  std::vector<Shard> shards;
  for (auto& [shard, tensors] : map.shards_) {
    auto file = MappedFile::open((fs::path(directory) / shard).string());
    if (!file) return at(fmt::format("{}: shard '{}'", index, shard), std::move(file).error());
    TEAPOT_TRY(SafetensorsFile content, parse_safetensors(file->bytes(), file->path()));
    for (const Tensor& tensor : content.tensors)
      if (const auto entry = tensors.find(tensor.name); entry != tensors.end()) entry->second = true;
    for (const auto& [name, seen] : tensors)
      if (!seen) return fail(ErrorKind::kInvalid, "{}: tensor '{}' should be in shard '{}', which does not hold it", index, name, shard);
    shards.push_back({*std::move(file), std::move(content)});
  }
  // The other way round only when all is found: a misplaced tensor is better told by where it should be.
  Checkpoint checkpoint;
  auto placed = map.shards_.begin();
  for (Shard& shard : shards) {
    for (const Tensor& tensor : shard.content.tensors)
      if (!placed->second.contains(tensor.name))
        return fail(ErrorKind::kInvalid, "{}: holds tensor '{}', which {} does not place there", shard.file.path(), tensor.name, index);
    ++placed;
    if (checkpoint.gap.empty()) checkpoint.gap = std::move(shard.content.gap);
    TEAPOT_CHECK(checkpoint.add(std::move(shard.file), std::move(shard.content.tensors)));
  }
  return checkpoint;
}

}  // namespace

Status Checkpoint::add(MappedFile file, std::vector<Tensor> file_tensors) {
  const auto index = static_cast<uint32_t>(files.size());
  files.push_back(std::move(file));
  tensors.reserve(tensors.size() + file_tensors.size());
  for (Tensor& tensor : file_tensors) {
    tensor.file = index;
    const auto [entry, fresh] = by_name.emplace(tensor.name, tensors.size());
    if (!fresh)
      return fail(ErrorKind::kInvalid, "tensor '{}' is in {} and again in {}", tensor.name, path_of(tensors[entry->second]),
                  path_of(tensor));
    tensors.push_back(std::move(tensor));
  }
  return {};
}

Result<Checkpoint> open_safetensors(const std::string& directory) {
  const std::string single = (fs::path(directory) / "model.safetensors").string();
  const std::string index = (fs::path(directory) / "model.safetensors.index.json").string();
  std::error_code ignored;
  if (!fs::exists(index, ignored)) return open_one(single);

  TEAPOT_TRY(const std::string text, read_file(index));
  if (text.empty()) return fail(ErrorKind::kInvalid, "{}: the file has no bytes", index);
  WeightMap map(index);
  // Metadata may nest a little; the map itself is at level 2.
  TEAPOT_CHECK(read_json_events(text, index, 16, map));
  if (!map.found_) return fail(ErrorKind::kInvalid, "{}: no weight_map", index);
  if (map.shards_.empty()) return fail(ErrorKind::kInvalid, "{}: weight_map names no tensor", index);
  if (fs::exists(single, ignored) && !map.shards_.contains("model.safetensors"))
    return fail(ErrorKind::kInvalid,
                "{}: does not name model.safetensors, which lies beside it: which of them holds the model? Remove the other", index);
  return open_shards(directory, index, map);
}

}  // namespace teapot::model
