// Whether drafting has paid lately, by the clock: chances and costs are estimates, and where they promise little, their errors decide.
// Where it seems not to, a few rounds without drafts tell first whether it is the host that has become slower. Of one number of sequences
// that decode together. Decode thread only.
#pragma once

#include <cstdint>

namespace teapot::engine {

class DraftGain {
 public:
  // A round without drafts is due: drafts have not paid for a while, or the time without them must be seen again. Called once a round.
  bool rests();

  // A round of so many tokens for each sequence, on average. Without drafts: what others are compared with.
  void plain(double ms);
  void drafted(double tokens, double ms);

 private:
  // A dozen rounds say what a single one cannot: whether a gain of some percent is one. As long a pause costs nothing, and one in 64 rounds
  // without drafts costs half a percent of a gain of 1.5.
  static constexpr uint32_t kLook = 12, kFirstPause = 32, kLongestPause = 1024, kPlainEvery = 64;
  static constexpr uint32_t kDoubt = 4;  // rounds

  void judge();

  double plain_ms_ = 0;
  double tokens_ = 0, ms_ = 0;  // of drafted rounds, the latest count most
  uint32_t rounds_ = 0;         // of them, since the last pause
  uint32_t since_plain_ = 0;
  bool doubted_ = false;  // some rounds without drafts were begun
  uint32_t doubt_ = 0;    // of them, those to come
  double fresh_ms_ = 0;   // of them
  uint32_t fresh_ = 0;    // those that said what they took
  uint32_t resting_ = 0;  // rounds to come without drafts
  uint32_t pause_ = kFirstPause;
};

}  // namespace teapot::engine
