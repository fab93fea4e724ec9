// The kernels that go over positions: the recurrence and attention.
#include <algorithm>
#include <cmath>
#include <limits>

#include "cpu/kernels/kernel_test.h"

namespace teapot::cpu {
namespace {

struct RandomRun {
  size_t dk, dv, tokens;
  std::vector<float> q, k, v, alpha, beta;

  RandomRun(std::mt19937& rng, size_t key_dim, size_t value_dim, size_t count)
      : dk(key_dim),
        dv(value_dim),
        tokens(count),
        q(random_floats(rng, count * dk, 0.1f)),
        k(random_floats(rng, count * dk, 0.1f)),
        v(random_floats(rng, count * dv)),
        alpha(count),
        beta(count) {
    for (size_t t = 0; t < count; ++t) {
      alpha[t] = 0.8f + 0.01f * static_cast<float>(t % 20);
      beta[t] = 0.5f;
    }
  }

  GdnHead head(size_t first, size_t count) const {
    return {&q[first * dk], &k[first * dk], &v[first * dv], &alpha[first], &beta[first], dk, dk, dv, 1, dv, dk, dv, count};
  }
};

class GdnTest : public KernelTest {};

TEST_P(GdnTest, IsTheRecurrenceInDouble) {
  for (const size_t dv : {1, 8, 16, 24, 32, 40, 100, 128}) {
    const RandomRun run(rng, 48, dv, 9);
    std::vector<float> state = random_floats(rng, run.dk * dv), out(run.tokens * dv);
    std::vector<double> exact(state.begin(), state.end());
    table->gdn_head(run.head(0, run.tokens), state.data(), out.data());
    for (size_t t = 0; t < run.tokens; ++t) {
      for (size_t j = 0; j < dv; ++j) {
        double predicted = 0, read = 0;
        for (size_t i = 0; i < run.dk; ++i) predicted += (exact[i * dv + j] *= run.alpha[t]) * run.k[t * run.dk + i];
        const double delta = run.beta[t] * (run.v[t * dv + j] - predicted);
        for (size_t i = 0; i < run.dk; ++i) read += (exact[i * dv + j] += run.k[t * run.dk + i] * delta) * run.q[t * run.dk + i];
        EXPECT_NEAR(out[t * dv + j], read, 2e-6);
      }
    }
    for (size_t i = 0; i < state.size(); ++i) EXPECT_NEAR(state[i], exact[i], 2e-6);
  }
}

// The property that the exactness of chunked prefill and of speculation rests on.
TEST_P(GdnTest, RunOfTokensEqualsTokensOneByOneBitForBit) {
  for (const size_t dv : {24, 32, 128}) {
    const RandomRun run(rng, 128, dv, 7);
    std::vector<float> together = random_floats(rng, run.dk * dv), apart = together, out(run.tokens * dv), out_apart = out;
    table->gdn_head(run.head(0, run.tokens), together.data(), out.data());
    for (size_t t = 0; t < run.tokens; ++t) table->gdn_head(run.head(t, 1), apart.data(), &out_apart[t * dv]);
    EXPECT_TRUE(same_bits(together, apart));
    EXPECT_TRUE(same_bits(out, out_apart));
  }
}

// Of a run whose first tokens may not hold: the state stays, and what the log keeps of those that do moves it later.
TEST_P(GdnTest, ReplayEqualsTheTokensThemselvesBitForBit) {
  for (const size_t dv : {5, 24, 32, 40, 128}) {
    constexpr size_t kGuesses = 5, kTokens = 9;
    const RandomRun run(rng, 48, dv, kTokens);
    const std::vector<float> begin = random_floats(rng, run.dk * dv);
    const size_t stride = run.dk + dv + 1;
    std::vector<float> log(kGuesses * stride), strip(run.dk * kGdnStrip), guesses(kGuesses * dv), state = begin;
    GdnHead verify = run.head(0, kGuesses);
    verify.delta = &log[run.dk];
    verify.delta_stride = stride;
    verify.strip = strip.data();
    table->gdn_head(verify, state.data(), guesses.data());
    EXPECT_TRUE(same_bits(state, begin));
    for (size_t t = 0; t < kGuesses; ++t) {
      std::copy_n(&run.k[t * run.dk], run.dk, &log[t * stride]);
      log[t * stride + run.dk + dv] = run.alpha[t];
    }
    for (size_t accepted = 0; accepted <= kGuesses; ++accepted) {
      std::vector<float> plain = begin, out(kTokens * dv), rest(kTokens * dv), moved = begin;
      table->gdn_head(run.head(0, accepted), plain.data(), out.data());
      EXPECT_TRUE(std::equal(&out[0], &out[accepted * dv], &guesses[0]));
      const GdnLog pending{&log[0], &log[run.dk], &log[run.dk + dv], stride, accepted};
      table->gdn_head({.dk = run.dk, .dv = dv, .pending = pending}, moved.data(), nullptr);
      EXPECT_TRUE(same_bits(moved, plain)) << accepted << " alone";

      std::vector<float> verified = begin, deltas(kTokens * dv);
      GdnHead next = run.head(accepted, kTokens - accepted);
      table->gdn_head(next, plain.data(), &out[accepted * dv]);
      next.pending = pending;
      std::vector<float> ahead = begin;
      table->gdn_head(next, ahead.data(), &rest[accepted * dv]);
      EXPECT_TRUE(same_bits(ahead, plain)) << accepted << " before others";
      EXPECT_TRUE(std::equal(&out[accepted * dv], &out[0] + out.size(), &rest[accepted * dv])) << accepted;
      next.delta = deltas.data();
      next.delta_stride = dv;
      next.strip = strip.data();
      std::ranges::fill(rest, 0.0f);
      table->gdn_head(next, verified.data(), &rest[accepted * dv]);
      EXPECT_TRUE(same_bits(verified, moved)) << accepted << " before others that may not hold";
      EXPECT_TRUE(std::equal(&out[accepted * dv], &out[0] + out.size(), &rest[accepted * dv])) << accepted;
    }
  }
}

TEAPOT_ALL_ISAS(GdnTest);

class AttendTest : public KernelTest {
 protected:
  struct Cache {
    std::vector<unsigned char> bytes;
    std::vector<float> values;  // as they are read back
  };

