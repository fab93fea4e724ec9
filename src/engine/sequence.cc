#include "engine/sequence.h"

#include <algorithm>

namespace teapot::engine {

Sequence::Sequence(std::shared_ptr<Job> of_job, uint32_t index, const Vocabulary& vocabulary, uint32_t tokens_at_most)
    : job(std::move(of_job)),
      choice(index),
      sampler(job->request, vocabulary, index),
      room(tokens_at_most),
      prompt(static_cast<uint32_t>(job->request.prompt.size())) {
  tokens.reserve(room);
  tokens = job->request.prompt;
}

uint32_t Sequence::next_cut() const {
  const auto cut = cuts.upper_bound(committed);
  return cut == cuts.end() ? prompt : std::min(*cut, prompt);
}

// The last token of a reply is never read back: one position less would do, but the limit that is printed is the one that is kept.
uint32_t room_of(const GenerateRequest& request, uint32_t context) {
  const uint64_t wanted = request.max_tokens == 0 ? context : uint64_t{request.prompt.size()} + request.max_tokens;
  return static_cast<uint32_t>(std::min<uint64_t>(wanted, context));
}

}  // namespace teapot::engine
