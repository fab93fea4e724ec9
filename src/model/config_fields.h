// Typed look-ups in a JSON configuration: what is absent or null is absent, everything else must be of the right type and range.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/json.h"

namespace teapot::model {

// Reads members of one JSON object. Errors name source and field, what was found and what was expected.
class ConfigFields {
 public:
  // object must outlive this. path stands in front of a field's name in errors ("text_config.").
  ConfigFields(const Json& object, std::string source, std::string path = {})
      : object_(&object), source_(std::move(source)), path_(std::move(path)) {}

  const Json* find(std::string_view key) const;  // nullptr if absent or null
  Result<uint32_t> required(std::string_view key, uint64_t low, uint64_t high) const;
  Result<std::optional<uint32_t>> integer(std::string_view key, uint64_t low, uint64_t high) const;
  Result<std::optional<double>> number(std::string_view key) const;  // finite
  Result<std::optional<bool>> boolean(std::string_view key) const;
  Result<std::optional<std::string>> string(std::string_view key) const;
  // One integer or a list of them: token ids are written both ways.
  Result<std::vector<int32_t>> integers(std::string_view key, uint64_t low, uint64_t high) const;
  Result<std::optional<ConfigFields>> object(std::string_view key) const;

  std::string name(std::string_view key) const { return path_ + std::string(key); }
  const std::string& source() const { return source_; }
  std::unexpected<Error> wrong(std::string_view key, const Json& found, std::string_view expected) const;

 private:
  const Json* object_;
  std::string source_;
  std::string path_;
};

}  // namespace teapot::model
