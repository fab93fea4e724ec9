// Batch commands: one JSON value a line in, one answer a line out, in the same order.
#pragma once

#include <functional>
#include <iosfwd>

#include "base/error.h"
#include "base/json.h"

namespace teapot::cli {

// Calls answer for each line of `in`. A line that is not JSON ("line N: ..."; a blank one too), or for which `answer` fails, becomes
// {"error": message}, and the rest goes on. Each answer is flushed, so that a caller may wait for it.
// kIo if `out` takes no more.
Status for_each_json_line(std::istream& in, std::ostream& out, const std::function<Result<Json>(const Json& line)>& answer);

// The same from stdin to stdout. Returns the command's exit code.
int run_json_lines(const std::function<Result<Json>(const Json& line)>& answer);

}  // namespace teapot::cli
