#include "model/hf_directory.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <vector>

#include "base/file.h"

namespace teapot::model {
namespace {

namespace fs = std::filesystem;

bool is_there(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(path, ignored);
}

// Names of the files in a directory that end so, sorted.
std::vector<std::string> files_ending(const fs::path& directory, std::string_view ending) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator entry(directory, error), end; !error && entry != end; entry.increment(error))
    if (std::string name = entry->path().filename().string(); name.ends_with(ending)) names.push_back(std::move(name));
  std::sort(names.begin(), names.end());
  return names;
}

// A directory with a config.json.
Result<Source> directory_source(const fs::path& directory) {
  const std::string config = (directory / "config.json").string();
  if (is_there(directory / "model.safetensors") || is_there(directory / "model.safetensors.index.json"))
    return Source{SourceKind::kHuggingFace, directory.string(), config};
  // Weights that would be passed over in silence, if this were taken for a bare configuration.
  if (const auto shards = files_ending(directory, ".safetensors"); !shards.empty())
    return fail(ErrorKind::kNotFound, "{}: holds {}, but neither model.safetensors nor model.safetensors.index.json", directory.string(),
                shards.front());
  for (const std::string& name : files_ending(directory, ".bin"))
    if (name.starts_with("pytorch_model"))
      return fail(ErrorKind::kUnsupported, "{}: holds {}, but no safetensors: weights in other formats are not read", directory.string(),
                  name);
  if (const auto weights = files_ending(directory, ".gguf"); !weights.empty())
    return fail(ErrorKind::kNotFound, "{}: holds {}, but no safetensors: to use it, name that file", directory.string(), weights.front());
  return Source{SourceKind::kConfigOnly, directory.string(), config};
}

// The first field of these that is a string; numbers are skipped (fmt, format and version mean different things in different blocks).
std::optional<std::string> first_string(const Json& block, std::initializer_list<const char*> fields) {
  for (const char* field : fields)
    if (const auto entry = block.find(field); entry != block.end() && entry->is_string() && !entry->get_ref<const std::string&>().empty())
      return entry->get<std::string>();
  return std::nullopt;
}

bool is_true(const Json& block, const char* field) {
  const auto entry = block.find(field);
  return entry != block.end() && entry->is_boolean() && entry->get<bool>();
}

std::string method_of(const Json& block) {
  if (const auto named = first_string(block, {"quant_method"})) return *named;
  // Blocks that do not name their method are known by their fields.
  if (block.contains("quant_algo") || block.contains("kv_cache_quant_algo")) return "modelopt";
  if (block.contains("bits") && block.contains("group_size")) return "mlx";
  if (block.contains("config_groups")) return "compressed-tensors";
  if (is_true(block, "load_in_4bit") || is_true(block, "load_in_8bit")) return "bitsandbytes";
  if (block.contains("w_bit") || block.contains("q_group_size")) return "awq";
  return "unknown";
}

std::string algorithm_of(const Json& block) {
  if (is_true(block, "load_in_8bit")) return "8-bit";
  if (const auto named = first_string(block, {"quant_algo", "bnb_4bit_quant_type", "fmt", "format", "mode", "weight_format", "quant_type"}))
    return *named;
  if (is_true(block, "load_in_4bit")) return "4-bit";
  for (const char* field : {"bits", "w_bit", "nbits"})
    if (const auto entry = block.find(field); entry != block.end() && entry->is_number_integer()) return entry->dump() + "-bit";
  if (const auto cache = first_string(block, {"kv_cache_quant_algo"})) return *cache + " (KV cache)";
  return "unknown";
}

// The block under a key of an object; nothing, if it is absent, null or empty.
Result<const Json*> block_under(const Json& object, const char* key, const std::string& where) {
  const auto entry = object.find(key);
  if (entry == object.end() || entry->is_null()) return nullptr;
  if (!entry->is_object()) return fail(ErrorKind::kInvalid, "{} is {}, expected an object", where, entry->type_name());
  return entry->empty() ? nullptr : &*entry;
}

Result<std::optional<Quantization>> find_in(const Json& object, const std::string& where) {
  for (const char* key : {"quantization_config", "quantization", "compression_config"}) {
    const std::string place = fmt::format("{}: {}", where, key);
    TEAPOT_TRY(const Json* block, block_under(object, key, place));
    if (block != nullptr) return Quantization{method_of(*block), algorithm_of(*block), place};
  }
  return std::nullopt;
}

}  // namespace

Result<Source> find_source(const std::string& path) {
  const fs::path place(path);
  std::error_code error;
  const fs::file_status status = fs::status(place, error);
  if (status.type() == fs::file_type::not_found) return fail(ErrorKind::kNotFound, "{}: no such file or directory", path);
  if (status.type() == fs::file_type::none) return fail(ErrorKind::kIo, "{}: {}", path, error.message());
  if (fs::is_directory(status)) {
    if (is_there(place / "config.json")) return directory_source(place);
    if (const auto weights = files_ending(place, ".gguf"); !weights.empty())
      return fail(ErrorKind::kNotFound, "{}: no config.json here; to use the GGUF file {}, name it", path,
                  (place / weights.front()).string());
    return fail(ErrorKind::kNotFound, "{}: neither a config.json nor a GGUF file in this directory", path);
  }
  const std::string name = place.filename().string();
  if (name.ends_with(".gguf")) return Source{SourceKind::kGguf, path, {}};
  if (name.ends_with(".json")) return Source{SourceKind::kConfigOnly, place.has_parent_path() ? place.parent_path().string() : ".", path};
  TEAPOT_TRY(const MappedFile file, MappedFile::open(path));
  constexpr std::array kMagic = {std::byte{'G'}, std::byte{'G'}, std::byte{'U'}, std::byte{'F'}};
  if (file.bytes().size() >= kMagic.size() && std::equal(kMagic.begin(), kMagic.end(), file.bytes().begin()))
    return Source{SourceKind::kGguf, path, {}};
  if (name.ends_with(".safetensors"))
    return fail(ErrorKind::kInvalid, "{}: a file of weights; name the directory that holds it and its config.json", path);
  return fail(ErrorKind::kInvalid, "{}: neither a directory, nor a GGUF file, nor a config.json", path);
}

Result<std::optional<Quantization>> find_quantization(const Json& config, const std::string& directory) {
  if (config.is_object()) {
    TEAPOT_TRY(auto found, find_in(config, "config.json"));
    if (found) return found;
    if (const auto text = config.find("text_config"); text != config.end() && text->is_object()) {
      TEAPOT_TRY(found, find_in(*text, "config.json: text_config"));
      if (found) return found;
    }
  }
  const std::string path = (fs::path(directory) / "hf_quant_config.json").string();
  if (!is_there(path)) return std::nullopt;
  TEAPOT_TRY(const Json file, read_json_file(path));
  if (!file.is_object()) return fail(ErrorKind::kInvalid, "{}: {}, expected an object", path, file.type_name());
  TEAPOT_TRY(const Json* block, block_under(file, "quantization", path + ": quantization"));
  Quantization found{"modelopt", "unknown", path};
  if (block != nullptr) found.algorithm = algorithm_of(*block);
  if (const auto producer = file.find("producer"); producer != file.end() && producer->is_object())
    if (const auto name = first_string(*producer, {"name"})) found.method = *name;
  return found;
}

}  // namespace teapot::model
