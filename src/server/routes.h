// Which path and method does what; authorisation, and errors as OpenAI's objects.
#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "server/http.h"
#include "server/metrics.h"
#include "server/model_service.h"

namespace teapot::server {

struct ServerState {
  ModelService* model = nullptr;  // set before the first request, as is metrics
  std::shared_ptr<Metrics> metrics;
  std::string api_key;  // empty: none is asked for
  std::atomic<bool> winding_down = false;
};

asio::awaitable<void> route(ServerState& state, Exchange& exchange);

// The endpoints; each replies exactly once. The body has not been looked at.
asio::awaitable<void> chat_completions(LoadedModel& model, Exchange& exchange);
asio::awaitable<void> completions(LoadedModel& model, Exchange& exchange);
asio::awaitable<void> tokenize(LoadedModel& model, Exchange& exchange);
asio::awaitable<void> detokenize(LoadedModel& model, Exchange& exchange);
asio::awaitable<void> models(LoadedModel& model, Exchange& exchange);
asio::awaitable<void> engine_status(LoadedModel& model, Exchange& exchange);
asio::awaitable<void> reset_prefix_cache(LoadedModel& model, Exchange& exchange);
asio::awaitable<void> profile(LoadedModel& model, Exchange& exchange);

}  // namespace teapot::server
