// A server of plain bytes, for replies that no decent server sends.
#pragma once

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include "workbench/bench/endpoint.h"

namespace teapot::workbench {

// One connection after the other: its request's head is read, `first` is sent at once, then `again` (if any) each 20 ms until the client
// goes. Without `again` the connection is ended: at once, or (`at_next`) when another request comes on it.
class RawServer {
 public:
  RawServer(std::string first, std::string again, bool at_next = false)
      : first_(std::move(first)), again_(std::move(again)), at_next_(at_next) {
    listener_ = socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* plain = reinterpret_cast<sockaddr*>(&address);
    EXPECT_EQ(bind(listener_, plain, size), 0);
    EXPECT_EQ(listen(listener_, 8), 0);
    EXPECT_EQ(getsockname(listener_, plain, &size), 0);
    endpoint_.host = "127.0.0.1";
    endpoint_.port = ntohs(address.sin_port);
    thread_ = std::thread([this] { serve(); });
  }
  ~RawServer() {
    stop_ = true;
    shutdown(listener_, SHUT_RDWR);
    thread_.join();
    close(listener_);
  }

  const Endpoint& endpoint() const { return endpoint_; }

 private:
  void serve() const {
    while (true) {
      const int client = accept(listener_, nullptr, nullptr);
      if (client < 0) return;
      answer(client);
      close(client);
    }
  }

  void answer(int client) const {
    std::string head;
    char byte;
    while (!head.ends_with("\r\n\r\n") && recv(client, &byte, 1, 0) == 1) head += byte;
    bool there = send(client, first_.data(), first_.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(first_.size());
    while (there && !again_.empty() && !stop_) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      there = send(client, again_.data(), again_.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(again_.size());
    }
    for (std::string rest; at_next_ && !rest.ends_with("POST ") && recv(client, &byte, 1, 0) == 1;) rest += byte;
  }

  std::string first_, again_;
  bool at_next_;
  int listener_ = -1;
  Endpoint endpoint_;
  std::atomic<bool> stop_ = false;
  std::thread thread_;
};

}  // namespace teapot::workbench
