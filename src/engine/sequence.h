// One choice of a request while it is in the steps: its tokens, its state, how far it has come. Lives on the decode thread.
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "engine/acceptance.h"
#include "engine/draft_probe.h"
#include "engine/job.h"
#include "engine/sampler.h"
#include "plan/backend.h"

namespace teapot::engine {

struct Sequence {
  Sequence(std::shared_ptr<Job> of_job, uint32_t index, const Vocabulary& vocabulary, uint32_t tokens_at_most);

  std::shared_ptr<Job> job;
  uint32_t choice;
  Sampler sampler;
  uint32_t room;                // tokens that prompt and reply may come to
  uint32_t prompt;              // tokens
  std::vector<int32_t> tokens;  // prompt, then reply; the last one is not in the state while it decodes
  std::set<uint32_t> cuts;      // positions at which a piece of the prompt must end: its state is wanted there

  std::optional<plan::SlotId> slot;  // none: waits for another's state, or for the choice that reads the prompt
  uint32_t committed = 0;            // tokens in the state
  uint32_t cached = 0;               // of them, not computed for it

  // Another sequence reads the first `fork_at` tokens of the same prompt; its state will be forked there.
  const Sequence* waits_on = nullptr;
  uint32_t fork_at = 0;

  // Choices that begin when this one has read the prompt.
  std::vector<std::unique_ptr<Sequence>> siblings = {};
  std::vector<TokenEvent> scored = {};  // with prompt_logprobs: of the prompt so far

  std::vector<uint32_t> kept = {};  // positions of which the prefix cache has the state: it was given it, or gave it

  // Guesses at what follows, that the next step verifies.
  std::vector<int32_t> drafts = {};
  std::array<float, kMaxDrafts> draft_probabilities = {};  // [drafts]
  std::optional<Acceptance> acceptance = {};               // once it decodes
  DraftProbe probe = {};
  DraftCounts drafted = {};

  // In the step that is being made: its first row's place among the rows that return something.
  uint32_t rows = 0, first_result = 0;

  bool begun = false, ended = false;
  bool forgotten = false;  // it began before the prefix cache was reset: nothing of it is kept or shared

  const GenerateRequest& request() const { return job->request; }
  Choice& reply() const { return *job->choices[choice]; }
  bool prefilling() const { return committed < prompt; }
  uint32_t completion_tokens() const { return static_cast<uint32_t>(tokens.size()) - prompt; }
  // Where the piece of the prompt that begins now has to end.
  uint32_t next_cut() const;
  // Where its own work on the prompt begins.
  uint32_t begins_at() const { return waits_on != nullptr ? fork_at : committed; }
};

// The tokens that a request's sequences may come to.
uint32_t room_of(const GenerateRequest& request, uint32_t context);

}  // namespace teapot::engine
