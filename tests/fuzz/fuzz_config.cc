// config.json: any bytes give a model configuration or an error, and what follows from a configuration can be computed.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/json.h"
#include "model/config_facts.h"
#include "model/hf_config.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto json = teapot::parse_json({reinterpret_cast<const char*>(data), size}, "config.json");
  if (!json) return 0;
  const auto config = teapot::model::read_hf_config(*json, "config.json");
  if (config) teapot::model::config_facts(*config);
  return 0;
}
