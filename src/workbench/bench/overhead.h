// What the client itself costs: measured against a server that replies at once, so that a reader knows what it can have added.
#pragma once

#include <cstdint>
#include <vector>

#include "base/error.h"
#include "base/json.h"

namespace teapot::workbench {

struct ClientOverhead {
  uint32_t parallel = 0;         // users at a time
  double us_per_request = 0;     // processor time of the client's threads for a request: connection kept, body sent, record made
  double us_per_event = 0;       // and for each event of its reply: read, clock, parse
  double delay_us = 0;           // median of: the client's clock at an event, less the server's just before writing it
  double events_per_second = 0;  // that the client read while the server wrote as fast as it could
};

// Some tenths of a second, on the processors that the client will have. kIo: the loopback can't be used.
Result<ClientOverhead> measure_overhead(uint32_t parallel, const std::vector<unsigned>& client_cpus);

Json to_json(const ClientOverhead& overhead);

}  // namespace teapot::workbench
