// Comparison of two models' weights, value by value and role by role, whatever layouts they were read from.
#pragma once

#include <functional>
#include <vector>

#include <gtest/gtest.h>

#include "model/model.h"
#include "plan/dequantize.h"

namespace teapot::model {

inline std::vector<float> row_values(const plan::Matrix& matrix, uint32_t row) {
  std::vector<float> values(matrix.cols);
  for (const plan::RowRun& run : matrix.runs) {
    if (row < run.rows) {
      plan::dequantize_row(matrix.type, run.data + row * plan::row_bytes(matrix.type, matrix.cols), matrix.cols, values.data());
      return values;
    }
    row -= run.rows;
  }
  ADD_FAILURE() << matrix.name << ": no such row";
  return values;
}

class Twins {
 public:
  // Value heads are brought into one order, if only `gguf` has them tiled (spec 5.4).
  Twins(const Model& hf, const Model& gguf) : hf_(hf), gguf_(gguf) {}

  // Row i of the GGUF's matrix is row order(i) of the other's; element j of a row is element order_cols(j).
  using Order = std::function<uint32_t(uint32_t)>;
  static uint32_t same(uint32_t i) { return i; }

  void expect_equal(plan::MatrixId a, plan::MatrixId b, const Order& rows = same, const Order& cols = same) {
    if (a == plan::kNoMatrix || b == plan::kNoMatrix) {
      EXPECT_EQ(a, b);
      return;
    }
    const plan::Matrix& hf = hf_.weights[a];
    const plan::Matrix& gguf = gguf_.weights[b];
    ASSERT_EQ(hf.rows, gguf.rows) << hf.name;
    ASSERT_EQ(hf.cols, gguf.cols) << hf.name;
    for (uint32_t i = 0; i < gguf.rows; ++i) {
      const auto got = row_values(gguf, i);
      const auto want = row_values(hf, rows(i));
      for (uint32_t j = 0; j < gguf.cols; ++j) ASSERT_EQ(got[j], want[cols(j)]) << hf.name << " row " << i << " column " << j;
    }
  }

  void expect_equal(plan::VectorId a, plan::VectorId b, const Order& order = same) {
    const plan::Vector& hf = hf_.weights[a];
    const plan::Vector& gguf = gguf_.weights[b];
    ASSERT_EQ(hf.values.size(), gguf.values.size()) << hf.name;
    for (uint32_t i = 0; i < hf.values.size(); ++i) {
      EXPECT_NEAR(gguf.values[i], hf.values[order(i)], 1e-6f * std::abs(gguf.values[i])) << hf.name << " element " << i;
    }
  }

  void expect_equal(const AttentionWeights& a, const AttentionWeights& b) {
    expect_equal(a.q, b.q);
    expect_equal(a.gate, b.gate);
    expect_equal(a.k, b.k);
    expect_equal(a.v, b.v);
    expect_equal(a.o, b.o);
    expect_equal(a.q_norm, b.q_norm);
    expect_equal(a.k_norm, b.k_norm);
  }

  void expect_equal(const GdnWeights& a, const GdnWeights& b) {
    const ModelConfig& c = hf_.config;
    const uint32_t ratio = c.value_heads / c.key_heads;
    const bool tiled = gguf_.layout.tiled_value_heads && !hf_.layout.tiled_value_heads;
    const Order head = [=](uint32_t h) { return tiled ? h % c.key_heads * ratio + h / c.key_heads : h; };
    const Order element = [=](uint32_t i) { return head(i / c.dv) * c.dv + i % c.dv; };
    const Order channel = [=](uint32_t i) { return i < 2 * c.key_dim() ? i : 2 * c.key_dim() + element(i - 2 * c.key_dim()); };
    expect_equal(a.qkv, b.qkv, channel);
    expect_equal(a.z, b.z, element);
    expect_equal(a.b, b.b, head);
    expect_equal(a.a, b.a, head);
    expect_equal(a.out, b.out, same, element);
    expect_equal(a.conv, b.conv, [=](uint32_t i) { return i / c.conv_channels() * c.conv_channels() + channel(i % c.conv_channels()); });
    expect_equal(a.neg_exp_a_log, b.neg_exp_a_log, head);
    expect_equal(a.dt_bias, b.dt_bias, head);
    expect_equal(a.norm, b.norm);
  }

  void expect_equal(const MlpWeights& a, const MlpWeights& b) {
    expect_equal(a.gate, b.gate);
    expect_equal(a.up, b.up);
    expect_equal(a.down, b.down);
  }

  void expect_equal(const MoeWeights& a, const MoeWeights& b) {
    expect_equal(a.router, b.router);
    expect_equal(MlpWeights{a.gate, a.up, a.down}, MlpWeights{b.gate, b.up, b.down});
    expect_equal(a.shared, b.shared);
    expect_equal(a.shared_sigmoid, b.shared_sigmoid);
  }

  void expect_equal(const std::vector<LayerWeights>& a, const std::vector<LayerWeights>& b) {
    ASSERT_EQ(a.size(), b.size());
    for (size_t i = 0; i < a.size(); ++i) {
      expect_equal(a[i].mixer_norm, b[i].mixer_norm);
      expect_equal(a[i].ffn_norm, b[i].ffn_norm);
      ASSERT_EQ(a[i].mixer.index(), b[i].mixer.index());
      ASSERT_EQ(a[i].ffn.index(), b[i].ffn.index());
      std::visit([&](const auto& mixer) { expect_equal(mixer, std::get<std::decay_t<decltype(mixer)>>(b[i].mixer)); }, a[i].mixer);
      std::visit([&](const auto& ffn) { expect_equal(ffn, std::get<std::decay_t<decltype(ffn)>>(b[i].ffn)); }, a[i].ffn);
    }
  }

  void expect_equal() {
    expect_equal(hf_.ids.embedding, gguf_.ids.embedding);
    expect_equal(hf_.ids.head, gguf_.ids.head);
    expect_equal(hf_.ids.final_norm, gguf_.ids.final_norm);
    expect_equal(hf_.ids.layers, gguf_.ids.layers);
    ASSERT_EQ(hf_.ids.mtp.has_value(), gguf_.ids.mtp.has_value());
    if (!hf_.ids.mtp) return;
    expect_equal(hf_.ids.mtp->combine, gguf_.ids.mtp->combine);
    expect_equal(hf_.ids.mtp->embedding_norm, gguf_.ids.mtp->embedding_norm);
    expect_equal(hf_.ids.mtp->hidden_norm, gguf_.ids.mtp->hidden_norm);
    expect_equal(hf_.ids.mtp->final_norm, gguf_.ids.mtp->final_norm);
    expect_equal(hf_.ids.mtp->layers, gguf_.ids.mtp->layers);
  }

 private:
  const Model& hf_;
  const Model& gguf_;
};

}  // namespace teapot::model
