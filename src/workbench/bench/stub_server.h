// A server in this process whose replies are a script's: what the client itself costs is measured against it, and tests know from it what
// the client should have seen, and when.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "server/http_server.h"
#include "workbench/bench/endpoint.h"

namespace teapot::workbench {

enum class StubFault : uint8_t {
  kNone,
  kRefuse,      // 400 instead of a reply
  kFail,        // 500 instead of a reply
  kErrorEvent,  // an error object in the stream, then its end
  kDie,         // the connection ends without a word
  kStall,       // nothing more comes, and the connection stays
  kNonsense,    // an event that is no JSON
  kNoFinish,    // the stream ends well, but no finish_reason comes
};

// One reply. Events with text come ttft after the request, then itl apart; what stands before the first (the role) comes at once.
struct StubScript {
  std::chrono::microseconds ttft{0}, itl{0};
  uint32_t tokens = 16;
  uint32_t tokens_per_event = 1;  // speculation sends several in one; the last event has the rest
  bool usage = true;              // in the last event
  bool usage_in_events = false;   // and in each
  uint32_t prompt_tokens = 0, cached_tokens = 0;
  uint32_t drafted = 0, accepted = 0;  // 0 drafted: not told
  StubFault fault = StubFault::kNone;
  uint32_t fault_after = 0;  // events with text before the fault
};

// What the stub did, by the client's clock.
struct StubReply {
  int64_t received_ns = 0;          // when the request had been read
  std::vector<int64_t> written_ns;  // [events with text], just before each was written
};

class StubServer {
 public:
  // script: of the n-th request that comes, called on the stub's threads. A reply's text begins with "#n ".
  using Script = std::function<StubScript(uint32_t request)>;

  // On a free port of the loopback. kIo: there is none.
  static Result<std::unique_ptr<StubServer>> start(Script script, int threads = 1);
  ~StubServer();

  const Endpoint& endpoint() const { return endpoint_; }
  // No further connections, and the open ones end: from the client's side, the server has died.
  void stop();

  // [requests so far]
  std::vector<StubReply> replies() const;

 private:
  explicit StubServer(Script script) : script_(std::move(script)) {}

  server::asio::awaitable<void> answer(server::Exchange& exchange);
  server::asio::awaitable<void> stream(server::Exchange& exchange, const StubScript& script, uint32_t number, bool chat);

  Script script_;
  Endpoint endpoint_;
  mutable std::mutex mutex_;
  std::vector<StubReply> replies_;            // guarded by mutex_
  std::unique_ptr<server::HttpServer> http_;  // last: its threads end before what they use
};

}  // namespace teapot::workbench
