// Bytes of a client against a real connection: request line, headers, body, then the request parsers of both completions endpoints and of
// profiles.
#include <csignal>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/write.hpp>

#include "server/chat_request.h"
#include "server/completion_request.h"
#include "server/http_connection.h"
#include "server/profile_request.h"

using namespace teapot;
using namespace teapot::server;
using boost::asio::ip::tcp;

namespace {

asio::awaitable<void> parse_and_reply(Exchange& exchange) {
  static const model::GenerationConfig kGeneration{};
  const RequestDefaults defaults{"demo", kGeneration, 4096};
  const auto body = parse_body(exchange.request().body);
  std::optional<ApiError> error;
  if (!body) {
    error = body.error();
  } else if (exchange.request().path == "/v1/profile") {
    if (const auto request = parse_profile(*body); !request) error = request.error();
  } else if (exchange.request().path == "/v1/completions") {
    if (const auto request = parse_completion(*body, defaults); !request) error = request.error();
  } else {
    if (const auto request = parse_chat(*body, defaults); !request) error = request.error();
  }
  if (error) {
    co_await exchange.reply(error_reply(*error));
  } else if (co_await exchange.begin_events() && co_await exchange.write_events("data: x\n\n")) {
    co_await exchange.end_events();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  asio::io_context io;
  static asio::io_context listening;
  static tcp::acceptor acceptor(listening, tcp::endpoint(asio::ip::address_v4::any(), 0));
  static uint32_t count = 0;
  HttpContext context;
  context.limits.header_bytes = 2048;
  context.limits.body_bytes = 1 << 16;
  context.limits.idle_timeout = std::chrono::milliseconds(200);
  context.limits.body_timeout = std::chrono::milliseconds(200);
  context.handler = parse_and_reply;
  context.error_body = [](unsigned status, const std::string& message) { return error_body({status, message, "", "", 0}); };

  // The fuzzer's own clock must not interrupt the connecting.
  sigset_t clock;
  sigemptyset(&clock);
  sigaddset(&clock, SIGALRM);
  pthread_sigmask(SIG_BLOCK, &clock, nullptr);
  tcp::socket client(io);
  // Closed connections linger for a minute: with all loopback addresses in turn, ports do not run out.
  client.connect({asio::ip::address_v4(0x7f000001 + count++ % 0xfffff0), acceptor.local_endpoint().port()});
  Connection::Socket accepted(asio::make_strand(asio::any_io_executor(io.get_executor())));
  acceptor.accept(accepted);
  pthread_sigmask(SIG_UNBLOCK, &clock, nullptr);
  {
    const auto connection =
        std::make_shared<Connection>(std::move(accepted), std::make_shared<const HttpContext>(std::move(context)), [] {});
    asio::co_spawn(connection->strand(), [connection] { return connection->run(); }, asio::detached);
  }
  boost::system::error_code ignored;
  client.non_blocking(true);
  asio::async_write(client, asio::buffer(data, size),
                    [&](boost::system::error_code, size_t) { client.shutdown(tcp::socket::shutdown_send, ignored); });
  std::array<char, 4096> sink;
  std::function<void(boost::system::error_code, size_t)> drain = [&](boost::system::error_code error, size_t) {
    if (!error) client.async_read_some(asio::buffer(sink), drain);
  };
  client.async_read_some(asio::buffer(sink), drain);
  io.run();
  return 0;
}