  Cache store(KvType type, const std::vector<float>& x) const {
    const size_t element = type == kKvF32 ? 4 : 2;
    Cache cache{std::vector<unsigned char>(x.size() * element), std::vector<float>(x.size())};
    table->store_kv[type](x.data(), x.size(), cache.bytes.data());
    for (size_t i = 0; i < x.size(); ++i) {
      uint16_t bits;
      std::memcpy(&bits, &cache.bytes[i * element], 2);
      cache.values[i] = type == kKvF32 ? x[i] : type == kKvF16 ? f16_to_f32(bits) : bf16_to_f32(bits);
    }
    return cache;
  }

  // Blocks joined in order: [heads, head_dim].
  std::vector<float> attend(KvType type, const std::vector<float>& q, const Cache& k, const Cache& v, size_t positions, size_t stride,
                            size_t heads = 1) {
    const size_t head_dim = q.size() / heads, element = type == kKvF32 ? 4 : 2;
    std::vector<float> scratch(kAttendHeads * kKvBlock), out(q.size()), part(q.size());
    std::vector<float> max(heads, -INFINITY), sum(heads), part_max(heads), part_sum(heads);
    for (size_t begin = 0; begin < positions; begin += kKvBlock) {
      const size_t at = begin * stride * element;
      table->attend_block[type]({q.data(), heads, head_dim, k.bytes.data() + at, v.bytes.data() + at, std::min(kKvBlock, positions - begin),
                                 stride, 0.125f, scratch.data()},
                                {part_max.data(), part_sum.data(), part.data()});
      for (size_t h = 0; h < heads; ++h) {
        table->attend_join(&part[h * head_dim], part_max[h], part_sum[h], head_dim, &out[h * head_dim], &max[h], &sum[h]);
      }
    }
    for (size_t i = 0; i < out.size(); ++i) out[i] /= sum[i / head_dim];
    return out;
  }
};

TEST_P(AttendTest, IsSoftmaxInDouble) {
  for (const KvType type : {kKvF32, kKvF16, kKvBF16}) {
    for (const size_t head_dim : {4, 32, 48, 64, 100, 128, 256}) {
      for (const size_t positions : {1, 2, 17, 255, 256, 257, 700}) {
        const size_t stride = 2 * head_dim;
        const auto q = random_floats(rng, head_dim, 2);
        const Cache k = store(type, random_floats(rng, positions * stride)), v = store(type, random_floats(rng, positions * stride));
        const auto out = attend(type, q, k, v, positions, stride);
        std::vector<double> expected(head_dim);
        double sum = 0;
        for (size_t p = 0; p < positions; ++p) {
          double dot = 0;
          for (size_t i = 0; i < head_dim; ++i) dot += static_cast<double>(q[i]) * k.values[p * stride + i];
          const double weight = std::exp(0.125 * dot);
          sum += weight;
          for (size_t i = 0; i < head_dim; ++i) expected[i] += weight * v.values[p * stride + i];
        }
        for (size_t i = 0; i < head_dim; ++i) {
          ASSERT_NEAR(out[i], expected[i] / sum, 3e-6) << "type " << type << " head_dim " << head_dim << " positions " << positions;
        }
      }
    }
  }
}

// Heads side by side are as many heads alone, but for the order in which their weights are added.
TEST_P(AttendTest, HeadsDoNotMix) {
  constexpr size_t kDim = 64, kPositions = 300;
  for (const size_t heads : {2, 3, 4, 6, 8, 13, 16}) {
    const auto q = random_floats(rng, heads * kDim, 2);
    const Cache k = store(kKvF16, random_floats(rng, kPositions * kDim)), v = store(kKvF16, random_floats(rng, kPositions * kDim));
    const auto together = attend(kKvF16, q, k, v, kPositions, kDim, heads);
    for (size_t h = 0; h < heads; ++h) {
      const auto alone = attend(kKvF16, {&q[h * kDim], &q[h * kDim] + kDim}, k, v, kPositions, kDim);
      for (size_t i = 0; i < kDim; ++i) ASSERT_NEAR(together[h * kDim + i], alone[i], 1e-6) << "head " << h << " of " << heads;
    }
  }
}

// Large scores, rising and falling over the blocks: neither overflow nor a wrong correction of the blocks before.
TEST_P(AttendTest, LargeScoresAndLateMaxima) {
  constexpr size_t kDim = 32, kPositions = 3 * kKvBlock + 5;
  for (const size_t peak : {size_t{0}, kKvBlock, 2 * kKvBlock + 7, kPositions - 1}) {
    std::vector<float> keys(kPositions * kDim), values(kPositions * kDim);
    for (size_t p = 0; p < kPositions; ++p) {
      keys[p * kDim] = p == peak ? 1000.0f : -1000.0f;
      values[p * kDim + 3] = static_cast<float>(p);
    }
    std::vector<float> q(kDim);
    q[0] = 40;
    const auto out = attend(kKvF32, q, store(kKvF32, keys), store(kKvF32, values), kPositions, kDim);
    EXPECT_EQ(out[3], static_cast<float>(peak));
  }
}

TEST_P(AttendTest, InfiniteScores) {
  constexpr size_t kDim = 32, kPositions = 2 * kKvBlock;
  std::vector<float> keys(kPositions * kDim), values(kPositions * kDim, 2.0f), q(kDim);
  q[0] = 1;
  for (size_t p = 0; p < kKvBlock; ++p) keys[p * kDim] = -std::numeric_limits<float>::infinity();
  const Cache v = store(kKvF32, values);
  EXPECT_FLOAT_EQ(attend(kKvF32, q, store(kKvF32, keys), v, kPositions, kDim)[5], 2.0f);  // a first block that weighs nothing
  std::rotate(keys.begin(), keys.begin() + kKvBlock * kDim, keys.end());
  EXPECT_FLOAT_EQ(attend(kKvF32, q, store(kKvF32, keys), v, kPositions, kDim)[5], 2.0f);  // a last one
  for (size_t p = 0; p < kPositions; p += kPositions - 1) {
    auto broken = keys;
    broken[p * kDim + 7] = NAN;
    EXPECT_TRUE(std::isnan(attend(kKvF32, q, store(kKvF32, broken), v, kPositions, kDim)[5])) << p;
  }
}

TEAPOT_ALL_ISAS(AttendTest);

}  // namespace
}  // namespace teapot::cpu
