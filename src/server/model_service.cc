#include "server/model_service.h"

#include "base/refusal.h"

namespace teapot::server {
ModelService::ModelService(Loader loader, std::function<void(Status)> loaded) {
  thread_ = std::thread([this, loader = std::move(loader), loaded = std::move(loaded)] {
    const auto progress = [this](uint64_t done, uint64_t total) {
      total_ = total;
      done_ = done;
    };
    auto model = or_refusal("the model", [&] { return loader(progress); });
    if (!model) {
      loaded(std::unexpected(model.error()));
      return;
    }
    model_ = std::make_unique<LoadedModel>(*std::move(model));
    ready_.store(model_.get(), std::memory_order_release);
    loaded({});
  });
}

ModelService::~ModelService() { thread_.join(); }

double ModelService::progress() const {
  const uint64_t total = total_;
  return total == 0 ? 0 : static_cast<double>(done_) / static_cast<double>(total);
}

}  // namespace teapot::server
