// How many parameters and bytes a configuration comes to, by part (spec 2, 7): what inspect prints and speed is measured against.
#pragma once

#include <cstdint>

#include "model/model_config.h"

namespace teapot::model {

// Parameters of the text model; MTP apart.
struct ParameterCounts {
  uint64_t total = 0;
  uint64_t active = 0;          // without the experts that a token does not choose; the embedding whole
  uint64_t read_per_token = 0;  // the head whole, one row of the embedding if it is not the head
  uint64_t mtp = 0;             // mtp_layers of them, as the configuration says
};

ParameterCounts count_parameters(const ModelConfig& config);

// Of all attention layers, for one position; bytes_each of an element (2: f16, bf16).
uint64_t kv_bytes_per_token(const ModelConfig& config, uint64_t bytes_each);

// Recurrent states and convolution windows of all GDN layers, f32.
uint64_t state_bytes_per_sequence(const ModelConfig& config);

// What speculation adds to a state: keys and values of the MTP layer, for one position; final hidden states; of the tokens of the last
// verify step and of those accepted before it, what the GDN layers' recurrent states (k, delta, alpha) and convolution windows (the raw
// inputs) would become, f32.
uint64_t mtp_kv_bytes_per_token(const ModelConfig& config, uint64_t bytes_each);
uint64_t hidden_bytes_per_sequence(const ModelConfig& config);
uint64_t verify_log_bytes_per_row(const ModelConfig& config);  // written by a step that verifies it, and read again once it is accepted
uint64_t verify_log_bytes_per_sequence(const ModelConfig& config, uint32_t depth);

}  // namespace teapot::model
