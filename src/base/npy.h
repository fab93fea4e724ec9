// Arrays in NumPy's .npy format: little-endian, row-major, f32 and i32.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"

namespace teapot {

template <class T>
struct NpyArray {
  std::vector<size_t> shape;
  std::vector<T> values;  // row-major
};

// <f4 (also <f8, narrowed) or <i4 / <i8 (checked to fit). Errors name the file and what was found.
Result<NpyArray<float>> read_npy_f32(const std::string& path);
Result<NpyArray<int32_t>> read_npy_i32(const std::string& path);

Status write_npy(const std::string& path, std::span<const size_t> shape, std::span<const float> values);
Status write_npy(const std::string& path, std::span<const size_t> shape, std::span<const int32_t> values);

}  // namespace teapot
