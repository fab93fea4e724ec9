// For the executor's tests: a random model of two layers (GDN + experts, attention + dense) as weights and plans, and a forward pass over
// it in double, written from the formulas (spec 3), as far from the backend's code as can be.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <random>
#include <vector>

#include "base/half.h"
#include "plan/backend.h"
#include "plan/dequantize.h"

namespace teapot::cpu {

struct TinyModel {
  static constexpr uint32_t kVocab = 320, kHidden = 256;
  static constexpr uint32_t kHeads = 4, kKvHeads = 2, kHeadDim = 64, kRotary = 32;
  static constexpr uint32_t kKeyHeads = 2, kValueHeads = 4, kDk = 32, kDv = 64, kKernel = 4;
  static constexpr uint32_t kExperts = 6, kTopK = 2, kWidth = 256;
  static constexpr uint32_t kChannels = 2 * kKeyHeads * kDk + kValueHeads * kDv, kValues = kValueHeads * kDv;
  static constexpr float kEps = 1e-6f, kTheta = 1e4f;

  explicit TinyModel(plan::WeightType type, bool tiled = false) : type_(type) {
    layout = {1, kKvHeads, kHeadDim, 1, kKernel, kKeyHeads, kValueHeads, kDk, kDv, tiled};
    embed = matrix("embed", kVocab, kHidden);
    qkv = matrix("qkv", kChannels, kHidden);
    z = matrix("z", kValues, kHidden);
    b = matrix("b", kValueHeads, kHidden);
    a = matrix("a", kValueHeads, kHidden);
    gdn_out = matrix("gdn out", kHidden, kValues);
    router = matrix("router", kExperts, kHidden, plan::WeightType::kF32);
    gate = matrix("gate", kExperts * kWidth, kHidden);
    up = matrix("up", kExperts * kWidth, kHidden);
    down = matrix("down", kExperts * kHidden, kWidth);
    shared_gate = matrix("shared gate", kWidth, kHidden);
    shared_up = matrix("shared up", kWidth, kHidden);
    shared_down = matrix("shared down", kHidden, kWidth);
    shared_sigmoid = matrix("shared sigmoid", 1, kHidden, plan::WeightType::kF32);
    q = matrix("q", kHeads * kHeadDim, kHidden);
    q_gate = matrix("q gate", kHeads * kHeadDim, kHidden);
    k = matrix("k", kKvHeads * kHeadDim, kHidden);
    v = matrix("v", kKvHeads * kHeadDim, kHidden);
    attention_out = matrix("attention out", kHidden, kHeads * kHeadDim);
    mlp_gate = matrix("mlp gate", kWidth, kHidden);
    mlp_up = matrix("mlp up", kWidth, kHidden);
    mlp_down = matrix("mlp down", kHidden, kWidth);
    for (plan::VectorId* norm : {&norm0, &norm1, &norm2, &norm3, &norm_final}) *norm = vector(kHidden, 1, 0.2f);
    q_norm = vector(kHeadDim, 1, 0.2f);
    k_norm = vector(kHeadDim, 1, 0.2f);
    conv = vector(kKernel * kChannels, 0, 0.5f);
    neg_exp_a_log = vector(kValueHeads, -1, 0.2f);
    dt_bias = vector(kValueHeads, 0, 0.5f);
    gdn_norm = vector(kDv, 1, 0.2f);
  }

