#include "workbench/bench/serve_child.h"

#include <charconv>
#include <cstring>
#include <filesystem>
#include <optional>
#include <thread>

#include "base/file.h"
#include "workbench/bench/http_get.h"

namespace teapot::workbench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kPoll{20};

std::optional<uint16_t> read_port(const std::string& path) {
  const auto text = read_file(path);
  if (!text || !text->ends_with('\n')) return std::nullopt;
  uint16_t port = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size() - 1, port);
  if (error != std::errc{} || end != text->data() + text->size() - 1) return std::nullopt;
  return port;
}

}  // namespace

Result<std::unique_ptr<ServeChild>> ServeChild::start(const ServeChildOptions& options) {
  std::string folder = (std::filesystem::temp_directory_path() / "teapot-bench-XXXXXX").string();
  if (mkdtemp(folder.data()) == nullptr) return fail(ErrorKind::kIo, "{}: {}", folder, std::strerror(errno));
  const std::string port_file = folder + "/port";
  std::unique_ptr<ServeChild> child(new ServeChild);
  Status status = child->spawn(options, port_file);
  if (status) status = child->wait_until_ready(options, port_file);
  std::error_code ignored;
  std::filesystem::remove_all(folder, ignored);
  if (!status) return std::unexpected(std::move(status).error());
  return child;
}

Status ServeChild::spawn(const ServeChildOptions& options, const std::string& port_file) {
  std::vector<std::string> words = {options.program, "serve", options.model, "--port", "0", "--port-file", port_file};
  words.insert(words.end(), options.arguments.begin(), options.arguments.end());
  std::vector<std::pair<std::string, std::string>> variables;
  if (!options.api_key.empty()) variables.emplace_back("TEAPOT_API_KEY", options.api_key);  // an argument could be read by anybody
  TEAPOT_TRY(process_, ChildProcess::start(words, variables));
  endpoint_.host = "127.0.0.1";
  endpoint_.api_key = options.api_key;
  return {};
}

// The port opens before the model is loaded; until then /health is a 503.
Status ServeChild::wait_until_ready(const ServeChildOptions& options, const std::string& port_file) {
  const auto end = Clock::now() + options.ready_timeout;
  std::optional<uint16_t> port;
  while (true) {
    if (const std::string how = ended(); !how.empty()) {
      return fail(ErrorKind::kInvalid, "teapot serve {} has ended ({}) before it was ready:\n{}", options.model, how, log_tail());
    }
    if (options.stop != nullptr && *options.stop) return fail(ErrorKind::kBusy, "stopped before the server was ready");
    if (Clock::now() > end) {
      return fail(ErrorKind::kBusy, "teapot serve {} is not ready after {} s:\n{}", options.model, options.ready_timeout.count(),
                  log_tail());
    }
    if (!port && (port = read_port(port_file))) endpoint_.port = *port;
    if (port) {
      const auto health = http_get(endpoint_.with_target("/health"), std::chrono::seconds(10));
      if (health && health->status == 200) return {};
    }
    std::this_thread::sleep_for(kPoll);
  }
}

}  // namespace teapot::workbench
