#include "workbench/bench/http_get.h"

#include <array>
#include <optional>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/connect.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>

#include "workbench/bench/http_reply.h"

namespace teapot::workbench {

namespace asio = boost::asio;
using asio::ip::tcp;

namespace {

constexpr auto kTuple = asio::as_tuple(asio::use_awaitable);
constexpr size_t kMaxBody = size_t{16} << 20;

std::string request_text(const Endpoint& endpoint, std::string_view method) {
  std::string text = fmt::format("{} {} HTTP/1.1\r\nHost: {}:{}\r\nUser-Agent: teapot/{}\r\nConnection: close\r\n", method, endpoint.target,
                                 endpoint.host, endpoint.port, TEAPOT_VERSION);
  if (!endpoint.api_key.empty()) text += fmt::format("Authorization: Bearer {}\r\n", endpoint.api_key);
  if (method == "POST") text += "Content-Length: 0\r\n";
  return text + "\r\n";
}

asio::awaitable<void> exchange(tcp::socket& socket, const Endpoint& endpoint, std::string_view method,
                               const tcp::resolver::results_type& addresses, std::optional<Result<HttpAnswer>>& answer) {
  const auto [refused, address] = co_await asio::async_connect(socket, addresses, kTuple);
  if (refused) {
    answer = fail(ErrorKind::kNotFound, "{}: no connection: {}", endpoint.url(), refused.message());
    co_return;
  }
  const std::string request = request_text(endpoint, method);
  const auto [unsent, written] = co_await asio::async_write(socket, asio::buffer(request), kTuple);
  if (unsent) {
    answer = fail(ErrorKind::kIo, "{}: the connection ended: {}", endpoint.url(), unsent.message());
    co_return;
  }
  HttpReplyParser parser;
  HttpAnswer found;
  std::array<char, 16384> buffer;
  while (!parser.done()) {
    const auto [error, bytes] = co_await socket.async_read_some(asio::buffer(buffer), kTuple);
    if (error && parser.end_of_stream()) break;
    if (error) {
      answer = fail(ErrorKind::kIo, "{}: the connection ended before its reply did: {}", endpoint.url(), error.message());
      co_return;
    }
    const Status fed = parser.feed({buffer.data(), bytes}, [&found](std::string_view piece) {
      if (found.body.size() <= kMaxBody) found.body += piece;
    });
    if (!fed || found.body.size() > kMaxBody) {
      answer = fail(ErrorKind::kInvalid, "{}: {}", endpoint.url(), fed ? "a body of more than 16 MiB" : fed.error().message);
      co_return;
    }
  }
  found.status = parser.status();
  answer = std::move(found);
}

Result<HttpAnswer> ask(const Endpoint& endpoint, std::string_view method, std::chrono::milliseconds timeout) {
  std::optional<Result<HttpAnswer>> answer;
  asio::io_context io(1);
  boost::system::error_code error;
  const auto addresses = tcp::resolver(io).resolve(endpoint.host, std::to_string(endpoint.port), error);
  if (error) return fail(ErrorKind::kNotFound, "{}: no address of {}: {}", endpoint.url(), endpoint.host, error.message());
  tcp::socket socket(io);
  asio::co_spawn(io, exchange(socket, endpoint, method, addresses, answer), asio::detached);
  io.run_for(timeout);
  if (!answer) {  // the coroutine lets go of what it holds before that goes away
    socket.close(error);
    io.restart();
    io.run();
    return fail(ErrorKind::kIo, "{}: no reply within {} ms", endpoint.url(), timeout.count());
  }
  return *std::move(answer);
}

}  // namespace

Result<HttpAnswer> http_get(const Endpoint& endpoint, std::chrono::milliseconds timeout) { return ask(endpoint, "GET", timeout); }
Result<HttpAnswer> http_post(const Endpoint& endpoint, std::chrono::milliseconds timeout) { return ask(endpoint, "POST", timeout); }

}  // namespace teapot::workbench
