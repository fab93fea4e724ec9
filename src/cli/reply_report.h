// How commands tell of a reply's end.
#pragma once

#include <string>
#include <string_view>

#include "base/json.h"
#include "engine/request.h"

namespace teapot::cli {

std::string_view finish_reason_name(engine::FinishReason reason);  // "stop", "length", "cancelled", "error"

// The server's `timings`, and the token counts.
Json timings_json(const engine::Timings& timings);

// "87 tokens, 412.0 tok/s, TPOT 2.43 ms, first token after 31 ms"
std::string timings_line(const engine::Timings& timings);

}  // namespace teapot::cli
