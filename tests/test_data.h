// Where the tests find their data: small files in the tree, larger ones beside it when they are there.
#pragma once

#include <filesystem>
#include <string>

namespace teapot::testing {

inline std::filesystem::path test_data(const std::string& name) { return std::filesystem::path(TEAPOT_TEST_DATA) / name; }

inline std::filesystem::path demo_model() { return std::filesystem::path(TEAPOT_SOURCE_DIR) / "models/demo"; }

// The larger golden data lie in a folder shared/data beside the checkout; tests over them skip, and say so, where it is absent.
inline std::filesystem::path shared_data(const std::string& name) {
  return std::filesystem::path(TEAPOT_SOURCE_DIR) / "../shared/data" / name;
}

}  // namespace teapot::testing

// First line of a test that needs a file or folder of the shared data.
#define TEAPOT_NEEDS(path) \
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "not here: " << (path).string()
