// What the HTTP layer and the handlers share: requests, replies, limits. Protocol-neutral: nothing here knows of models.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

namespace teapot::server {

namespace asio = boost::asio;

struct HttpLimits {
  uint32_t header_bytes = 32 * 1024;
  uint64_t body_bytes = 64ull << 20;
  std::chrono::milliseconds idle_timeout{75'000};   // for a whole request header, from the end of the last reply on
  std::chrono::milliseconds body_timeout{60'000};   // for a whole body
  std::chrono::milliseconds write_timeout{30'000};  // for one write: a client that takes nothing for so long is dropped
  size_t stream_buffer_bytes = 4u << 20;            // unsent events of one reply; beyond it the client is dropped
  size_t connections = 1024;                        // open at once; more wait in the listen queue
};

struct HttpRequest {
  std::string method;
  std::string path;   // without the query
  std::string query;  // without '?'
  std::string authorization;
  std::string body;
  bool from_this_host = false;  // over the loopback interface
};

struct HttpReply {
  unsigned status = 200;
  std::string body;
  std::string content_type = "application/json";
  std::vector<std::pair<std::string, std::string>> headers;
  bool close = false;  // end the connection after it
};

inline HttpReply json_reply(unsigned status, std::string body) {
  HttpReply reply;
  reply.status = status;
  reply.body = std::move(body);
  return reply;
}

// One request being answered. Handlers run on the connection's strand; exactly one of reply() and begin_events() is called.
class Exchange {
 public:
  virtual ~Exchange() = default;

  virtual const HttpRequest& request() const = 0;
  virtual asio::any_io_executor executor() const = 0;  // the connection's strand
  virtual const HttpLimits& limits() const = 0;

  // True once the client has gone (or was dropped). The callback given here is then called once, on the strand.
  virtual bool gone() const = 0;
  virtual void on_gone(std::function<void()> callback) = 0;

  // What the log and /v1/status call the request: goes with its reply, as X-Request-Id.
  virtual void set_request_id(uint64_t id) = 0;

  virtual asio::awaitable<void> reply(HttpReply reply) = 0;

  // Server-sent events: headers at once, then any number of writes, then the end. False: the client has gone.
  virtual asio::awaitable<bool> begin_events() = 0;
  virtual asio::awaitable<bool> write_events(std::string bytes) = 0;
  virtual asio::awaitable<void> end_events() = 0;
  // Ends the connection without a word: a reader too slow to be served.
  virtual void drop() = 0;
};

}  // namespace teapot::server
