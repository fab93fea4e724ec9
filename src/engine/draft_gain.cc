#include "engine/draft_gain.h"

#include <algorithm>

namespace teapot::engine {
namespace {

constexpr double kDecay = 1 - 1.0 / 16;  // of drafted rounds
constexpr double kWeight = 0.25;         // of a new plain figure

}  // namespace

bool DraftGain::rests() {
  if (resting_ > 0) {
    --resting_;
    return true;
  }
  return since_plain_ >= kPlainEvery;
}

void DraftGain::plain(double ms) {
  plain_ms_ += plain_ms_ == 0 ? ms : kWeight * (ms - plain_ms_);
  since_plain_ = 0;
}

void DraftGain::drafted(double tokens, double ms) {
  tokens_ = kDecay * tokens_ + tokens;
  ms_ = kDecay * ms_ + ms;
  ++rounds_;
  ++since_plain_;
  if (plain_ms_ == 0 || rounds_ < kLook) return;
  if (tokens_ * plain_ms_ < ms_) {
    resting_ = pause_;
    pause_ = std::min(2 * pause_, kLongestPause);
    tokens_ = ms_ = 0;
    rounds_ = 0;
  } else if (rounds_ >= 4 * kLook) {
    pause_ = kFirstPause;
  }
}

}  // namespace teapot::engine
