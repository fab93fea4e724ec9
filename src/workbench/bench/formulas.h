// What each figure of a report means, in the words that every report prints.
#pragma once

#include <array>
#include <string_view>
#include <utility>

namespace teapot::workbench {

inline constexpr std::array<std::pair<std::string_view, std::string_view>, 9> kFormulas = {{
    {"TTFT", "first chunk of content, reasoning or a tool call - first byte of the request; a reply that is not streamed has none"},
    {"TPOT", "(event with finish_reason - first chunk) / (output tokens of usage - 1); replies of two tokens or more in two reads or more"},
    {"ITL", "time between two chunks of a reply; a chunk is an event with text, and may bring several tokens"},
    {"latency", "end of the reply - first byte of the request"},
    {"tokens a chunk", "as the server tells in each event, else output tokens of the reply / its chunks"},
    {"output tok/s", "output tokens of the replies that succeeded / (end of the last request - start of the first)"},
    {"total tok/s", "the same with their prompt tokens"},
    {"percentiles", "by linear interpolation between the order statistics; over replies that succeeded, warm-up left out"},
    {"clock", "monotonic, read when the socket's read returned; events of one read share its time"},
}};

}  // namespace teapot::workbench
