// The JSON objects of replies: what chat and text completions send, whole and as stream chunks.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/json.h"
#include "engine/request.h"
#include "engine/text_assets.h"
#include "text/output_parser.h"

namespace teapot::server {

// What every object of one reply repeats.
struct ReplyHead {
  std::string id;      // "chatcmpl-…", "cmpl-…"
  std::string object;  // of the whole reply
  std::string model;
  int64_t created;  // seconds since the epoch

  static ReplyHead chat(const std::string& model);
  static ReplyHead completion(const std::string& model);
};

// A new name for a thing that a client refers to: prefix and 24 random hexadecimal digits.
std::string random_id(const std::string& prefix);

// Tokens of a request: its prompt once, the replies of all its choices.
struct Usage {
  uint32_t prompt_tokens = 0, cached_tokens = 0, completion_tokens = 0, reasoning_tokens = 0;

  void add(const engine::Timings& choice, uint32_t reasoning);
};
Json usage_json(const Usage& usage);

// What a stream tells of its usage: in an event of its own at the end, and in each event (as far as it has come).
struct StreamUsage {
  bool at_end = false;
  bool in_each = false;
  uint32_t prompt_tokens = 0;  // of the request; needed by in_each
};
// What an event tells after so many tokens, of all choices together.
Json usage_so_far(const StreamUsage& usage, uint32_t completion_tokens);
Json timings_json(const engine::Timings& timings);
// saw_tool_calls: a reply that ended of itself after calls ends with "tool_calls".
std::string finish_reason_name(engine::FinishReason reason, bool saw_tool_calls);

// {"id", "object", "created", "model", "choices": [choice]}; object_suffix: ".chunk" for chat streams.
Json envelope(const ReplyHead& head, const std::string& object_suffix, Json choices);

// A call as a message has it; arguments are text.
Json tool_call_json(const text::ToolCall& call);

// {"content": [...]} of a chat reply's logprobs.
Json chat_logprob_json(const text::Tokenizer& tokenizer, const engine::TokenEvent& token);

// The four lists of a text completion's logprobs, filled token by token.
class CompletionLogprobs {
 public:
  // offset: of the token's text in the reply's, in characters.
  void add(const text::Tokenizer& tokenizer, const engine::TokenEvent& token, bool has_logprob);
  void clear_lists();  // after a chunk was sent; the offset goes on
  Json json() const;

 private:
  Json tokens_ = Json::array(), logprobs_ = Json::array(), top_ = Json::array(), offsets_ = Json::array();
  size_t offset_ = 0;
};

std::string sse(const Json& json);  // "data: …\n\n"
// The event of no choice that stands at the end of a stream.
std::string usage_event(const ReplyHead& head, const std::string& object_suffix, const Usage& usage);
extern const std::string kSseDone;       // "data: [DONE]\n\n"
extern const std::string kSseKeepAlive;  // a comment

}  // namespace teapot::server
