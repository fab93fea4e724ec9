#include "model/model_config.h"

#include <algorithm>
#include <cassert>
#include <limits>

namespace teapot::model {

std::string_view family_name(Family family) {
  switch (family) {
    case Family::kQwen3:
      return "qwen3";
    case Family::kQwen3Moe:
      return "qwen3_moe";
    case Family::kQwen3Next:
      return "qwen3_next";
    case Family::kQwen35:
      return "qwen3_5";
    case Family::kQwen35Moe:
      return "qwen3_5_moe";
  }
  assert(false);
  return {};
}

uint32_t ModelConfig::layer_count(Mixer mixer) const { return static_cast<uint32_t>(std::ranges::count(layers, mixer, &LayerKind::mixer)); }

uint32_t ModelConfig::layer_count(Ffn ffn) const { return static_cast<uint32_t>(std::ranges::count(layers, ffn, &LayerKind::ffn)); }

namespace {

Status divides(uint32_t divisor, const std::string& divisor_name, uint32_t number, const std::string& number_name,
               const std::string& source) {
  if (number % divisor == 0) return {};
  return fail(ErrorKind::kInvalid, "{}: {} is {}, expected a multiple of {}, which is {}", source, number_name, number, divisor_name,
              divisor);
}

// A matrix of so many rows must be countable in 32 bits.
Status fits_rows(uint32_t a, const std::string& a_name, uint64_t b, const std::string& b_name, const std::string& source) {
  if (a * b <= std::numeric_limits<int32_t>::max()) return {};
  return fail(ErrorKind::kInvalid, "{}: {} ({}) times {} ({}) is more rows than a matrix may have", source, a_name, a, b_name, b);
}

}  // namespace

Status check_relations(const ModelConfig& config, const ConfigFieldNames& names, const std::string& source) {
  TEAPOT_CHECK(divides(config.kv_heads, names.kv_heads, config.heads, names.heads, source));
  TEAPOT_CHECK(fits_rows(config.heads, names.heads, 2 * config.head_dim, names.head_dim, source));
  if (config.rotary_dim == 0 || config.rotary_dim % 2 != 0 || config.rotary_dim > config.head_dim) {
    return fail(ErrorKind::kInvalid, "{}: {} of {} ({}) rotates {} elements of a head, expected an even number from 2 to {}", source,
                names.rotary, names.head_dim, config.head_dim, config.rotary_dim, config.head_dim);
  }
  if (config.value_heads > 0) {
    TEAPOT_CHECK(divides(config.key_heads, names.key_heads, config.value_heads, names.value_heads, source));
    TEAPOT_CHECK(fits_rows(config.value_heads, names.value_heads, 4 * config.dv, names.dv, source));
    TEAPOT_CHECK(fits_rows(config.key_heads, names.key_heads, 4 * config.dk, names.dk, source));
  }
  if (config.experts > 0) {
    if (config.top_k > config.experts) {
      return fail(ErrorKind::kInvalid, "{}: {} is {}, more than {}, which is {}", source, names.top_k, config.top_k, names.experts,
                  config.experts);
    }
    TEAPOT_CHECK(fits_rows(config.experts, names.experts, 2 * config.expert_width, names.expert_width, source));
    TEAPOT_CHECK(fits_rows(config.experts, names.experts, config.hidden, names.hidden, source));
  }
  return {};
}

}  // namespace teapot::model
