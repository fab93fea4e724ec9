#include "engine/message_end.h"

#include <algorithm>

namespace teapot::engine {

// Only the generation prompt's own text is tokenised: where its ids are the prompt's last, no token reaches across the border.
uint32_t message_end(const TextAssets& assets, const Json& context, std::string_view prompt, std::span<const int32_t> ids) {
  const auto asked = context.find("add_generation_prompt");
  if (asked == context.end() || *asked != true) return 0;
  Json without = context;
  without["add_generation_prompt"] = false;
  const auto messages = assets.chat_template->render(without);
  if (!messages || messages->size() >= prompt.size() || !prompt.starts_with(*messages)) return 0;
  const auto tail = assets.tokenizer.encode(prompt.substr(messages->size()), true);
  if (!tail || tail->size() >= ids.size() || !std::ranges::equal(*tail, ids.last(tail->size()))) return 0;
  return static_cast<uint32_t>(ids.size() - tail->size());
}

}  // namespace teapot::engine
