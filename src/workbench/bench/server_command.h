// A server that a matrix starts by a command of its user.
#pragma once

#include <atomic>
#include <memory>

#include "workbench/bench/child_process.h"
#include "workbench/bench/matrix_plan.h"

namespace teapot::workbench {

// Starts server.command and returns when GET of server.health at its url's host is a 200; the server ends with the object. kInvalid: it
// ended before that, or something else answers there already; kBusy: it is not ready after start_timeout, or `stop` was set. Errors
// end in what it said last.
Result<std::unique_ptr<ChildProcess>> start_server(const MatrixServer& server, const std::atomic<bool>* stop);

}  // namespace teapot::workbench
