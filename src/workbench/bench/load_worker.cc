#include "workbench/bench/load_worker.h"

#include <algorithm>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "base/thread_clock.h"

namespace teapot::workbench {

namespace asio = boost::asio;

namespace {

constexpr auto kTuple = asio::as_tuple(asio::use_awaitable);
constexpr std::chrono::milliseconds kTick{20};
constexpr int64_t kProgressNs = 100'000'000;

}  // namespace

LoadWorker::LoadWorker(SharedLoad& load, size_t index, uint32_t users) : load_(load), live_(load.live[index]), ticker_(io_) {
  for (uint32_t i = 0; i < users; ++i) {
    connections_.push_back(std::make_unique<ClientConnection>(io_, load.endpoint, load.addresses, load.options));
  }
}

void LoadWorker::start() {
  for (const auto& connection : connections_) asio::co_spawn(io_, be_user(*connection), asio::detached);
  asio::co_spawn(io_, tick(), asio::detached);
  thread_ = std::thread([this] {
    io_.run();
    if (counts_) cpu_ns_ = thread_cpu_ns() - cpu_before_ns_;
  });
}

void LoadWorker::join() {
  if (thread_.joinable()) thread_.join();
}

asio::awaitable<void> LoadWorker::be_user(ClientConnection& connection) {
  while (!load_.stopped()) {
    const size_t index = load_.next++;
    if (index >= load_.requests.size()) break;
    const bool go = co_await wait_for_start(index);
    if (!go) break;
    if (index >= load_.options.warmup && !counts_) {
      counts_ = true;
      cpu_before_ns_ = thread_cpu_ns();
    }
    RequestRecord& record = load_.records[index];
    if (load_.unresolved.empty()) {
      co_await connection.exchange(load_.requests[index], record);
    } else {
      record.start_ns = record.end_ns = client_now_ns();
      record.outcome = Outcome::kConnect;
      record.error = load_.unresolved;
    }
    tell_done(record);
  }
  if (++ended_users_ == connections_.size()) ticker_.cancel();
}

// False: the run was stopped meanwhile.
asio::awaitable<bool> LoadWorker::wait_for_start(size_t index) {
  if (load_.starts_ns.empty()) co_return true;
  const auto due = std::chrono::steady_clock::time_point(std::chrono::nanoseconds(load_.begin_ns + load_.starts_ns[index]));
  asio::steady_timer timer(io_);
  while (!load_.stopped()) {
    const auto now = std::chrono::steady_clock::now();
    if (now >= due) co_return true;
    timer.expires_at(std::min<std::chrono::steady_clock::time_point>(due, now + kTick));
    co_await timer.async_wait(kTuple);
  }
  co_return false;
}

// Time-outs, the stop flag and the figures of progress are looked after here, and cost the reading of tokens nothing.
asio::awaitable<void> LoadWorker::tick() {
  while (ended_users_ < connections_.size()) {
    ticker_.expires_after(kTick);
    co_await ticker_.async_wait(kTuple);
    const int64_t now_ns = client_now_ns();
    const bool stopped = load_.stopped();
    for (const auto& connection : connections_) {
      if (stopped) connection->cancel();
      connection->check_deadline(now_ns);
    }
    if (!load_.events.progress) continue;
    measure();
    tell_progress(now_ns);
  }
  live_.chunks = 0;
  live_.tpot_count = 0;
  live_.tpot_sum_ms = 0;
}

void LoadWorker::measure() {
  uint32_t chunks = 0;
  uint32_t count = 0;
  double sum_ms = 0;
  for (const auto& connection : connections_) {
    const RequestRecord* record = connection->running();
    if (record == nullptr || record->chunks.empty()) continue;
    chunks += static_cast<uint32_t>(record->chunks.size());
    uint32_t tokens = 0;  // after the first chunk; one a chunk where the server does not tell
    for (const Chunk& chunk : std::span(record->chunks).subspan(1)) tokens += std::max(chunk.tokens, 1u);
    if (tokens == 0) continue;
    sum_ms += static_cast<double>(record->chunks.back().at_ns - record->first_ns) * 1e-6 / tokens;
    ++count;
  }
  live_.chunks = chunks;
  live_.tpot_sum_ms = sum_ms;
  live_.tpot_count = count;
}

void LoadWorker::tell_progress(int64_t now_ns) {
  const std::lock_guard lock(load_.mutex);
  if (now_ns - load_.last_progress_ns < kProgressNs) return;
  load_.last_progress_ns = now_ns;
  uint32_t chunks = load_.ended_chunks;
  uint32_t count = 0;
  double sum_ms = 0;
  for (const LiveFigures& live : load_.live) {
    chunks += live.chunks;
    count += live.tpot_count;
    sum_ms += live.tpot_sum_ms;
  }
  load_.events.progress(chunks, count == 0 ? 0 : sum_ms / count);
}

void LoadWorker::tell_done(const RequestRecord& record) {
  load_.ended_chunks += static_cast<uint32_t>(record.chunks.size());
  if (!load_.events.done) return;
  const std::lock_guard lock(load_.mutex);
  load_.events.done(record);
}

}  // namespace teapot::workbench