  // taps: the residual after each layer.
  plan::Plan plan(uint32_t rows, bool taps = false) const {
    plan::Plan p;
    p.shape = {rows};
    const auto buffer = [&](const char* name, uint32_t cols, plan::DType dtype = plan::DType::kF32) {
      p.buffers.push_back({name, dtype, cols});
      return static_cast<plan::BufferId>(p.buffers.size() - 1);
    };
    const auto x = buffer("residual", kHidden), m = buffer("qkv", kChannels), bz = buffer("z", kValues), bb = buffer("b", kValueHeads),
               ba = buffer("a", kValueHeads), mixed = buffer("mixed", kValues), normed = buffer("normed", kHidden),
               experts = buffer("experts", kTopK, plan::DType::kI32), weights = buffer("weights", kTopK),
               bq = buffer("q", kHeads * kHeadDim), bg = buffer("q gate", kHeads * kHeadDim), bk = buffer("k", kKvHeads * kHeadDim),
               bv = buffer("v", kKvHeads * kHeadDim), attended = buffer("attended", kHeads * kHeadDim), hidden = buffer("hidden", kHidden);
    const auto tap = [&](const char* name, plan::BufferId id) {
      if (taps) p.ops.emplace_back(plan::Tap{id, name});
    };
    p.ops.emplace_back(plan::Embed{embed, x});
    p.ops.emplace_back(plan::NormProject{x, norm0, kEps, {{qkv, m}, {z, bz}, {b, bb}, {a, ba}}});
    p.ops.emplace_back(plan::GdnStep{m, bz, bb, ba, mixed, conv, neg_exp_a_log, dt_bias, gdn_norm, kEps, 0});
    p.ops.emplace_back(plan::ProjectResidual{mixed, gdn_out, x});
    tap("gdn", x);
    p.ops.emplace_back(plan::Route{x, norm1, kEps, router, normed, experts, weights, true});
    tap("experts", experts);
    p.ops.emplace_back(
        plan::Moe{normed, experts, weights, gate, up, down, shared_gate, shared_up, shared_down, shared_sigmoid, x, kExperts});
    tap("moe", x);
    p.ops.emplace_back(plan::NormProject{x, norm2, kEps, {{q, bq}, {q_gate, bg}, {k, bk}, {v, bv}}});
    p.ops.emplace_back(plan::Attend{bq, bg, bk, bv, attended, q_norm, k_norm, kEps, kHeads, kRotary, kTheta, 0});
    p.ops.emplace_back(plan::ProjectResidual{attended, attention_out, x});
    tap("attention", x);
    p.ops.emplace_back(plan::Mlp{norm3, kEps, mlp_gate, mlp_up, mlp_down, x});
    tap("mlp", x);
    p.ops.emplace_back(plan::Head{x, norm_final, kEps, embed, hidden});
    tap("hidden", hidden);
    return p;
  }

  plan::WeightTable table;
  plan::StateLayout layout;
  plan::MatrixId embed, qkv, z, b, a, gdn_out, router, gate, up, down, shared_gate, shared_up, shared_down, shared_sigmoid, q, q_gate, k, v,
      attention_out, mlp_gate, mlp_up, mlp_down;
  plan::VectorId norm0, norm1, norm2, norm3, norm_final, q_norm, k_norm, conv, neg_exp_a_log, dt_bias, gdn_norm;

 protected:
  plan::MatrixId matrix(const char* name, uint32_t rows, uint32_t cols) { return matrix(name, rows, cols, type_); }

