#include "engine/draft_gain.h"

#include <algorithm>

namespace teapot::engine {
namespace {

constexpr double kDecay = 1 - 1.0 / 16;  // of drafted rounds
constexpr double kWeight = 0.25;         // of a new plain figure

}  // namespace

bool DraftGain::rests() {
  if (doubted_ && doubt_ == 0) judge();
  for (uint32_t* rounds : {&doubt_, &resting_}) {
    if (*rounds == 0) continue;
    --*rounds;
    return true;
  }
  return since_plain_ >= kPlainEvery;
}

void DraftGain::plain(double ms) {
  plain_ms_ += plain_ms_ == 0 ? ms : kWeight * (ms - plain_ms_);
  since_plain_ = 0;
  if (!doubted_) return;
  fresh_ms_ += ms;
  ++fresh_;
}

void DraftGain::drafted(double tokens, double ms) {
  tokens_ = kDecay * tokens_ + tokens;
  ms_ = kDecay * ms_ + ms;
  ++rounds_;
  ++since_plain_;
  if (plain_ms_ == 0 || rounds_ < kLook) return;
  if (tokens_ * plain_ms_ < ms_) {
    doubted_ = true;
    doubt_ = kDoubt;
    fresh_ms_ = 0;
    fresh_ = 0;
  } else if (rounds_ >= 4 * kLook) {
    pause_ = kFirstPause;
  }
}

void DraftGain::judge() {
  doubted_ = false;
  if (fresh_ > 0) plain_ms_ = fresh_ms_ / fresh_;
  rounds_ = 0;
  if (tokens_ * plain_ms_ >= ms_) return;
  resting_ = pause_ - std::min(pause_, kDoubt);
  pause_ = std::min(2 * pause_, kLongestPause);
  tokens_ = ms_ = 0;
}

}  // namespace teapot::engine
