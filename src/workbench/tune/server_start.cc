#include "workbench/tune/server_start.h"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/file.h"
#include "workbench/bench/http_get.h"
#include "workbench/bench/server_facts.h"

namespace teapot::workbench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kPoll{20};
constexpr std::chrono::seconds kAnswer{5};

double seconds_since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

// A port that nobody has just now.
Result<uint16_t> free_port() {
  const int file = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  const bool good = file >= 0 && bind(file, reinterpret_cast<sockaddr*>(&address), size) == 0 &&
                    getsockname(file, reinterpret_cast<sockaddr*>(&address), &size) == 0;
  const int error = errno;
  if (file >= 0) close(file);
  if (!good) return fail(ErrorKind::kIo, "a free port: {}", std::strerror(error));
  return ntohs(address.sin_port);
}

}  // namespace

std::chrono::seconds end_timeout_of(std::string_view stop) {
  constexpr std::string_view kWait = "wait ";
  const size_t wait = stop.find(kWait);
  unsigned seconds = 0;
  if (wait == stop.npos) return ChildOptions{}.end_timeout;
  for (size_t i = wait + kWait.size(); i < stop.size() && stop[i] >= '0' && stop[i] <= '9' && seconds < 3600; ++i) {
    seconds = 10 * seconds + static_cast<unsigned>(stop[i] - '0');
  }
  return seconds == 0 ? ChildOptions{}.end_timeout : std::chrono::seconds(seconds);
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
  TEAPOT_TRY(const uint16_t port, free_port());
  TEAPOT_TRY(const uint16_t port2, free_port());
  placeholders["port"] = std::to_string(port);
  placeholders["port2"] = std::to_string(port2);
  TEAPOT_TRY(server->command_, build_command(catalogue, server->resolved_, placeholders));
  server->endpoint_.host = "127.0.0.1";
  server->endpoint_.port = port;
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
  std::ifstream file(fmt::format("/proc/{}/{}", process_->pid(), name), std::ios::binary);
  if (!file) return std::nullopt;
  return std::string(std::istreambuf_iterator<char>(file), {});
}

std::string StartedServer::version() const {
  const std::string target = target_of(options_.catalogue->launch.version);
  if (target.empty()) return "";
  const auto body = get(target);
  if (!body) return "";
  const auto json = parse_json(*body, target);
  if (json && json->is_object() && json->contains("version") && (*json)["version"].is_string())
    return (*json)["version"].get<std::string>();
  return body->substr(0, body->find('\n'));
}

}  // namespace teapot::workbench
