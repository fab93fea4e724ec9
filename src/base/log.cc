#include "base/log.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include <spdlog/sinks/stdout_color_sinks.h>

#include "base/log_sink.h"

namespace teapot::log {

void to_stderr(spdlog::level::level_enum level) {
  spdlog::sink_ptr sink;
  if (isatty(STDERR_FILENO) != 0) {
    sink = std::make_shared<spdlog::sinks::stderr_color_sink_mt>();
  } else {
    sink = std::make_shared<LossySink>(STDERR_FILENO, nullptr);
  }
  auto logger = std::make_shared<spdlog::logger>("teapot", std::move(sink));
  logger->set_pattern("%^%l%$: %v");
  logger->set_level(level);
  spdlog::set_default_logger(std::move(logger));
}

Status also_to(const std::string& path) {
  // Open to the end of the process; not blocking, for a path may name a pipe.
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK, 0644);
  if (fd < 0) return fail(ErrorKind::kIo, "{}: the log cannot be opened: {}", path, std::generic_category().message(errno));
  auto& sinks = spdlog::default_logger()->sinks();
  auto file = std::make_shared<LossySink>(fd, [path, console = sinks.front()](const std::string& reason) {
    const std::string text = fmt::format("{}: the log cannot be written ({}); its lines are lost until it can", path, reason);
    console->log(spdlog::details::log_msg("teapot", spdlog::level::err, text));
  });
  file->set_pattern("%Y-%m-%dT%H:%M:%S.%e%z %l %v");
  sinks.push_back(std::move(file));
  return {};
}

}  // namespace teapot::log
