#include "workbench/tune/server_start.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/file.h"
#include "workbench/bench/http_get.h"
#include "workbench/bench/server_facts.h"
#include "workbench/tune/server_version.h"
#include "workbench/tune/value_text.h"

namespace teapot::workbench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kPoll{20};
constexpr std::chrono::seconds kAnswer{5};

double seconds_since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

// Ports that nobody has just now, no two alike: each is held until all are known.
Result<std::array<uint16_t, 2>> free_ports() {
  std::array<uint16_t, 2> ports{};
  std::array<int, 2> files = {-1, -1};
  int error = 0;
  for (size_t i = 0; i < ports.size() && error == 0; ++i) {
    files[i] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    const bool good = files[i] >= 0 && bind(files[i], reinterpret_cast<sockaddr*>(&address), size) == 0 &&
                      getsockname(files[i], reinterpret_cast<sockaddr*>(&address), &size) == 0;
    error = good ? 0 : errno;
    ports[i] = ntohs(address.sin_port);
  }
  for (const int file : files) {
    if (file >= 0) close(file);
  }
  if (error != 0) return fail(ErrorKind::kIo, "a free port: {}", std::strerror(error));
  return ports;
}

// Files of /proc have no size.
std::optional<std::string> content_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::nullopt;
  return std::string(std::istreambuf_iterator<char>(file), {});
}

}  // namespace

std::chrono::seconds end_timeout_of(std::string_view stop) {
  constexpr std::string_view kWait = "wait ";
  constexpr unsigned kMost = 3600;
  for (size_t at = 0; at < stop.size(); ++at) {
    if (!is_digit(stop[at]) || (at > 0 && stop[at - 1] != ' ' && stop[at - 1] != ',')) continue;
    unsigned seconds = 0;
    size_t end = at;
    while (end < stop.size() && is_digit(stop[end])) seconds = std::min(10 * seconds + static_cast<unsigned>(stop[end++] - '0'), kMost);
    std::string_view unit = stop.substr(end);
    while (unit.starts_with(' ')) unit.remove_prefix(1);
    const bool in_seconds = unit.starts_with('s') && (unit.size() == 1 || unit[1] == ' ' || unit[1] == ',');
    if (seconds > 0 && (in_seconds || stop.substr(0, at).ends_with(kWait))) return std::chrono::seconds(seconds);
    at = end;
  }
  return ChildOptions{}.end_timeout;
}

std::string target_of(std::string_view request) {
  if (request.starts_with("GET ")) request.remove_prefix(4);
  if (!request.starts_with('/')) return "";
  return std::string(request.substr(0, request.find_first_of(" :;,(")));
}

Result<std::unique_ptr<StartedServer>> StartedServer::start(const ServerStartOptions& options, const KnobProfile& profile,
                                                            const std::string& log_file) {
  std::unique_ptr<StartedServer> server(new StartedServer(options));
  const Catalogue& catalogue = *options.catalogue;
  TEAPOT_TRY(server->resolved_, resolve_values(catalogue, profile, options.host, options.parallel));
  Placeholders placeholders = options.placeholders;
  TEAPOT_TRY(const auto ports, free_ports());
  placeholders["port"] = std::to_string(ports[0]);
  placeholders["port2"] = std::to_string(ports[1]);
  TEAPOT_TRY(server->command_, build_command(catalogue, server->resolved_, placeholders));
  server->endpoint_.host = "127.0.0.1";
  server->endpoint_.port = ports[0];
  server->endpoint_.target = options.target;
  server->log_file_ = log_file;
  ChildOptions child;
  child.unset = server->command_.unset;
  child.log_file = log_file;
  child.end_timeout = end_timeout_of(catalogue.launch.stop);
  const auto begin = Clock::now();
  TEAPOT_TRY(server->process_, ChildProcess::start(server->command_.words, server->command_.env, child));
  TEAPOT_CHECK(server->wait_until_ready());
  server->start_s_ = seconds_since(begin);
  return server;
}

Status StartedServer::wait_until_ready() {
  const Launch& launch = options_.catalogue->launch;
  const Endpoint ready = endpoint_.with_target(target_of(launch.ready));
  const auto end = Clock::now() + std::chrono::seconds(launch.ready_timeout_s);
  for (;;) {
    if (options_.stop != nullptr && *options_.stop) return fail(ErrorKind::kBusy, "interrupted");
    if (const std::string how = process_->ended(); !how.empty()) {
      fault_ = TrialFault::kStart;
      what_ = fmt::format("it ended ({}) before it was ready{}", how, last_words());
      return {};
    }
    const auto answer = http_get(ready, kAnswer);
    if (answer && answer->status == 200) break;
    if (Clock::now() > end) {
      fault_ = TrialFault::kHang;
      what_ = fmt::format("it was not ready after {} s{}", launch.ready_timeout_s, last_words());
      return {};
    }
    std::this_thread::sleep_for(kPoll);
  }
  const ServerFacts facts = ask_server(endpoint_);
  if (!facts.models.empty()) model_ = facts.models.front();
  return {};
}

std::string StartedServer::last_words() const {
  constexpr size_t kMost = 400;
  std::string tail = process_->log_tail();
  while (!tail.empty() && tail.back() == '\n') tail.pop_back();
  if (tail.empty()) return "";
  if (tail.size() > kMost) tail = "…" + tail.substr(tail.size() - kMost);
  return "; its last words: " + tail;
}

Json StartedServer::started() const {
  Json env = Json::object();
  for (const auto& [name, value] : command_.env) env[name] = value;
  for (const std::string& name : command_.unset) env[name] = nullptr;
  return {{"args", command_.words}, {"env", std::move(env)}, {"log", log_file_}};
}

void StartedServer::set_failed(const TurnFigures& figures) {
  // A connection that ends and the process that ends are two moments.
  std::string how;
  for (int i = 0; i < 25 && how.empty(); ++i) {
    how = process_->ended();
    if (how.empty()) std::this_thread::sleep_for(kPoll);
  }
  if (!how.empty()) {
    fault_ = TrialFault::kCrash;
    what_ = fmt::format("it ended ({}) under load{}", how, last_words());
    return;
  }
  fault_ = figures.fault.starts_with("stalled") ? TrialFault::kHang : TrialFault::kRequests;
  what_ = fmt::format("{} of {} requests failed: {}", figures.failed, figures.requests, figures.fault);
}

std::optional<std::string> StartedServer::get(const std::string& target) const {
  auto answer = http_get(endpoint_.with_target(target), kAnswer);
  if (!answer || answer->status != 200) return std::nullopt;
  return std::move(answer->body);
}

std::string StartedServer::log() const {
  auto text = read_file(log_file_);
  return text ? *std::move(text) : process_->log_tail();
}

std::optional<std::string> StartedServer::process_file(const std::string& name) const {
  constexpr std::string_view kThreads = "task/*/";
  const std::string folder = fmt::format("/proc/{}/", process_->pid());
  if (!name.starts_with(kThreads)) return content_of(folder + name);
  std::optional<std::string> all;
  std::error_code error;
  for (std::filesystem::directory_iterator thread(folder + "task", error), end; !error && thread != end; thread.increment(error)) {
    if (const auto text = content_of((thread->path() / name.substr(kThreads.size())).string())) all = all.value_or("") + *text;
  }
  return all;
}

std::string StartedServer::version() const {
  const std::string target = version_question(options_.catalogue->launch, options_.placeholders).target;
  const auto body = target.empty() ? std::nullopt : get(target);
  return body ? version_in(*body) : "";
}

}  // namespace teapot::workbench
