// Requests sent to a server by a given number of users at a time, each reply timed at the socket.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "workbench/bench/endpoint.h"
#include "workbench/bench/request_record.h"

namespace teapot::workbench {

struct LoadRequest {
  std::string body;                // JSON, as it is sent
  bool stream = true;              // what `body` asks for
  uint32_t prompt_tokens = 0;      // that usage must show; 0: whatever it shows
  uint32_t completion_tokens = 0;  // the same
};

struct LoadOptions {
  uint32_t parallel = 1;  // users: connections that each wait for a reply before they send the next request
  double rate = 0;        // requests a second, started at random (Poisson) times by `seed`; 0: as soon as a user is free
  uint64_t seed = 0;      // of the arrival times
  uint32_t warmup = 0;    // so many of the first requests are sent before, `parallel` at a time, and are not in the result
  bool keep_text = true;  // content and reasoning in the records
  std::chrono::milliseconds connect_timeout{10'000};
  std::chrono::milliseconds token_timeout{120'000};  // without a token or finish_reason, from the end of the request on
  std::vector<unsigned> client_cpus;                 // the client's threads run there; empty: anywhere
};

// Called from the client's threads, one at a time.
struct LoadEvents {
  std::function<void(const RequestRecord& record)> done;          // a request ended, warm-ups included
  std::function<void(uint32_t chunks, double tpot_ms)> progress;  // at most every 100 ms: chunks so far, mean TPOT of the running replies
  const std::atomic<bool>* stop = nullptr;                        // set: no further requests; running ones become kCancelled
};

struct LoadResult {
  uint32_t parallel = 0;
  double rate = 0;
  std::vector<RequestRecord> records;  // [requests less warm-ups], in the order of the requests
  int64_t start_ns = 0, end_ns = 0;    // first request's start, last one's end
  double client_cpu_s = 0;             // processor time of the client's threads from start to end
};

// Faults of the server are in the records; an error is what stopped the client itself (threads, memory, a processor that is not there).
Result<LoadResult> run_load(const Endpoint& endpoint, std::span<const LoadRequest> requests, const LoadOptions& options,
                            const LoadEvents& events = {});

}  // namespace teapot::workbench