  // Values of about 1/16 = 1/sqrt(hidden): random bytes, and block scales that give this size.
  plan::MatrixId matrix(const char* name, uint32_t rows, uint32_t cols, plan::WeightType type) {
    std::vector<std::byte>& bytes = storage_.emplace_back(rows * row_bytes(type, cols));
    std::normal_distribution<float> normal(0, 1.0f / 16);
    const auto put = [&](size_t at, auto value) { std::memcpy(&bytes[at], &value, sizeof(value)); };
    for (std::byte& byte : bytes) byte = static_cast<std::byte>(rng_());
    for (size_t at = 0; at < bytes.size(); at += plan::info(type).bytes) {
      switch (type) {
        case plan::WeightType::kF32:
          put(at, normal(rng_));
          break;
        case plan::WeightType::kBF16:
          put(at, f32_to_bf16(normal(rng_)));
          break;
        case plan::WeightType::kF16:
          put(at, f32_to_f16(normal(rng_)));
          break;
        case plan::WeightType::kQ8_0:
          put(at, f32_to_f16(normal(rng_) / 64));
          break;
        case plan::WeightType::kQ4_K:
          put(at, f32_to_f16(1.0f / 16 / 160));
          put(at + 2, f32_to_f16(7.5f / 16 / 160));
          break;
        case plan::WeightType::kQ4_0:
          put(at, f32_to_f16(normal(rng_) / 5));
          break;
        case plan::WeightType::kQ5_K:
          put(at, f32_to_f16(1.0f / 16 / 320));
          put(at + 2, f32_to_f16(15.5f / 16 / 320));
          break;
        case plan::WeightType::kIQ4_XS:
          put(at, f32_to_f16(1.0f / 16 / 1200));
          break;
        case plan::WeightType::kQ6_K:
          put(at + 208, f32_to_f16(normal(rng_) / 1200));
          break;
        case plan::WeightType::kQ5_1:
          put(at, f32_to_f16(1.0f / 16 / 9));
          put(at + 2, f32_to_f16(-15.5f / 16 / 9));
          break;
        default:
          std::abort();  // add its scales here
      }
    }
    // Two runs, to see them joined.
    const uint32_t half = rows / 2;
    table.matrices.push_back({name, type, rows, cols, {{bytes.data(), half}, {bytes.data() + half * row_bytes(type, cols), rows - half}}});
    return static_cast<plan::MatrixId>(table.matrices.size() - 1);
  }

  plan::VectorId vector(size_t n, float mean, float deviation) {
    std::normal_distribution<float> normal(mean, deviation);
    plan::Vector& result = table.vectors.emplace_back();
    for (size_t i = 0; i < n; ++i) result.values.push_back(normal(rng_));
    return static_cast<plan::VectorId>(table.vectors.size() - 1);
  }

 private:
  plan::WeightType type_;
  std::mt19937 rng_{11};
  std::vector<std::vector<std::byte>> storage_;
};

// One sequence through the model, token by token.
class TinyReference {
 public:
  using M = TinyModel;
  using Row = std::vector<double>;
  struct Result {
    std::vector<Row> gdn, moe, attention, mlp, hidden, logits;  // [tokens][...]
    std::vector<std::vector<int>> experts;
  };

  explicit TinyReference(const TinyModel& model) : m_(model) {
    for (const plan::Matrix& matrix : model.table.matrices) {
      std::vector<double>& values = weights_.emplace_back();
      std::vector<float> row(matrix.cols);
      for (const plan::RowRun& run : matrix.runs) {
        for (uint32_t r = 0; r < run.rows; ++r) {
          dequantize_row(matrix.type, run.data + r * row_bytes(matrix.type, matrix.cols), matrix.cols, row.data());
          values.insert(values.end(), row.begin(), row.end());
        }
      }
    }
  }

  Result run(const std::vector<int32_t>& tokens) {
    Result result;
    std::vector<Row> window(M::kKernel - 1, Row(M::kChannels)), keys, values;
    std::vector<Row> state(M::kValueHeads, Row(size_t{M::kDk} * M::kDv));
    for (size_t t = 0; t < tokens.size(); ++t) {
      Row x = slice(weights_[static_cast<size_t>(m_.embed)], tokens[t] * M::kHidden, M::kHidden);
      add(x, times(m_.gdn_out, gdn(rms(x, m_.norm0, M::kEps), window, state)));
      result.gdn.push_back(x);
      const Row n = rms(x, m_.norm1, M::kEps);
      add(x, moe(n, result.experts.emplace_back()));
      result.moe.push_back(x);
      add(x, times(m_.attention_out, attend(rms(x, m_.norm2, M::kEps), t, keys, values)));
      result.attention.push_back(x);
      add(x, feed_forward(rms(x, m_.norm3, M::kEps), m_.mlp_gate, m_.mlp_up, m_.mlp_down, 0));
      result.mlp.push_back(x);
      result.hidden.push_back(rms(x, m_.norm_final, M::kEps));
      result.logits.push_back(times(m_.embed, result.hidden.back()));
    }
    return result;
  }

