// Any bytes as quantised rows and activations: every instruction set's tiled kernels give the bits of the scalar ones.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "cpu/isa.h"
#include "cpu/pack_tiles.h"

namespace {

using teapot::plan::WeightType;

constexpr size_t kMaxRows = 40, kMaxTokens = 20;

// The input's bytes again and again, so that a short one fills everything.
class Bytes {
 public:
  Bytes(const uint8_t* data, size_t size) : data_(data), size_(size) {}
  uint8_t next() { return data_[at_++ % size_]; }
  size_t below(size_t limit) { return (next() | size_t{next()} << 8) % limit; }

 private:
  const uint8_t* data_;
  size_t size_, at_ = 0;
};

bool same(float a, float b) { return std::memcmp(&a, &b, sizeof(a)) == 0 || (std::isnan(a) && std::isnan(b)); }

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace teapot;
  using namespace teapot::cpu;
  if (size == 0) return 0;
  Bytes bytes(data, size);
  const auto type = static_cast<WeightType>(bytes.below(plan::kWeightTypes));
  if (!has_tiles(type)) return 0;
  const size_t elements = plan::info(type).elements;
  const size_t cols = elements == 1 ? 1 + bytes.below(200) : elements * (1 + bytes.below(3));
  const size_t rows = 1 + bytes.below(kMaxRows), first = bytes.below(rows), last = first + 1 + bytes.below(rows - first);
  const size_t tokens = 1 + bytes.below(kMaxTokens), stride = (cols + 63) / 64 * 64;

  const size_t row_bytes = plan::row_bytes(type, cols);
  std::vector<std::byte> source(rows * row_bytes);
  for (std::byte& b : source) b = static_cast<std::byte>(bytes.next());
  const size_t tile = tile_bytes(type, cols);
  std::vector<std::byte> tiles((rows + 15) / 16 * tile);
  for (size_t t = 0; t < tiles.size() / tile; ++t) {
    std::array<const std::byte*, 16> tile_rows{};
    for (size_t r = 0; r < 16 && t * 16 + r < rows; ++r) tile_rows[r] = &source[(t * 16 + r) * row_bytes];
    pack_tile(type, tile_rows, cols, &tiles[t * tile]);
  }
  std::vector<float> x(tokens * stride), scales(tokens * stride / kQuantBlock), totals(scales.size());
  std::vector<int8_t> q8(x.size());
  std::vector<int32_t> sums(2 * scales.size());
  for (size_t t = 0; t < tokens; ++t) {
    for (size_t c = 0; c < cols; ++c) x[t * stride + c] = static_cast<float>(static_cast<int8_t>(bytes.next())) / 16;
    kScalarKernels.quantize(&x[t * stride], stride, &q8[t * stride], &scales[t * stride / kQuantBlock], &sums[t * stride / 16]);
  }
  for (size_t b = 0; b < totals.size(); ++b) totals[b] = scales[b] * static_cast<float>(sums[2 * b] + sums[2 * b + 1]);
  const Activations activations{x.data(), q8.data(), scales.data(), sums.data(), stride, totals.data()};
  std::vector<uint32_t> chosen(tokens);
  for (uint32_t& token : chosen) token = static_cast<uint32_t>(bytes.below(tokens));

  const auto run = [&](MatmulFn matmul) {
    std::vector<float> out(tokens * (last - first));
    matmul(reinterpret_cast<const unsigned char*>(tiles.data()), cols, first, last, activations, chosen.data(), tokens, out.data(),
           last - first);
    return out;
  };
  const auto index = static_cast<size_t>(type);
  for (const auto kernels : {&KernelTable::tiled_f32, &KernelTable::tiled_q8}) {
    if ((kScalarKernels.*kernels)[index] == nullptr) continue;
    const std::vector<float> expected = run((kScalarKernels.*kernels)[index]);
    for (const char* isa : {"avx2", "avx512", "avx512vnni", "amx"}) {
      const auto table = select_kernels(isa);
      if (!table) continue;
      if (!std::ranges::equal(expected, run(((*table)->*kernels)[index]), same)) std::abort();
    }
  }
  return 0;
}
