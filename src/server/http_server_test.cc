#include "server/http_server.h"

#include <future>

#include <gtest/gtest.h>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>

namespace teapot::server {
namespace {

using asio::ip::tcp;
using std::chrono::milliseconds;

constexpr std::string_view kRequest = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";

class Client {
 public:
  explicit Client(uint16_t port) : socket_(io_) { socket_.connect({asio::ip::make_address("127.0.0.1"), port}); }

  void ask() { asio::write(socket_, asio::buffer(kRequest)); }
  // The first bytes of what has come, "" at the end.
  std::string read() {
    std::array<char, 1024> bytes;
    boost::system::error_code error;
    return {bytes.data(), socket_.read_some(asio::buffer(bytes), error)};
  }

 private:
  asio::io_context io_;
  tcp::socket socket_;
};

std::unique_ptr<HttpServer> start(Handler handler) {
  auto server = HttpServer::listen("127.0.0.1", 0, {{}, std::move(handler), [](unsigned, const std::string& message) { return message; }});
  if (!server) return nullptr;
  (*server)->start(2);
  return *std::move(server);
}

asio::awaitable<void> greet(Exchange& exchange) { co_await exchange.reply(json_reply(200, "{}")); }

// Waits for the client to go, as a handler does whose reply never comes.
asio::awaitable<void> wait_for_gone(Exchange& exchange) {
  asio::steady_timer timer(exchange.executor(), asio::steady_timer::time_point::max());
  exchange.on_gone([&timer] { timer.cancel(); });
  co_await timer.async_wait(asio::as_tuple(asio::use_awaitable));
}

bool all_gone(const HttpServer& server) {
  for (int i = 0; i < 1000; ++i) {
    if (server.connections() == 0) return true;
    std::this_thread::sleep_for(milliseconds(10));
  }
  return false;
}

// A connection may end on its own thread while the caller is still telling the others: that once locked the caller up for good.
TEST(HttpServer, WindsDownIdleConnectionsThatEndWhileItTellsThem) {
  for (int round = 0; round < 60; ++round) {
    const std::shared_ptr<HttpServer> server = start(greet);
    ASSERT_NE(server, nullptr);
    std::vector<std::unique_ptr<Client>> clients;
    for (int i = 0; i < 100; ++i) {
      clients.push_back(std::make_unique<Client>(server->port()));
      clients.back()->ask();
      ASSERT_TRUE(clients.back()->read().starts_with("HTTP/1.1 200 OK"));
    }
    std::packaged_task<void()> wind_down([server] { server->wind_down(); });
    const auto told = wind_down.get_future();
    std::thread(std::move(wind_down)).detach();
    if (told.wait_for(std::chrono::seconds(30)) != std::future_status::ready) {
      std::fputs("wind_down hangs\n", stderr);
      std::abort();
    }
    EXPECT_TRUE(all_gone(*server));
    for (const auto& client : clients) EXPECT_EQ(client->read(), "");
  }
}

// With nothing left to do the threads once went home, while what the last connection was told still waited for them.
TEST(HttpServer, WindsDownWhileItsLastConnectionsEnd) {
  for (int round = 0; round < 300; ++round) {
    const auto server = start(greet);
    ASSERT_NE(server, nullptr);
    std::vector<std::unique_ptr<Client>> clients;
    for (int i = 0; i < 3; ++i) {
      clients.push_back(std::make_unique<Client>(server->port()));
      clients.back()->ask();
      ASSERT_TRUE(clients.back()->read().starts_with("HTTP/1.1 200 OK"));
    }
    std::thread leaving([&] { clients.clear(); });
    server->wind_down();
    leaving.join();
    ASSERT_TRUE(all_gone(*server)) << "round " << round;
  }
}

TEST(HttpServer, LetsARunningRequestEndAndDropsItWhenAsked) {
  const auto server = start(wait_for_gone);
  ASSERT_NE(server, nullptr);
  Client client(server->port());
  client.ask();
  while (server->connections() == 0) std::this_thread::sleep_for(milliseconds(1));
  std::this_thread::sleep_for(milliseconds(50));
  server->wind_down();
  std::this_thread::sleep_for(milliseconds(100));
  EXPECT_EQ(server->connections(), 1u);
  server->drop_connections();
  EXPECT_TRUE(all_gone(*server));
  EXPECT_EQ(client.read(), "");
}

TEST(HttpServer, StopsWithRequestsStillRunning) {
  auto server = start(wait_for_gone);
  ASSERT_NE(server, nullptr);
  Client client(server->port());
  client.ask();
  while (server->connections() == 0) std::this_thread::sleep_for(milliseconds(1));
  server = nullptr;
  EXPECT_EQ(client.read(), "");
}

}  // namespace
}  // namespace teapot::server
