#include "workbench/eval/final_number.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace teapot::workbench {
namespace {

TEST(FinalNumber, IsFoundInManyForms) {
  const std::vector<std::pair<std::string, std::string>> known = {
      {"#### 18", "18"},
      {"She makes 9 * 2 = $18.\n#### 18", "18"},
      {"####18", "18"},
      {"#### $18.00 a day", "18"},
      {"#### \\$1,200.50", "1200.5"},
      {"#### 1,234,567", "1234567"},
      {"#### 0018", "18"},
      {"#### -5", "-5"},
      {"#### -$5", "-5"},
      {"#### $-5.0", "-5"},
      {"#### \u22125", "-5"},
      {"#### -0.0", "0"},
      {"#### .50", "0.5"},
      {"#### 0.125", "0.125"},
      {"#### 18.", "18"},
      {"#### 18 (not 20)", "18"},
      {"#### **18**", "18"},
      {"#### \\boxed{18}", "18"},
      {"#### \u20ac70,000", "70000"},
      {"#### 3\n\nQuestion: 5 and 7\n#### 12", "12"},  // the last mark counts
      {"#### 3\nThat is 3 of 10. ####", "3"},          // a mark without a number does not
      {"#### the answer\n7 of 9", "9"},                // nor does one whose number stands on another line
      {"The answer is 42.", "42"},
      {"so 10-4", "4"},
      {"x = -4", "-4"},
      {"f(2)-3", "3"},
      {"The total is 1,200 or 1,20", "20"},  // no thousands: two numbers
      {"in 2024,500 people", "500"},         // four digits before the comma
      {"version 1.2.3", "3"},
      {"12 apples, 30% off", "30"},
      {"3/4", "4"},
      {"a ... 5", "5"},
      {"5...", "5"},
      {"1,000,00", "0"},
  };
  for (const auto& [text, number] : known) EXPECT_EQ(final_number(text).value_or("nothing"), number) << text;
}

TEST(FinalNumber, IsNothingWithoutDigits) {
  for (const char* text : {"", "no idea", "####", "#### -", "$.,-", "\u2212"}) EXPECT_FALSE(final_number(text)) << text;
}

}  // namespace
}  // namespace teapot::workbench
