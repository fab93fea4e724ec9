#include "plan/quantize.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "base/half.h"

namespace teapot::plan {
namespace {

// Four at a time, whatever the processor: the sums' order, and with it the result, is one and the same everywhere.
using Lanes = float __attribute__((vector_size(16)));
constexpr size_t kLanes = 4;

Lanes load(const float* from) {
  Lanes x;
  std::memcpy(&x, from, sizeof(x));
  return x;
}

float sum(Lanes x) { return (x[0] + x[1]) + (x[2] + x[3]); }

// To the nearest whole number within [low, high]; ties to even.
Lanes level(Lanes x, float low, float high) {
  constexpr float kWhole = 0x1.8p23f;  // added, it leaves no bits for a fraction
  const Lanes lows = Lanes{} + low;
  const Lanes highs = Lanes{} + high;
  x = x > lows ? x : lows;
  x = x < highs ? x : highs;
  return (x + kWhole) - kWhole;
}

int level(float x, int low, int high) {
  return static_cast<int>(std::nearbyint(std::clamp(x, static_cast<float>(low), static_cast<float>(high))));
}

float inverse(float x) { return x == 0 ? 0 : 1 / x; }

// The value of largest magnitude, with its sign.
float extreme(const float* x, size_t n) {
  float found = 0;
  for (size_t i = 0; i < n; ++i) found = std::abs(x[i]) > std::abs(found) ? x[i] : found;
  return found;
}

// The levels that scale and offset give to x: nearest to (x + offset) / scale.
void levels(const float* x, size_t n, float scale, float offset, float low, float high, uint8_t* out) {
  const float per = inverse(scale);
  for (size_t i = 0; i < n; i += kLanes) {
    const Lanes q = level((load(x + i) + offset) * per, low, high);
    for (size_t lane = 0; lane < kLanes; ++lane) out[i + lane] = static_cast<uint8_t>(static_cast<int>(q[lane]));
  }
}

// s that makes s * level nearest to x in squares, levels being whole numbers in [low, -low - 1]. Starts where the extreme value is the
// level `low` or a little beside it; for the levels that this gives, the best scale is a quotient of sums.
float symmetric_scale(const float* x, size_t n, float low) {
  constexpr std::array kStretch = {0.88f, 0.94f, 1.0f, 1.06f, 1.12f, 1.18f};
  const float end = extreme(x, n);
  if (end == 0) return 0;
  float scale = end / low;
  float best = -1;
  for (const float stretch : kStretch) {
    const float per = low * stretch / end;
    Lanes xq_sum{}, qq_sum{};
    for (size_t i = 0; i < n; i += kLanes) {
      const Lanes v = load(x + i);
      const Lanes q = level(v * per, low, -low - 1);
      xq_sum += v * q;
      qq_sum += q * q;
    }
    const float xq = sum(xq_sum);
    const float qq = sum(qq_sum);
    if (xq * xq > best * qq) {
      best = xq * xq / qq;  // how much of the squares of x is met
      scale = xq / qq;
    }
  }
  return scale;
}

struct Affine {
  float scale, min;  // x ~ scale * level - min, min >= 0
};

// The same for levels 0 to 15 and a minimum.
Affine affine_scale(const float* x) {
  constexpr size_t kCount = 32;
  constexpr std::array kStretch = {0.85f, 0.95f, 1.0f, 1.05f, 1.15f, 1.2f};
  Lanes x_sum{}, lows{}, highs{};
  for (size_t i = 0; i < kCount; i += kLanes) {
    const Lanes v = load(x + i);
    x_sum += v;
    lows = v < lows ? v : lows;
    highs = v > highs ? v : highs;
  }
  const float low = std::min({lows[0], lows[1], lows[2], lows[3]});
  const float high = std::max({highs[0], highs[1], highs[2], highs[3]});
  if (low == high) return {0, 0};
  const float total = sum(x_sum);
  Affine found{(high - low) / 15, -low};
  float best = -INFINITY;
  for (const float stretch : kStretch) {
    const float per = 15 * stretch / (high - low);
    Lanes q_sum{}, qq_sum{}, xq_sum{};
    for (size_t i = 0; i < kCount; i += kLanes) {
      const Lanes v = load(x + i);
      const Lanes q = level((v - low) * per, 0, 15);
      q_sum += q;
      qq_sum += q * q;
      xq_sum += v * q;
    }
    const float q = sum(q_sum), qq = sum(qq_sum), xq = sum(xq_sum);
    const float determinant = kCount * qq - q * q;
    if (determinant <= 0) continue;
    Affine fit{(kCount * xq - total * q) / determinant, 0};
    fit.min = (fit.scale * q - total) / kCount;
    if (fit.min < 0) fit = {xq / qq, 0};
    const float met = fit.scale * xq - fit.min * total;
    if (fit.scale > 0 && met > best) {
      best = met;
      found = fit;
    }
  }
  return found;
}

// A scale as the format holds it. Below the normal numbers, where f16 is coarse, it is the next larger one: levels can be smaller instead,
// but not larger, and a scale of 0 would lose the block.
struct Half {
  explicit Half(float x) : bits(f32_to_f16(x)), value(f16_to_f32(bits)) {
    if (std::abs(value) < std::abs(x) && std::abs(x) < 0x1p-14f) value = f16_to_f32(++bits);
  }
  void put(uint8_t* at) const { std::memcpy(at, &bits, sizeof(bits)); }
  bool finite() const { return std::isfinite(value); }

