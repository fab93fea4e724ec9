#include "workbench/bench/request_body.h"

namespace teapot::workbench {

Json request_json(const Prompt& prompt, const BodyOptions& options) {
  const bool whole = prompt.body.is_object();
  Json body = whole ? prompt.body : Json::object();
  // What a line says itself is not overwritten.
  const auto set = [&body, whole](const std::string& key, const Json& value) {
    if (!whole || !body.contains(key)) body[key] = value;
  };
  if (!whole) {
    if (options.chat) {
      body["messages"] = prompt.messages;
    } else {
      body["prompt"] = prompt.text;
    }
  }
  if (!options.model.empty()) set("model", options.model);
  if (options.max_tokens != 0) set("max_tokens", options.max_tokens);
  if (options.min_tokens != 0) set("min_tokens", options.min_tokens);
  if (options.min_tokens != 0 && options.min_tokens == options.max_tokens) set("ignore_eos", true);
  if (options.temperature) set("temperature", *options.temperature);
  if (options.top_p) set("top_p", *options.top_p);
  if (options.seed) set("seed", *options.seed);
  body["stream"] = options.stream;  // how replies are read is the run's, not a line's
  if (options.stream) set("stream_options", {{"include_usage", true}});
  if (!options.stream) body.erase("stream_options");
  for (const auto& [key, value] : options.extra_args.items()) set(key, value);
  return body;
}

Prompt prompt_of(std::string text, const BodyOptions& options) {
  Prompt prompt;
  if (options.chat) {
    prompt.messages = Json::array({{{"role", "user"}, {"content", std::move(text)}}});
  } else {
    prompt.text = std::move(text);
  }
  return prompt;
}

LoadRequest make_request(const Prompt& prompt, const BodyOptions& options, bool check_lengths) {
  const Json body = request_json(prompt, options);
  LoadRequest request;
  request.body = dump_json(body);
  request.stream = body.value("stream", Json(false)) == true;
  if (!check_lengths) return request;
  request.prompt_tokens = prompt.tokens;
  const Json max_tokens = body.value("max_tokens", Json());
  const bool fixed =
      max_tokens.is_number_unsigned() && body.value("min_tokens", Json()) == max_tokens && body.value("ignore_eos", Json()) == true;
  if (fixed && body.value("n", Json(1)) == 1) request.completion_tokens = max_tokens.get<uint32_t>();
  return request;
}

}  // namespace teapot::workbench
