// POST /v1/profile: the next steps, as our trace. What it is asked for and by whom is the router's and the parser's to check.
#include <memory>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "engine/trace_json.h"
#include "server/fields.h"
#include "server/profile_request.h"
#include "server/routes.h"

namespace teapot::server {
namespace {

constexpr auto kTuple = asio::as_tuple(asio::use_awaitable);

ApiResult<ProfileRequest> request_of(const Exchange& exchange) {
  TEAPOT_TRY(const Json body, parse_body(exchange.request().body));
  return parse_profile(body);
}

// Both on the connection's strand.
struct Waiting {
  explicit Waiting(const asio::any_io_executor& strand) : timer(strand) {}

  asio::steady_timer timer;
  std::shared_ptr<engine::Recording> recording;
};

// False: another one is being recorded.
bool begin(engine::Engine& engine, uint32_t steps, const std::shared_ptr<Waiting>& waiting) {
  const Status begun = engine.record(steps, [waiting](std::unique_ptr<engine::Recording> recording) {
    asio::post(waiting->timer.get_executor(), [waiting, done = std::shared_ptr<engine::Recording>(std::move(recording))] {
      waiting->recording = done;
      waiting->timer.cancel();
    });
  });
  return begun.has_value();
}

}  // namespace

asio::awaitable<void> profile(LoadedModel& model, Exchange& exchange) {
  engine::Engine& engine = *model.engine;
  const ApiResult<ProfileRequest> request = request_of(exchange);
  if (!request) {
    co_await exchange.reply(error_reply(request.error()));
    co_return;
  }
  const auto waiting = std::make_shared<Waiting>(exchange.executor());
  waiting->timer.expires_after(request->timeout);
  if (!begin(engine, request->steps, waiting)) {
    HttpReply busy = error_reply({409, "steps are being recorded for somebody else; one at a time", "", "busy", 0});
    co_await exchange.reply(std::move(busy));
    co_return;
  }
  exchange.on_gone([waiting] { waiting->timer.cancel(); });
  if (waiting->recording == nullptr && !exchange.gone()) co_await waiting->timer.async_wait(kTuple);
  if (waiting->recording == nullptr) {  // the time is over, or the client has gone; within a step there is an answer
    engine.stop_recording();
    waiting->timer.expires_at(asio::steady_timer::time_point::max());
  }
  while (waiting->recording == nullptr) co_await waiting->timer.async_wait(kTuple);
  if (exchange.gone()) co_return;
  engine::TraceFacts facts;
  facts.model = model.served_name;
  co_await exchange.reply(json_reply(200, engine::trace_json(*waiting->recording, facts)));
}

}  // namespace teapot::server
