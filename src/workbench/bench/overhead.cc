#include "workbench/bench/overhead.h"

#include <algorithm>
#include <cstdlib>

#include "workbench/bench/dataset.h"
#include "workbench/bench/request_body.h"
#include "workbench/bench/stub_server.h"
#include "workbench/figures.h"

namespace teapot::workbench {
namespace {

// The difference between replies of these lengths is what events cost; what is left is the request's.
constexpr uint32_t kShort = 1, kLong = 257;
constexpr uint32_t kRequests = 64;  // at least; each user sends two

struct Cost {
  double cpu_us = 0;  // a request, with its events
  double events_per_second = 0;
  double delay_us = 0;
};

Result<Cost> measure(const Endpoint& endpoint, uint32_t parallel, const std::vector<unsigned>& cpus) {
  const BodyOptions body;
  const uint32_t count = std::max(kRequests, 2 * parallel);
  const std::vector<LoadRequest> requests(count, make_request(prompt_of("hi", body), body, false));
  LoadOptions options;
  options.parallel = parallel;
  options.client_cpus = cpus;
  TEAPOT_TRY(const LoadResult load, run_load(endpoint, requests, options));
  uint64_t events = 0;
  for (const RequestRecord& record : load.records) {
    if (record.outcome != Outcome::kOk) return fail(ErrorKind::kIo, "the client's own cost cannot be measured: {}", record.error);
    events += record.chunks.size();
  }
  Cost cost;
  cost.cpu_us = load.client_cpu_s * 1e6 / count;
  cost.events_per_second = static_cast<double>(events) * 1e9 / static_cast<double>(std::max<int64_t>(1, load.end_ns - load.start_ns));
  return cost;
}

// How late the client's clock is: one user, events some time apart.
Result<double> measure_delay(const std::vector<unsigned>& cpus) {
  TEAPOT_TRY(const auto stub, StubServer::start([](uint32_t) {
               StubScript script;
               script.ttft = script.itl = std::chrono::microseconds(500);
               script.tokens = 200;
               return script;
             }));
  const BodyOptions body;
  const std::vector<LoadRequest> requests(1, make_request(prompt_of("hi", body), body, false));
  LoadOptions options;
  options.client_cpus = cpus;
  TEAPOT_TRY(const LoadResult load, run_load(stub->endpoint(), requests, options));
  const StubReply reply = stub->replies().at(0);
  const RequestRecord& record = load.records.at(0);
  if (record.outcome != Outcome::kOk || record.chunks.size() != reply.written_ns.size())
    return fail(ErrorKind::kIo, "the client's own delay cannot be measured: {}", record.error);
  std::vector<double> delays;
  for (size_t i = 0; i < record.chunks.size(); ++i)
    delays.push_back(static_cast<double>(record.chunks[i].at_ns - reply.written_ns[i]) * 1e-3);
  return median(std::move(delays));
}

}  // namespace

Result<ClientOverhead> measure_overhead(uint32_t parallel, const std::vector<unsigned>& client_cpus) {
  std::vector<Cost> costs;
  for (const uint32_t tokens : {kShort, kLong}) {
    TEAPOT_TRY(const auto stub, StubServer::start([tokens](uint32_t) {
                 StubScript script;
                 script.tokens = tokens;
                 return script;
               }));
    TEAPOT_TRY(costs.emplace_back(), measure(stub->endpoint(), parallel, client_cpus));
  }
  ClientOverhead overhead;
  overhead.parallel = parallel;
  overhead.us_per_event = std::max(0.0, costs[1].cpu_us - costs[0].cpu_us) / (kLong - kShort);
  overhead.us_per_request = std::max(0.0, costs[0].cpu_us - kShort * overhead.us_per_event);
  overhead.events_per_second = costs[1].events_per_second;
  TEAPOT_TRY(overhead.delay_us, measure_delay(client_cpus));
  return overhead;
}

Json to_json(const ClientOverhead& overhead) {
  return {{"parallel", overhead.parallel},
          {"us_per_request", overhead.us_per_request},
          {"us_per_event", overhead.us_per_event},
          {"delay_us", overhead.delay_us},
          {"events_per_second", overhead.events_per_second}};
}

}  // namespace teapot::workbench