  uint16_t bits;
  float value;
};

// Each takes a block and gives false if its scale is beyond f16. Layouts: dequantize.cc.

bool q8_0_block(const float* x, uint8_t* out) {
  const Half d(std::abs(extreme(x, 32)) / 127);
  d.put(out);
  levels(x, 32, d.value, 0, -127, 127, out + 2);
  return d.finite();
}

bool q4_0_block(const float* x, uint8_t* out) {
  const Half d(symmetric_scale(x, 32, -8));
  d.put(out);
  uint8_t q[32];
  levels(x, 32, d.value, 0, -8, 7, q);
  for (int i = 0; i < 16; ++i) out[2 + i] = static_cast<uint8_t>(((q[i] + 8) & 15) | ((q[i + 16] + 8) & 15) << 4);
  return d.finite();
}

bool q4_k_block(const float* x, uint8_t* out) {
  std::array<Affine, 8> fits;
  float scale = 0, min = 0;
  for (int j = 0; j < 8; ++j) {
    fits[j] = affine_scale(x + 32 * j);
    scale = std::max(scale, fits[j].scale);
    min = std::max(min, fits[j].min);
  }
  const Half d(scale / 63), dmin(min / 63);
  d.put(out);
  dmin.put(out + 2);
  uint8_t* const packed = out + 4;
  std::fill_n(packed, 12, uint8_t{0});
  for (int j = 0; j < 8; ++j) {
    const int s = level(fits[j].scale * inverse(d.value), 0, 63);
    const int m = level(fits[j].min * inverse(dmin.value), 0, 63);
    if (j < 4) {
      packed[j] = static_cast<uint8_t>(packed[j] | s);
      packed[j + 4] = static_cast<uint8_t>(packed[j + 4] | m);
    } else {
      packed[j + 4] = static_cast<uint8_t>((s & 15) | (m & 15) << 4);
      packed[j - 4] = static_cast<uint8_t>(packed[j - 4] | s >> 4 << 6);
      packed[j] = static_cast<uint8_t>(packed[j] | m >> 4 << 6);
    }
    uint8_t q[32];
    levels(x + 32 * j, 32, d.value * static_cast<float>(s), dmin.value * static_cast<float>(m), 0, 15, q);
    uint8_t* const nibbles = out + 16 + j / 2 * 32;
    for (int i = 0; i < 32; ++i) nibbles[i] = static_cast<uint8_t>(j % 2 == 0 ? q[i] : nibbles[i] | q[i] << 4);
  }
  return d.finite() && dmin.finite();
}

bool q6_k_block(const float* x, uint8_t* out) {
  std::array<float, 16> scales;
  for (int j = 0; j < 16; ++j) scales[j] = symmetric_scale(x + 16 * j, 16, -32);
  const Half d(std::abs(extreme(scales.data(), 16)) / 127);
  std::fill_n(out, 192, uint8_t{0});
  for (int j = 0; j < 16; ++j) {
    const int scale = level(scales[j] * inverse(d.value), -127, 127);
    out[192 + j] = static_cast<uint8_t>(scale);
    uint8_t q[16];
    levels(x + 16 * j, 16, d.value * static_cast<float>(scale), 0, -32, 31, q);
    for (int l = 0; l < 16; ++l) {
      const int i = 16 * j + l;
      const int half = i / 128, run = i % 128 / 32, value = (q[l] + 32) & 63;
      uint8_t& low = out[half * 64 + run % 2 * 32 + i % 32];
      uint8_t& high = out[128 + half * 32 + i % 32];
      low = static_cast<uint8_t>(low | (value & 15) << (run / 2 * 4));
      high = static_cast<uint8_t>(high | value >> 4 << (run * 2));
    }
  }
  d.put(out + 208);
  return d.finite();
}

using Block = bool (*)(const float*, uint8_t*);

Block block_of(WeightType type) {
  switch (type) {
    case WeightType::kQ8_0:
      return q8_0_block;
    case WeightType::kQ4_0:
      return q4_0_block;
    case WeightType::kQ4_K:
      return q4_k_block;
    case WeightType::kQ6_K:
      return q6_k_block;
    default:
      return nullptr;
  }
}

bool all_finite(std::span<const float> row) {
  uint32_t largest = 0;
  for (const float x : row) largest = std::max(largest, std::bit_cast<uint32_t>(x) & 0x7fffffffu);
  return largest < 0x7f800000u;
}

}  // namespace

bool can_quantize(WeightType type) { return block_of(type) != nullptr; }

Status quantize_row(WeightType type, std::span<const float> row, std::byte* out) {
  const Block block = block_of(type);
  const WeightTypeInfo& format = info(type);
  if (block == nullptr) return fail(ErrorKind::kInternal, "nothing quantises to {}", format.name);
  if (!all_finite(row)) {
    const auto bad = std::ranges::find_if(row, [](float x) { return !std::isfinite(x); });
    return fail(ErrorKind::kInvalid, "column {} is {}, expected a finite number", bad - row.begin(), *bad);
  }
  for (size_t i = 0; i < row.size(); i += format.elements, out += format.bytes) {
    if (!block(row.data() + i, reinterpret_cast<uint8_t*>(out))) {
      return fail(ErrorKind::kInvalid, "columns {} to {} reach {}, too much for the f16 scales of {}", i, i + format.elements - 1,
                  extreme(row.data() + i, format.elements), format.name);
    }
  }
  return {};
}

}  // namespace teapot::plan
