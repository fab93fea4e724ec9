#include "model/hf_rope.h"

#include <cmath>
#include <span>

namespace teapot::model {
namespace {

// The value that all places which have the field agree on.
Result<std::optional<double>> agreed_number(std::span<const ConfigFields> places, std::string_view key) {
  std::optional<double> agreed;
  const ConfigFields* said_by = nullptr;
  for (const ConfigFields& place : places) {
    TEAPOT_TRY(const auto value, place.number(key));
    if (!value) continue;
    if (agreed && *agreed != *value) {
      return fail(ErrorKind::kInvalid, "{}: {} is {}, but {} is {}", place.source(), said_by->name(key), *agreed, place.name(key), *value);
    }
    agreed = value;
    said_by = &place;
  }
  return agreed;
}

// Older files write "type" for "rope_type". "mrope" is the default kind with several position axes, all equal for text.
Status check_kind(const ConfigFields& place) {
  for (const std::string_view key : {"rope_type", "type"}) {
    TEAPOT_TRY(const auto kind, place.string(key));
    if (!kind) continue;
    if (*kind == "default" || *kind == "mrope") return {};
    return fail(ErrorKind::kUnsupported, "{}: {} is \"{}\", only the default rope is supported", place.source(), place.name(key), *kind);
  }
  return {};
}

Result<std::optional<std::array<uint32_t, 3>>> read_sections(std::span<const ConfigFields> places) {
  for (const ConfigFields& place : places) {
    TEAPOT_TRY(const auto sections, place.integers("mrope_section", 0, kMaxHeadDim));
    if (sections.empty()) continue;  // spec 8.16: missing or empty in some files
    if (sections.size() != 3) return place.wrong("mrope_section", *place.find("mrope_section"), "three integers");
    std::array<uint32_t, 3> result{};
    for (size_t i = 0; i < 3; ++i) result[i] = static_cast<uint32_t>(sections[i]);
    return result;
  }
  return std::nullopt;
}

}  // namespace

Status read_hf_rope(const ConfigFields& text, ModelConfig& config) {
  std::vector<ConfigFields> places;
  for (const std::string_view key : {"rope_parameters", "rope_scaling"}) {
    TEAPOT_TRY(const auto place, text.object(key));
    if (!place) continue;
    TEAPOT_CHECK(check_kind(*place));
    places.push_back(*place);
  }
  places.push_back(text);

  const bool hybrid = is_hybrid(config.family);
  TEAPOT_TRY(const auto theta, agreed_number(places, "rope_theta"));
  config.rope_theta = theta.value_or(hybrid ? 1e7 : 1e6);
  if (config.rope_theta < 1 || config.rope_theta > 1e12) {
    return fail(ErrorKind::kInvalid, "{}: rope_theta is {}, expected a number from 1 to 1e12", text.source(), config.rope_theta);
  }
  TEAPOT_TRY(const auto partial, agreed_number(places, "partial_rotary_factor"));
  config.partial_rotary_factor = partial.value_or(hybrid ? 0.25 : 1.0);
  if (config.partial_rotary_factor <= 0 || config.partial_rotary_factor > 1) {
    return fail(ErrorKind::kInvalid, "{}: partial_rotary_factor is {}, expected a number above 0, at most 1", text.source(),
                config.partial_rotary_factor);
  }
  config.rotary_dim = static_cast<uint32_t>(config.head_dim * config.partial_rotary_factor);
  if (config.family == Family::kQwen35 || config.family == Family::kQwen35Moe) {
    TEAPOT_TRY(const auto sections, read_sections(places));
    config.mrope_section = sections.value_or(std::array<uint32_t, 3>{11, 11, 10});
  }
  return {};
}

}  // namespace teapot::model