 protected:
  static double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
  static double silu(double x) { return x * sigmoid(x); }
  static Row slice(const Row& x, size_t first, size_t n) {
    return {x.begin() + static_cast<ptrdiff_t>(first), x.begin() + static_cast<ptrdiff_t>(first + n)};
  }
  static void add(Row& x, const Row& y) {
    for (size_t i = 0; i < x.size(); ++i) x[i] += y[i];
  }
  static double square_sum(const Row& x) {
    double sum = 0;
    for (const double v : x) sum += v * v;
    return sum;
  }

  const std::vector<float>& values_of(plan::VectorId id) const { return m_.table[id].values; }

  Row rms(const Row& x, plan::VectorId w, double eps) const {
    Row y = x;
    const double scale = 1 / std::sqrt(square_sum(x) / static_cast<double>(x.size()) + eps);
    for (size_t i = 0; i < x.size(); ++i) y[i] = x[i] * scale * values_of(w)[i];
    return y;
  }

  Row times(plan::MatrixId id, const Row& x) const { return times(id, x, 0, m_.table[id].rows); }
  Row times(plan::MatrixId id, const Row& x, size_t first, size_t rows) const {
    const std::vector<double>& w = weights_[static_cast<size_t>(id)];
    Row y(rows);
    for (size_t r = 0; r < rows; ++r) {
      for (size_t c = 0; c < x.size(); ++c) y[r] += w[(first + r) * x.size() + c] * x[c];
    }
    return y;
  }

  Row feed_forward(const Row& n, plan::MatrixId gate, plan::MatrixId up, plan::MatrixId down, size_t expert) const {
    Row h = times(gate, n, expert * M::kWidth, M::kWidth);
    const Row u = times(up, n, expert * M::kWidth, M::kWidth);
    for (size_t i = 0; i < h.size(); ++i) h[i] = silu(h[i]) * u[i];
    return times(down, h, expert * M::kHidden, M::kHidden);
  }

  Row gdn(const Row& n, std::vector<Row>& window, std::vector<Row>& state) const {
    const Row m = times(m_.qkv, n), z = times(m_.z, n), b = times(m_.b, n), a = times(m_.a, n);
    const std::vector<float>& conv = values_of(m_.conv);
    Row c(M::kChannels), out;
    for (size_t ch = 0; ch < M::kChannels; ++ch) {
      double sum = conv[(M::kKernel - 1) * M::kChannels + ch] * m[ch];
      for (size_t i = 0; i + 1 < M::kKernel; ++i) sum += conv[i * M::kChannels + ch] * window[i][ch];
      c[ch] = silu(sum);
    }
    window.erase(window.begin());
    window.push_back(m);
    for (size_t h = 0; h < M::kValueHeads; ++h) {
      const size_t g = m_.layout.tiled_value_heads ? h % M::kKeyHeads : h / (M::kValueHeads / M::kKeyHeads);
      Row q = slice(c, g * M::kDk, M::kDk), k = slice(c, (M::kKeyHeads + g) * M::kDk, M::kDk);
      const Row v = slice(c, 2 * M::kKeyHeads * M::kDk + h * M::kDv, M::kDv);
      const double q_scale = 1 / std::sqrt(square_sum(q) + 1e-6) / std::sqrt(double{M::kDk}), k_scale = 1 / std::sqrt(square_sum(k) + 1e-6);
      for (double& e : q) e *= q_scale;
      for (double& e : k) e *= k_scale;
      const double alpha = std::exp(values_of(m_.neg_exp_a_log)[h] * std::log1p(std::exp(a[h] + values_of(m_.dt_bias)[h])));
      Row o(M::kDv);
      for (size_t j = 0; j < M::kDv; ++j) {
        double predicted = 0;
        for (size_t i = 0; i < M::kDk; ++i) predicted += (state[h][i * M::kDv + j] *= alpha) * k[i];
        const double delta = sigmoid(b[h]) * (v[j] - predicted);
        for (size_t i = 0; i < M::kDk; ++i) o[j] += (state[h][i * M::kDv + j] += k[i] * delta) * q[i];
      }
      const Row y = rms(o, m_.gdn_norm, M::kEps);
      for (size_t j = 0; j < M::kDv; ++j) out.push_back(y[j] * silu(z[h * M::kDv + j]));
    }
    return out;
  }

