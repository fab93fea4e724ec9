// The program's log: one logger on stderr, so that stdout belongs to the command's result.
#pragma once

#include <spdlog/spdlog.h>

namespace teapot::log {

using spdlog::debug;
using spdlog::error;
using spdlog::info;
using spdlog::warn;

// Sends the default logger to stderr. Call once, first thing in main.
void to_stderr(spdlog::level::level_enum level);

}  // namespace teapot::log
