#include "server/serve.h"

#include <csignal>
#include <cstdlib>

#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>

#include "base/file.h"
#include "base/log.h"
#include "base/path_name.h"
#include "engine/load_engine.h"
#include "server/api_error.h"
#include "server/http_server.h"
#include "server/observers.h"
#include "server/request_log.h"
#include "server/routes.h"
#include "server/stop_deadline.h"

namespace teapot::server {
namespace {

constexpr int kIoThreads = 4;  // sockets, JSON and tokenizing; the others keep streams going while one tokenizes a long prompt
constexpr std::chrono::milliseconds kDrainPoll{20};
constexpr std::chrono::milliseconds kStopTime{10'000};  // after the grace, for dropping connections and freeing the model

std::string served_name(const ServeOptions& options) {
  return options.served_name.empty() ? name_of_path(options.model_path) : options.served_name;
}

Result<LoadedModel> load(const ServeOptions& options, std::shared_ptr<engine::EngineObserver> observer,
                         const std::function<void(uint64_t, uint64_t)>& progress) {
  engine::LoadHooks hooks;
  hooks.observer = std::move(observer);
  hooks.note = [](const std::string& note) { log::info("{}", note); };
  hooks.progress = progress;
  TEAPOT_TRY(engine::LoadedEngine loaded, engine::load_engine(options.model_path, options.engine, /*text_needed=*/true, hooks));
  log::info("context: {} tokens ({})", loaded.engine->context(), loaded.engine->context_reason());
  engine::log_switches(loaded.engine->switches(), options.verbose);
  const int64_t created = std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch()).count();
  return LoadedModel{*std::move(loaded.text), std::move(loaded.engine), served_name(options), options.engine.scheduler.max_seqs, created};
}

}  // namespace

Status serve(const ServeOptions& options) {
  std::signal(SIGPIPE, SIG_IGN);  // a log's reader that goes away is no reason to end
  // This thread's own loop: signals, the end of loading, the end of the grace.
  asio::io_context control;
  asio::signal_set signals(control, SIGTERM, SIGINT);
  StopDeadline deadline;  // outlives all that might hang
  ServerState state;
  state.api_key = options.api_key;
  state.metrics = std::make_shared<Metrics>(served_name(options));
  const auto observer = std::make_shared<Observers>(std::vector<std::shared_ptr<engine::EngineObserver>>{
      state.metrics, std::make_shared<RequestLog>([&state](int32_t id) -> std::string_view {
        const LoadedModel* model = state.model->ready();  // there, when there are prompts
        return model == nullptr ? "" : model->assets.tokenizer.bytes(id);
      })});
  HttpContext context{options.limits, [&state](Exchange& exchange) { return route(state, exchange); },
                      [](unsigned status, const std::string& message) { return error_body({status, message, "", "", 0}); }};
  TEAPOT_TRY(const auto http, HttpServer::listen(options.host, options.port, std::move(context)));
  if (!options.port_file.empty()) TEAPOT_CHECK(write_file(options.port_file, fmt::format("{}\n", http->port())));

  auto keep = asio::make_work_guard(control);
  Status result;
  ModelService model([&options, observer](const auto& progress) { return load(options, observer, progress); },
                     [&control, &result](Status loaded) {
                       asio::post(control, [&control, &result, loaded = std::move(loaded)] {
                         if (loaded) {
                           log::info("ready");
                         } else {
                           result = loaded;
                           control.stop();  // no request has got past the 503
                         }
                       });
                     });
  state.model = &model;
  http->start(kIoThreads);
  const bool bracketed = options.host.find(':') != std::string::npos;  // an IPv6 address in a URL
  log::info("listening on http://{}{}{}:{} (model: {})", bracketed ? "[" : "", options.host, bracketed ? "]" : "", http->port(),
            options.model_path);

  asio::steady_timer drain(control);
  auto grace_end = std::chrono::steady_clock::time_point::max();
  // Ends the loop when the last connection has gone; those that outlive the grace are dropped.
  std::function<void(boost::system::error_code)> wait_for_end = [&](boost::system::error_code) {
    if (http->connections() == 0) {
      control.stop();
      return;
    }
    if (std::chrono::steady_clock::now() >= grace_end) http->drop_connections();
    drain.expires_after(kDrainPoll);
    drain.async_wait(wait_for_end);
  };
  std::function<void(boost::system::error_code, int)> stop = [&](boost::system::error_code error, int signal) {
    if (error) return;
    const auto now = std::chrono::steady_clock::now();
    if (state.winding_down.exchange(true)) {  // the second signal: at once
      grace_end = now;
      deadline.arm(kStopTime);
      return;
    }
    log::info("{}: no new requests; running ones have {} s", signal == SIGTERM ? "SIGTERM" : "SIGINT", options.grace.count() / 1000.0);
    deadline.arm(options.grace + kStopTime);
    http->wind_down();
    grace_end = now + options.grace;
    wait_for_end({});
    signals.async_wait(stop);
  };
  signals.async_wait(stop);
  control.run();
  http->stop();
  if (result && model.ready() == nullptr) {
    log::info("stopped before the model was loaded");
    std::_Exit(EXIT_SUCCESS);  // loading has nothing to clean up, and waiting for its end would take as long as it does
  }
  // No connection is left that could hold a generation. The model goes first: until its thread has ended it posts to http's.
  return result;
}

}  // namespace teapot::server
