// A thread of the load generator with its few users, and what all threads of one load share.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>

#include "workbench/bench/client_connection.h"
#include "workbench/bench/load.h"

namespace teapot::workbench {

// A step of the server wakes all users at once; reading four sockets takes a thread some 20 us.
constexpr uint32_t kUsersPerThread = 4;

// The running replies of one thread.
struct LiveFigures {
  std::atomic<uint32_t> chunks = 0;
  std::atomic<double> tpot_sum_ms = 0;  // of the mean times per token
  std::atomic<uint32_t> tpot_count = 0;
};

struct SharedLoad {
  SharedLoad(const Endpoint& server, std::span<const LoadRequest> all, const LoadOptions& how, const LoadEvents& told, size_t threads)
      : endpoint(server), requests(all), options(how), events(told), records(all.size()), live(threads) {}

  const Endpoint& endpoint;
  std::span<const LoadRequest> requests;
  const LoadOptions& options;
  const LoadEvents& events;

  boost::asio::ip::tcp::resolver::results_type addresses;
  std::string unresolved;          // why there are no addresses; empty: there are
  std::vector<int64_t> starts_ns;  // [requests], with a rate: when each is due, counted from begin_ns
  int64_t begin_ns = 0;

  std::atomic<size_t> next = 0;        // the first request that no user has taken
  std::vector<RequestRecord> records;  // [requests]; each is written by the user that took its request
  std::atomic<uint32_t> ended_chunks = 0;
  std::vector<LiveFigures> live;  // [threads]
  std::atomic<bool> broken = false;

  std::mutex mutex;              // events are told one at a time
  int64_t last_progress_ns = 0;  // guarded by mutex

  bool stopped() const { return broken || (events.stop != nullptr && *events.stop); }
};

class LoadWorker {
 public:
  // load must outlive it; index: of this thread in load.live.
  LoadWorker(SharedLoad& load, size_t index, uint32_t users);

  void start();  // throws std::system_error where there is no thread to be had
  void join();

  // Processor time of the thread since its first request that counts. After join.
  int64_t cpu_ns() const { return cpu_ns_; }

 private:
  boost::asio::awaitable<void> be_user(ClientConnection& connection);
  boost::asio::awaitable<bool> wait_for_start(size_t index);
  boost::asio::awaitable<void> tick();
  void measure();
  void tell_progress(int64_t now_ns);
  void tell_done(const RequestRecord& record);

  SharedLoad& load_;
  LiveFigures& live_;
  boost::asio::io_context io_{1};
  std::vector<std::unique_ptr<ClientConnection>> connections_;
  boost::asio::steady_timer ticker_;
  std::thread thread_;
  uint32_t ended_users_ = 0;
  bool counts_ = false;  // a request that is no warm-up has begun here
  int64_t cpu_before_ns_ = 0, cpu_ns_ = 0;
};

}  // namespace teapot::workbench
