// What became of one request, by the client's monotonic clock (nanoseconds, read when a socket's read returned).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace teapot::workbench {

enum class Outcome : uint8_t {
  kOk,
  kConnect,    // no connection: the server is not there
  kRefused,    // 4xx
  kFailed,     // 5xx, or an error event in the stream
  kDied,       // the connection ended before the reply did
  kStalled,    // no token came for longer than the time-out
  kNonsense,   // no HTTP, no events, no JSON, or a reply without what the protocol asks for
  kLength,     // a sound reply whose tokens are not as many as asked for
  kCancelled,  // the user stopped the run
};
inline constexpr std::array<std::string_view, 9> kOutcomeNames = {"ok",      "connect",  "refused", "failed",   "died",
                                                                  "stalled", "nonsense", "length",  "cancelled"};

// One event that brought text (content, reasoning or a tool call). All events of one read share its time.
struct Chunk {
  int64_t at_ns = 0;
  uint32_t tokens = 0;  // that it brought, where the server tells (usage in each event); 0: unknown
};

struct RequestRecord {
  uint32_t index = 0;  // in the load, from 0
  Outcome outcome = Outcome::kOk;
  int status = 0;           // HTTP; 0: no reply
  std::string error;        // what was found and what was expected; empty when kOk
  bool sent_again = false;  // a kept connection had ended before a byte of a reply; the times are those on the next one

  int64_t start_ns = 0;  // before the first byte of the request was written (the connection stood already, unless it was the first)
  int64_t first_ns = 0;  // first chunk; 0: none came
  int64_t last_ns = 0;   // the event that said finish_reason, or the last chunk where none did
  int64_t end_ns = 0;    // end of the reply: its last event or byte
  std::vector<Chunk> chunks;

  bool has_usage = false;                             // both of these were told
  uint32_t prompt_tokens = 0, completion_tokens = 0;  // of usage
  std::optional<uint32_t> cached_tokens;              // where the server tells
  std::optional<uint32_t> drafted, accepted;          // speculation, where the server tells
  std::string content, reasoning, finish_reason;
};

}  // namespace teapot::workbench
