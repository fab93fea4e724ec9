// Several observers of one engine, told in order.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "engine/observer.h"

namespace teapot::server {

class Observers : public engine::EngineObserver {
 public:
  explicit Observers(std::vector<std::shared_ptr<engine::EngineObserver>> all) : all_(std::move(all)) {}

  void on_step(const engine::StepRecord& step) override { tell(&EngineObserver::on_step, step); }
  void on_prompt(const engine::PromptRecord& prompt) override { tell(&EngineObserver::on_prompt, prompt); }
  void on_token(double since_last_ms) override { tell(&EngineObserver::on_token, since_last_ms); }
  void on_reply(const engine::ReplyRecord& reply) override { tell(&EngineObserver::on_reply, reply); }
  void on_stall(double seconds) override { tell(&EngineObserver::on_stall, seconds); }

 private:
  template <class Method, class Record>
  void tell(Method method, const Record& record) {
    for (const auto& observer : all_) (*observer.*method)(record);
  }

  std::vector<std::shared_ptr<engine::EngineObserver>> all_;
};

}  // namespace teapot::server