  Row moe(const Row& n, std::vector<int>& chosen) const {
    Row p = times(m_.router, n);
    for (double& e : p) e = std::exp(e);
    double sum = 0;
    while (chosen.size() < M::kTopK) {
      chosen.push_back(static_cast<int>(std::max_element(p.begin(), p.end()) - p.begin()));
      sum += p[static_cast<size_t>(chosen.back())];
      weights_of_[chosen.size() - 1] = p[static_cast<size_t>(chosen.back())];
      p[static_cast<size_t>(chosen.back())] = -1;
    }
    Row y(M::kHidden);
    for (size_t r = 0; r < M::kTopK; ++r) {
      const Row e = feed_forward(n, m_.gate, m_.up, m_.down, static_cast<size_t>(chosen[r]));
      for (size_t i = 0; i < y.size(); ++i) y[i] += weights_of_[r] / sum * e[i];
    }
    const Row s = feed_forward(n, m_.shared_gate, m_.shared_up, m_.shared_down, 0);
    const double weight = sigmoid(times(m_.shared_sigmoid, n)[0]);
    for (size_t i = 0; i < y.size(); ++i) y[i] += weight * s[i];
    return y;
  }

  Row rotated(const Row& x, size_t position) const {
    Row y = x;
    const size_t half = M::kRotary / 2;
    for (size_t j = 0; j < half; ++j) {
      const double angle = static_cast<double>(position) * std::pow(double{M::kTheta}, -2.0 * static_cast<double>(j) / M::kRotary);
      y[j] = x[j] * std::cos(angle) - x[j + half] * std::sin(angle);
      y[j + half] = x[j + half] * std::cos(angle) + x[j] * std::sin(angle);
    }
    return y;
  }

  Row attend(const Row& n, size_t position, std::vector<Row>& keys, std::vector<Row>& values) const {
    const Row q = times(m_.q, n), gate = times(m_.q_gate, n), k = times(m_.k, n);
    Row& stored = keys.emplace_back();
    for (size_t h = 0; h < M::kKvHeads; ++h) {
      const Row head = rotated(rms(slice(k, h * M::kHeadDim, M::kHeadDim), m_.k_norm, M::kEps), position);
      stored.insert(stored.end(), head.begin(), head.end());
    }
    values.push_back(times(m_.v, n));
    Row out(M::kHeads * M::kHeadDim);
    for (size_t h = 0; h < M::kHeads; ++h) {
      const Row head = rotated(rms(slice(q, h * M::kHeadDim, M::kHeadDim), m_.q_norm, M::kEps), position);
      const size_t at = h / (M::kHeads / M::kKvHeads) * M::kHeadDim;
      double sum = 0;
      for (size_t p = 0; p <= position; ++p) {
        double score = 0;
        for (size_t i = 0; i < M::kHeadDim; ++i) score += head[i] * keys[p][at + i];
        const double weight = std::exp(score / std::sqrt(double{M::kHeadDim}));
        sum += weight;
        for (size_t i = 0; i < M::kHeadDim; ++i) out[h * M::kHeadDim + i] += weight * values[p][at + i];
      }
      for (size_t i = 0; i < M::kHeadDim; ++i) out[h * M::kHeadDim + i] *= sigmoid(gate[h * M::kHeadDim + i]) / sum;
    }
    return out;
  }

  std::vector<std::vector<double>> weights_;  // [matrices][rows * cols]

 private:
  const TinyModel& m_;
  mutable double weights_of_[TinyModel::kTopK] = {};
};

}  // namespace teapot::cpu
