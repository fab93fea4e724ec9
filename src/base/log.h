// The program's log: one logger on stderr, so that stdout belongs to the command's result; a server's goes to a file too.
#pragma once

#include <string>

#include <spdlog/spdlog.h>

#include "base/error.h"

namespace teapot::log {

using spdlog::debug;
using spdlog::error;
using spdlog::info;
using spdlog::warn;

// Sends the default logger to stderr. Call once, first thing in main. A terminal gets colours; a pipe that nobody reads loses lines
// and stops nobody.
void to_stderr(spdlog::level::level_enum level);

// Appends what is logged to this file too, with the time of each line; call after to_stderr, before there are other threads. kIo when
// the file cannot be opened. Later failures (a full disk) lose lines; the first one is told on stderr.
Status also_to(const std::string& path);

}  // namespace teapot::log
