// Any bytes as a chat template over a small conversation: no crash, no hang, no more memory than the budget.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "text/chat_template.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const teapot::Json context = {
      {"messages",
       {{{"role", "system"}, {"content", "Be terse."}},
        {{"role", "user"}, {"content", "H\u00e9llo \U0001F600 <b>"}},
        {{"role", "assistant"},
         {"content", nullptr},
         {"tool_calls", {{{"function", {{"name", "f"}, {"arguments", {{"a", 1}, {"b", {1.5, true, "x"}}}}}}}}}}}},
      {"tools", {{{"type", "function"}, {"function", {{"name", "f"}, {"parameters", teapot::Json::object()}}}}}},
      {"add_generation_prompt", true},
      {"n", 7},
      {"f", 2.5},
      {"s", "Hello"},
      {"l", {3, 1, 2}},
      {"z", nullptr}};
  teapot::text::RenderOptions options;
  options.max_steps = 20'000;
  options.max_value_bytes = size_t{8} << 20;
  options.max_output_bytes = size_t{1} << 20;
  const auto compiled = teapot::text::ChatTemplate::compile({reinterpret_cast<const char*>(data), size});
  if (compiled) (void)compiled->render(context, options);
  return 0;
}
