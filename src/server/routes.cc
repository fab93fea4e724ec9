#include "server/routes.h"

#include <array>
#include <string_view>

#include <boost/beast/core/string.hpp>

#include "base/json.h"
#include "server/api_error.h"

namespace teapot::server {
namespace {

using Endpoint = asio::awaitable<void> (*)(LoadedModel&, Exchange&);

struct Route {
  std::string_view path;
  std::string_view method;
  Endpoint endpoint;
  bool guarded = false;  // shows what others do: for who has the key or, where there is none, for this host
};

constexpr std::array kRoutes = {
    Route{"/v1/chat/completions", "POST", chat_completions},
    Route{"/v1/completions", "POST", completions},
    Route{"/v1/models", "GET", models},
    Route{"/tokenize", "POST", tokenize},
    Route{"/detokenize", "POST", detokenize},
    Route{"/v1/status", "GET", engine_status},
    Route{"/reset_prefix_cache", "POST", reset_prefix_cache},
    Route{"/v1/profile", "POST", profile, true},
};

// 200 when requests are served, 503 with the progress while the model loads.
HttpReply health(const ServerState& state) {
  if (const LoadedModel* model = state.model->ready(); model != nullptr && !state.winding_down) {
    const auto load = model->engine->load();
    return json_reply(200, dump_json({{"status", "ok"}, {"running", load.running}, {"waiting", load.waiting}}));
  }
  if (state.winding_down) return json_reply(503, dump_json({{"status", "stopping"}}));
  return json_reply(503, dump_json({{"status", "loading"}, {"progress", state.model->progress()}}));
}

HttpReply version(const ServerState&) { return json_reply(200, dump_json({{"version", TEAPOT_VERSION}})); }

HttpReply metrics(const ServerState& state) {
  const LoadedModel* model = state.model->ready();
  HttpReply reply;
  reply.content_type = kMetricsType;
  if (model == nullptr) {
    reply.body = state.metrics->text(state.model->progress(), std::nullopt);
  } else {
    reply.body = state.metrics->text(1, EngineFigures{model->engine->load(), model->engine->status()});
  }
  return reply;
}

// Those that ask for no key, which balancers and collectors do not have, and that answer while the model loads.
struct OpenRoute {
  std::string_view path;
  HttpReply (*reply)(const ServerState&);
};

constexpr std::array kOpenRoutes = {OpenRoute{"/health", health}, OpenRoute{"/version", version}, OpenRoute{"/metrics", metrics}};

// Takes as long for any wrong key of the right length.
bool same_secret(std::string_view given, std::string_view expected) {
  if (given.size() != expected.size()) return false;
  unsigned char difference = 0;
  for (size_t i = 0; i < given.size(); ++i) difference |= static_cast<unsigned char>(given[i] ^ expected[i]);
  return difference == 0;
}

bool authorised(const ServerState& state, const HttpRequest& request) {
  if (state.api_key.empty()) return true;
  constexpr std::string_view kBearer = "Bearer ";
  const std::string_view header = request.authorization;
  return header.size() > kBearer.size() && boost::beast::iequals(header.substr(0, kBearer.size()), kBearer) &&
         same_secret(header.substr(kBearer.size()), state.api_key);
}

HttpReply method_not_allowed(const HttpRequest& request, std::string_view allowed) {
  HttpReply reply =
      error_reply({405, fmt::format("{} {} is not allowed; use {}", request.method, request.path, allowed), "", "method_not_allowed", 0});
  reply.headers.emplace_back("Allow", allowed);
  return reply;
}

bool is_get(const HttpRequest& request) { return request.method == "GET" || request.method == "HEAD"; }

}  // namespace

asio::awaitable<void> route(ServerState& state, Exchange& exchange) {
  const HttpRequest& request = exchange.request();
  for (const OpenRoute& candidate : kOpenRoutes) {
    if (candidate.path != request.path) continue;
    HttpReply reply = is_get(request) ? candidate.reply(state) : method_not_allowed(request, "GET");
    co_await exchange.reply(std::move(reply));
    co_return;
  }
  const Route* found = nullptr;
  for (const Route& candidate : kRoutes) {
    if (candidate.path == request.path) found = &candidate;
  }
  std::optional<HttpReply> refusal;
  if (found == nullptr) {
    refusal = error_reply({404, fmt::format("there is no {} here", request.path), "", "not_found", 0});
  } else if (found->method != request.method && !(found->method == "GET" && is_get(request))) {
    refusal = method_not_allowed(request, found->method);
  } else if (!authorised(state, request)) {
    refusal = error_reply({401, request.authorization.empty() ? "an API key is needed: Authorization: Bearer KEY" : "the API key is wrong",
                           "", "invalid_api_key", 0});
  } else if (found->guarded && state.api_key.empty() && !request.from_this_host) {
    refusal =
        error_reply({403, fmt::format("{} is for clients on this host only, unless the server has an API key (--api-key)", found->path), "",
                     "not_local", 0});
  } else if (state.winding_down) {
    refusal = error_reply({503, "the server is stopping", "", "stopping", 1});
  } else if (state.model->ready() == nullptr) {
    refusal = error_reply({503, fmt::format("the model is being loaded: {:.0f} %", state.model->progress() * 100), "", "loading", 1});
  }
  if (refusal) {
    co_await exchange.reply(*std::move(refusal));
  } else {
    co_await found->endpoint(*state.model->ready(), exchange);
  }
}

}  // namespace teapot::server
