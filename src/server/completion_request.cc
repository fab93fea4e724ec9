#include "server/completion_request.h"

namespace teapot::server {

ApiResult<std::vector<int32_t>> parse_ids(const Json& list, const char* name, uint32_t vocab_size) {
  std::vector<int32_t> ids;
  ids.reserve(list.size());
  for (const Json& id : list) {
    if (!id.is_number_integer() || id.get<int64_t>() < 0 || id.get<int64_t>() >= vocab_size)
      return bad_field(name, fmt::format("'{}' must hold token ids below {}, found {}", name, vocab_size, dump_json(id)));
    ids.push_back(id.get<int32_t>());
  }
  return ids;
}

ApiResult<CompletionRequest> parse_completion(const Json& body, const RequestDefaults& defaults) {
  const Fields fields(body);
  CompletionRequest request;
  TEAPOT_TRY(request.common, parse_common(body, defaults));
  TEAPOT_CHECK(fields.unsupported("suffix", ""));
  TEAPOT_CHECK(fields.unsupported("best_of", request.common.choices));
  for (const char* guided : {"response_format", "guided_json", "guided_regex", "guided_choice", "guided_grammar", "grammar"})
    TEAPOT_CHECK(fields.unsupported(guided));
  TEAPOT_TRY(const auto echo, fields.boolean("echo"));
  request.echo = echo.value_or(false);
  TEAPOT_TRY(const auto logprobs, fields.integer("logprobs", 0, 20));
  if (logprobs) {
    request.common.generate.top_logprobs = static_cast<uint32_t>(*logprobs);
    request.common.generate.prompt_logprobs = request.echo;
  }

  const Json* prompt = fields.find("prompt");
  if (prompt == nullptr) return bad_field("prompt", "'prompt' is missing");
  if (prompt->is_array() && prompt->size() == 1 && !(*prompt)[0].is_number()) prompt = &(*prompt)[0];
  if (prompt->is_string()) {
    request.prompt = prompt->get<std::string>();
  } else if (prompt->is_array() && !prompt->empty() && (*prompt)[0].is_number()) {
    TEAPOT_TRY(request.prompt, parse_ids(*prompt, "prompt", defaults.vocab_size));
  } else if (prompt->is_array() && prompt->size() > 1) {
    return bad_field("prompt", fmt::format("'prompt' holds {} prompts: more than one a request is not supported yet", prompt->size()));
  } else {
    return bad_field("prompt", fmt::format("'prompt' must be a string or a list of token ids, found {}",
                                           prompt->is_array() ? "an empty array" : kind_of(*prompt)));
  }
  return request;
}

}  // namespace teapot::server
