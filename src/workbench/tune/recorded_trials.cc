#include "workbench/tune/recorded_trials.h"

#include "workbench/bench/host_facts.h"
#include "workbench/ledger_fields.h"
#include "workbench/tune/trial_record.h"

namespace teapot::workbench {

Result<const Json*> RecordedTrials::replay(const Json& ask) {
  const Json& line = lines_[next_];
  const std::string where = fmt::format("trial {} of the ledger", next_);
  const auto answer_to = [&]() -> Result<const Json*> {
    TEAPOT_TRY(const Json* asked, find_field(line, "ask"));
    if (*asked != ask) {
      return fail(ErrorKind::kInvalid, "asked for {}; this program would ask for {}: the ledger is of another version, or was edited",
                  dump_json(*asked), dump_json(ask));
    }
    TEAPOT_TRY(elapsed_s_, number_field(line, "elapsed_s"));
    return find_field(line, "answer");
  };
  auto answer = answer_to();
  if (!answer) return at(where, std::move(answer).error());
  before_s_ = elapsed_s_;
  recalled_ = true;
  ++next_;
  return answer;
}

Status RecordedTrials::record(const Json& ask, Json answer) {
  elapsed_s_ = before_s_ + live_->elapsed_s();
  recalled_ = false;
  return append_(
      {{"trial", next_++}, {"ask", ask}, {"answer", std::move(answer)}, {"elapsed_s", elapsed_s_}, {"at", utc_now()}, {"host", host_}});
}

Result<Validation> RecordedTrials::validate(const KnobProfile& profile) {
  const Json ask = ask_json(profile);
  if (replaying()) {
    TEAPOT_TRY(const Json* answer, replay(ask));
    return parse_validation(*answer);
  }
  if (live_ == nullptr) return fail(ErrorKind::kBusy, "the ledger ends here");
  TEAPOT_TRY(Validation validation, live_->validate(profile));
  TEAPOT_CHECK(record(ask, to_json(validation)));
  return validation;
}

Result<PairOutcome> RecordedTrials::pair(const PairRequest& request) {
  const Json ask = ask_json(request);
  if (replaying()) {
    TEAPOT_TRY(const Json* answer, replay(ask));
    return parse_pair_outcome(*answer, parallel_);
  }
  if (live_ == nullptr) return fail(ErrorKind::kBusy, "the ledger ends here");
  TEAPOT_TRY(PairOutcome outcome, live_->pair(request));
  TEAPOT_CHECK(record(ask, to_json(outcome)));
  return outcome;
}

}  // namespace teapot::workbench
