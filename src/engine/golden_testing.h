// For tests: golden models and what the reference makes of them (tests/data/goldens; the larger ones in the shared data).
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/npy.h"
#include "engine/evaluate.h"
#include "test_data.h"

namespace teapot::engine::golden {

// A file or folder of a golden model: in the tree if it was copied there, else where the shared data would have it.
inline std::filesystem::path file(const std::string& name) {
  const auto copied = testing::test_data("goldens/" + name);
  return std::filesystem::exists(copied) ? copied : testing::shared_data("goldens/" + name);
}

// What to load of it: a GGUF file, or the folder of a config.json.
inline std::filesystem::path model_path(const std::string& name) {
  const auto path = file(name);
  return path.filename() == "config.json" ? path.parent_path() : path;
}

// The folder of a model whose Hugging Face files are there.
inline std::filesystem::path folder(const std::string& model) { return file(model + "/config.json").parent_path(); }

inline std::vector<float> floats(const std::string& name) {
  auto array = read_npy_f32(file(name).string());
  EXPECT_TRUE(array) << array.error().message;
  return array ? std::move(array->values) : std::vector<float>();
}

inline std::vector<int32_t> integers(const std::string& name) {
  auto array = read_npy_i32(file(name).string());
  EXPECT_TRUE(array) << array.error().message;
  return array ? std::move(array->values) : std::vector<int32_t>();
}

// |a - b| / |b|, Euclidean, over the whole arrays.
inline double relative_error(std::span<const float> a, std::span<const float> b) {
  EXPECT_EQ(a.size(), b.size());
  double difference = 0, norm = 0;
  for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    difference += (double{a[i]} - b[i]) * (double{a[i]} - b[i]);
    norm += double{b[i]} * b[i];
  }
  return std::sqrt(difference / norm);
}

inline bool same_bits(std::span<const float> a, std::span<const float> b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size_bytes()) == 0;
}

// As the goldens need it: f32 KV. One thread: tests must not crawl where others keep the machine busy.
inline cpu::Options exact(const std::string& isa) {
  return {.isa = isa, .kv_dtype = "f32", .activations = "f32", .pages = "4k", .threads = 1, .bind = "off"};
}

// Whether this host can run the instruction set.
inline bool runs_here(const std::string& isa) {
  const auto backend = cpu::create_backend(exact(isa));
  if (!backend) {
    EXPECT_EQ(backend.error().kind, ErrorKind::kUnsupported) << backend.error().message;
  }
  return backend.has_value();
}

inline std::unique_ptr<Evaluator> evaluator(const std::filesystem::path& path, const cpu::Options& options) {
  auto model = model::load_model(path.string());
  EXPECT_TRUE(model) << model.error().message;
  if (!model) return nullptr;
  auto evaluator = Evaluator::create(*std::move(model), options);
  EXPECT_TRUE(evaluator) << evaluator.error().message;
  return evaluator ? *std::move(evaluator) : nullptr;
}

// One file of a golden model on one instruction set.
struct Case {
  std::string file;  // under the goldens
  std::string model;
  std::string isa;

  friend void PrintTo(const Case& c, std::ostream* out) { *out << c.file << ", " << c.isa; }
};

inline std::string name_of(const ::testing::TestParamInfo<Case>& info) {
  std::string name = info.param.file + "_" + info.param.isa;
  std::ranges::replace_if(name, [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; }, '_');
  return name;
}

inline std::vector<Case> cases(const std::vector<std::pair<std::string, std::string>>& files) {
  std::vector<Case> result;
  for (const auto& [file, model] : files) {
    for (const char* const isa : {"scalar", "avx2", "avx512", "avx512vnni", "amx"}) result.push_back({file, model, isa});
  }
  return result;
}

}  // namespace teapot::engine::golden

#define TEAPOT_NEEDS_ISA(isa) \
  if (!golden::runs_here(isa)) GTEST_SKIP() << "this processor has no " << (isa)
