#include "model/config_facts.h"

#include <gtest/gtest.h>

#include "model/hf_config.h"
#include "test_data.h"

namespace teapot::model {
namespace {

// Every value that an index.json expects of the configurations beside it.
void expect_index(const std::filesystem::path& folder, size_t files) {
  const auto index = read_json_file((folder / "index.json").string());
  ASSERT_TRUE(index) << index.error().message;
  ASSERT_EQ(index->size(), files);
  for (const auto& [name, entry] : index->items()) {
    const std::string path = (folder / entry["file"].get<std::string>()).string();
    const auto json = read_json_file(path);
    ASSERT_TRUE(json) << json.error().message;
    const auto config = read_hf_config(*json, path);
    ASSERT_TRUE(config) << config.error().message;
    const Json facts = config_facts(*config);
    EXPECT_EQ(facts["family"], entry["family"]) << name;
    for (const auto& [field, value] : entry["expected"].items()) {
      ASSERT_TRUE(facts.contains(field)) << name << ": " << field;
      EXPECT_EQ(facts[field], value) << name << ": " << field;
    }
  }
}

TEST(ConfigFacts, AgreeWithRealConfigurations) { expect_index(testing::test_data("configs"), 5); }

TEST(ConfigFacts, AgreeWithAllRealConfigurations) {
  const auto folder = testing::shared_data("configs");
  TEAPOT_NEEDS(folder);
  expect_index(folder, 21);
}

}  // namespace
}  // namespace teapot::model
