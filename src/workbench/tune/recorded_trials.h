// Trials that are answered by a ledger first, and by others when it is at its end; what those answer goes into the ledger. So a search
// that was killed goes on where it was, and a ledger alone tells again what was found.
#pragma once

#include <functional>

#include "workbench/tune/trials.h"

namespace teapot::workbench {

class RecordedTrials : public Trials {
 public:
  // live: null where a ledger is only read. append: writes a line.
  RecordedTrials(std::vector<Json> lines, std::vector<uint32_t> parallel, std::string host, Trials* live,
                 std::function<Status(const Json&)> append)
      : lines_(std::move(lines)), parallel_(std::move(parallel)), host_(std::move(host)), live_(live), append_(std::move(append)) {}

  Result<Validation> validate(const KnobProfile& profile) override;
  Result<PairOutcome> pair(const PairRequest& request) override;
  double elapsed_s() const override { return elapsed_s_; }
  bool over() const override { return live_ == nullptr ? next_ >= lines_.size() : live_->over(); }
  bool recalled() const override { return recalled_; }

  bool replaying() const { return next_ < lines_.size(); }

 private:
  // The answer of the next line to this question. kInvalid: the line is of another.
  Result<const Json*> replay(const Json& ask);
  Status record(const Json& ask, Json answer);

  std::vector<Json> lines_;
  size_t next_ = 0;
  bool recalled_ = false;
  std::vector<uint32_t> parallel_;
  std::string host_;
  Trials* live_;
  std::function<Status(const Json&)> append_;
  double elapsed_s_ = 0, before_s_ = 0;  // before_s_: what earlier sessions took
};

}  // namespace teapot::workbench
