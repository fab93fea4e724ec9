#include "workbench/bench/stub_server.h"

#include <algorithm>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "base/json.h"
#include "server/api_error.h"
#include "workbench/bench/client_connection.h"

namespace teapot::workbench {

namespace asio = boost::asio;

namespace {

constexpr auto kTuple = asio::as_tuple(asio::use_awaitable);

std::string sse(const Json& event) { return "data: " + dump_json(event) + "\n\n"; }

Json usage_json(const StubScript& script, uint32_t tokens) {
  return {{"prompt_tokens", script.prompt_tokens},
          {"completion_tokens", tokens},
          {"total_tokens", script.prompt_tokens + tokens},
          {"prompt_tokens_details", {{"cached_tokens", script.cached_tokens}}}};
}

Json choices_json(bool chat, bool stream, const std::string& text, const Json& finish_reason) {
  Json choice = {{"index", 0}};
  if (chat) {
    choice[stream ? "delta" : "message"] = {{"content", text}};
  } else {
    choice["text"] = text;
  }
  choice["finish_reason"] = finish_reason;
  return Json::array({std::move(choice)});
}

Json with_choices(Json choices) {
  Json reply = {{"id", "stub"}, {"model", "stub"}};
  reply["choices"] = std::move(choices);
  return reply;
}

std::string error_event() { return sse({{"error", {{"message", "as scripted"}}}}); }

uint32_t events_of(const StubScript& script) { return (script.tokens + script.tokens_per_event - 1) / script.tokens_per_event; }

// Text of the tokens that come with one event.
std::string text_of(const StubScript& script, uint32_t number, uint32_t event) {
  const uint32_t before = event * script.tokens_per_event;
  std::string text = event == 0 ? fmt::format("#{} ", number) : "";
  for (uint32_t i = before; i < std::min(before + script.tokens_per_event, script.tokens); ++i) text += "x ";
  return text;
}

// What comes before the first text.
std::string beginning(bool chat) { return ": a comment\n\n" + sse(with_choices(choices_json(chat, true, "", nullptr))); }

// The last events: finish reason, speculation, usage, [DONE].
std::string ending(const StubScript& script, bool chat) {
  Json last = with_choices(choices_json(chat, true, "", "length"));
  if (script.drafted > 0) last["timings"] = {{"speculation", {{"drafted", script.drafted}, {"accepted", script.accepted}}}};
  std::string out = sse(last);
  if (script.usage) {
    Json event = with_choices(Json::array());
    event["usage"] = usage_json(script, script.tokens);
    out += sse(event);
  }
  return out + "data: [DONE]\n\n";
}

server::HttpReply whole_reply(const StubScript& script, uint32_t number, bool chat) {
  std::string text;
  for (uint32_t event = 0; event < events_of(script); ++event) text += text_of(script, number, event);
  Json reply = with_choices(choices_json(chat, false, text, "length"));
  if (script.usage) reply["usage"] = usage_json(script, script.tokens);
  return server::json_reply(200, dump_json(reply));
}

server::HttpReply error_reply(unsigned status, const std::string& message) {
  return server::error_reply(server::ApiError{status, message, "", "", 0});
}

server::HttpReply models_reply() { return server::json_reply(200, R"({"object": "list", "data": [{"id": "stub", "object": "model"}]})"); }

server::HttpReply healthy_reply() { return server::json_reply(200, "{}"); }

asio::awaitable<void> wait_until(int64_t at_ns) {
  if (client_now_ns() >= at_ns) co_return;
  asio::steady_timer timer(co_await asio::this_coro::executor);
  timer.expires_at(std::chrono::steady_clock::time_point(std::chrono::nanoseconds(at_ns)));
  co_await timer.async_wait(kTuple);
}

// Until the client has gone.
asio::awaitable<void> stall(server::Exchange& exchange) {
  while (!exchange.gone()) co_await wait_until(client_now_ns() + 10'000'000);
}

}  // namespace

Result<std::unique_ptr<StubServer>> StubServer::start(Script script, int threads) {
  std::unique_ptr<StubServer> stub(new StubServer(std::move(script)));
  server::HttpContext context;
  context.handler = [stub = stub.get()](server::Exchange& exchange) { return stub->answer(exchange); };
  context.error_body = [](unsigned status, const std::string& message) { return server::error_body({status, message, "", "", 0}); };
  TEAPOT_TRY(stub->http_, server::HttpServer::listen("127.0.0.1", 0, std::move(context)));
  stub->endpoint_.host = "127.0.0.1";
  stub->endpoint_.port = stub->http_->port();
  stub->http_->start(threads);
  return stub;
}

StubServer::~StubServer() { stop(); }

void StubServer::stop() { http_.reset(); }

std::vector<StubReply> StubServer::replies() const {
  const std::lock_guard lock(mutex_);
  return replies_;
}

asio::awaitable<void> StubServer::answer(server::Exchange& exchange) {
  const int64_t received_ns = client_now_ns();
  const server::HttpRequest& request = exchange.request();
  if (request.path.ends_with("/v1/models")) {
    co_await exchange.reply(models_reply());
    co_return;
  }
  if (request.path == "/health") {
    co_await exchange.reply(healthy_reply());
    co_return;
  }
  const bool chat = request.path.ends_with("/chat/completions");
  const auto body = parse_json(request.body, "request body");
  if (!request.path.ends_with("/completions") || !body || !body->is_object()) {
    co_await exchange.reply(error_reply(404, "the stub knows completions only"));
    co_return;
  }
  uint32_t number = 0;
  {
    const std::lock_guard lock(mutex_);
    number = static_cast<uint32_t>(replies_.size());
    replies_.push_back({received_ns, {}});
  }
  const StubScript script = script_(number);
  if (script.fault == StubFault::kRefuse || script.fault == StubFault::kFail) {
    const unsigned status = script.fault == StubFault::kRefuse ? 400 : 500;
    co_await exchange.reply(error_reply(status, "as scripted"));
  } else if (body->value("stream", Json()) == true) {
    co_await stream(exchange, script, number, chat);
  } else {
    co_await wait_until(received_ns + std::chrono::nanoseconds(script.ttft + script.itl * (events_of(script) - 1)).count());
    co_await exchange.reply(whole_reply(script, number, chat));
  }
}

asio::awaitable<void> StubServer::stream(server::Exchange& exchange, const StubScript& script, uint32_t number, bool chat) {
  int64_t received_ns = 0;
  {
    const std::lock_guard lock(mutex_);
    received_ns = replies_[number].received_ns;
  }
  if (!co_await exchange.begin_events()) co_return;
  co_await exchange.write_events(beginning(chat));
  std::vector<int64_t> written_ns;
  const uint32_t events = events_of(script);
  const uint32_t until = script.fault == StubFault::kNone ? events : std::min(events, script.fault_after);
  for (uint32_t event = 0; event < until; ++event) {
    Json json = with_choices(choices_json(chat, true, text_of(script, number, event), nullptr));
    if (script.usage_in_events) json["usage"] = usage_json(script, std::min((event + 1) * script.tokens_per_event, script.tokens));
    std::string bytes = sse(json);
    co_await wait_until(received_ns + std::chrono::nanoseconds(script.ttft + script.itl * event).count());
    written_ns.push_back(client_now_ns());
    if (!co_await exchange.write_events(std::move(bytes))) co_return;
  }
  {
    const std::lock_guard lock(mutex_);
    replies_[number].written_ns = std::move(written_ns);
  }
  switch (script.fault) {
    case StubFault::kDie:
      exchange.drop();
      co_return;
    case StubFault::kStall:
      co_await stall(exchange);
      co_return;
    case StubFault::kErrorEvent:
      co_await exchange.write_events(error_event());
      break;
    case StubFault::kNonsense:
      co_await exchange.write_events("data: {\"choices\": [\n\n");
      break;
    case StubFault::kNoFinish:
      break;
    default:
      co_await exchange.write_events(ending(script, chat));
  }
  co_await exchange.end_events();
}

}  // namespace teapot::workbench
