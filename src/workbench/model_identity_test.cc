#include "workbench/model_identity.h"

#include <gtest/gtest.h>

#include "base/file.h"
#include "temporary_folder.h"

namespace teapot::workbench {
namespace {

class ModelIdentity : public ::testing::Test {
 protected:
  std::string write(const std::string& name, const std::string& text) const {
    EXPECT_TRUE(write_file(folder_ / name, text));
    return folder_ / name;
  }

  testing::TemporaryFolder folder_;
};

TEST_F(ModelIdentity, IsThatOfItsCopyAndOfNoOther) {
  std::string weights(3 << 20, 'w');
  const Json known = model_identity(write("a.gguf", weights)).value();
  EXPECT_EQ(known["files"], 1);
  EXPECT_EQ(known["bytes"], 3 << 20);
  EXPECT_EQ(model_identity(write("b.gguf", weights)).value(), known);
  EXPECT_NE(model_identity(write("b.gguf", weights + "w")).value(), known);
  weights.back() = 'x';
  EXPECT_NE(model_identity(write("b.gguf", weights)).value(), known);
  EXPECT_EQ(model_identity(folder_ / "none.gguf").error().kind, ErrorKind::kNotFound);
}

TEST_F(ModelIdentity, HasAllPartsOfASplitModelAndOfAFolder) {
  const std::string first = write("m-00001-of-00002.gguf", "one"), second = write("m-00002-of-00002.gguf", "two");
  write("m-00001-of-00003.gguf", "another's");
  const Json both = model_identity(first).value();
  EXPECT_EQ(both["files"], 2);
  EXPECT_EQ(both["bytes"], 6);
  EXPECT_EQ(model_identity(second).value(), both);
  write("config.json", "{}");
  write("model.safetensors", "weights");
  write("README.md", "words");
  EXPECT_EQ(model_identity(folder_.path()).value()["bytes"], 9);
}

}  // namespace
}  // namespace teapot::workbench
