// What a step has to move and to multiply, op by op: the numerators of its floors (design section 1).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace teapot::plan {

// The part of the model that an op's work belongs to.
enum class TrafficPart : uint8_t {
  kEmbedding,
  kGdnProjections,
  kGdn,  // convolution and recurrence
  kAttentionProjections,
  kAttention,
  kRouter,
  kExperts,
  kSharedExpert,
  kMlp,
  kHead,
  kMtp  // what joins a token with a hidden state
};
constexpr std::array<std::string_view, 11> kTrafficPartNames = {
    "embedding", "gdn projections", "gdn", "attention projections", "attention", "router", "experts", "shared expert", "mlp", "head",
    "mtp"};
constexpr std::string_view name(TrafficPart part) { return kTrafficPartNames[static_cast<size_t>(part)]; }

// Bytes that no implementation can avoid: each weight that the step needs once, whatever the rows. An op may have several entries.
struct OpTraffic {
  uint32_t op = 0;  // index in the plan
  TrafficPart part = TrafficPart::kEmbedding;
  uint64_t weight_bytes = 0;  // as they are stored; of the experts only those that a row chose
  uint64_t state_bytes = 0;   // recurrent state, convolution windows and logs of verified rows, read and written
  uint64_t kv_bytes = 0;      // keys and values of earlier steps, read once a KV head; those of this step, written
  uint64_t int8_macs = 0;     // weight x int8 activation
  uint64_t f32_macs = 0;

  uint64_t bytes() const { return weight_bytes + state_bytes + kv_bytes; }

  OpTraffic& operator+=(const OpTraffic& other) {
    weight_bytes += other.weight_bytes;
    state_bytes += other.state_bytes;
    kv_bytes += other.kv_bytes;
    int8_macs += other.int8_macs;
    f32_macs += other.f32_macs;
    return *this;
  }
};

}  // namespace teapot::plan
