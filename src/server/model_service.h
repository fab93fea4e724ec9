// The model behind the server: loaded on a thread of its own after the port is open, then there for every request.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "base/error.h"
#include "engine/engine.h"
#include "engine/text_assets.h"

namespace teapot::server {

struct LoadedModel {
  engine::TextAssets assets;
  std::unique_ptr<engine::Engine> engine;
  std::string served_name;
  uint32_t max_seqs = 0;  // sequences in a step: choices that a request may have
  int64_t created = 0;    // seconds since the epoch, for /v1/models
};

class ModelService {
 public:
  using Loader = std::function<Result<LoadedModel>(const std::function<void(uint64_t done, uint64_t total)>& progress)>;

  // Starts loading. loaded is called on the loading thread, with the error if there is one.
  ModelService(Loader loader, std::function<void(Status)> loaded);
  ~ModelService();  // waits for the loading to end

  // Null while loading, and when loading has failed.
  LoadedModel* ready() const { return ready_.load(std::memory_order_acquire); }
  double progress() const;  // 0 to 1, of the bytes to load

 private:
  std::atomic<LoadedModel*> ready_ = nullptr;
  std::atomic<uint64_t> done_ = 0, total_ = 0;
  std::unique_ptr<LoadedModel> model_;  // written by the thread, before ready_
  std::thread thread_;
};

}  // namespace teapot::server
