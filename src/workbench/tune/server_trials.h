// Trials on real servers: each start is a process group of its own, and each pair two starts back to back.
#pragma once

#include <chrono>

#include "workbench/tune/counters.h"
#include "workbench/tune/server_start.h"

namespace teapot::workbench {

struct ServerTrialsOptions {
  ServerStartOptions start;
  uint32_t prompt_tokens = 1024, output_tokens = 512;  // about, and exactly
  uint32_t requests_per_user = 2;                      // under each load
  uint64_t seed = 0;                                   // of the prompts
  std::string folder;                                  // logs/ is made in it
  std::chrono::milliseconds token_timeout{120'000}, connect_timeout{10'000};
  std::vector<unsigned> client_cpus;
  Json extra_args = Json::object();  // merged into each request
  bool probe_bandwidth = false;      // of this host, before some pairs
};

class ServerTrials : public Trials {
 public:
  static Result<std::unique_ptr<ServerTrials>> open(ServerTrialsOptions options);

  Result<Validation> validate(const KnobProfile& profile) override;
  Result<PairOutcome> pair(const PairRequest& request) override;
  double elapsed_s() const override;
  bool over() const override { return options_.start.stop != nullptr && *options_.start.stop; }

 private:
  explicit ServerTrials(ServerTrialsOptions options) : options_(std::move(options)), begin_(std::chrono::steady_clock::now()) {}

  struct Load {
    uint32_t parallel = 1, requests = 1, tokens = 16;
    uint64_t seed = 0;
    uint32_t set = 0, first = 0;  // of the prompts
    bool keep_replies = false;
  };
  // Nothing where requests failed: the server's fault is set then.
  Result<std::optional<TurnFigures>> send(StartedServer& server, const Load& load) const;
  Result<bool> warm_up(StartedServer& server) const;
  Result<std::unique_ptr<StartedServer>> start(const KnobProfile& profile);
  Result<Arm> measure(const KnobProfile& profile, uint32_t set);
  Counters counters(const StartedServer& server) const;
  // Of the page and of the command, as one text.
  std::string version_of(const StartedServer& server) const;
  // What the server says of its configuration goes beside its log, its hash to `started`.
  void keep_configuration(const StartedServer& server, Json& started) const;
  void count_drafts(const Counters& grown, Arm& arm) const;

  ServerTrialsOptions options_;
  std::chrono::steady_clock::time_point begin_;
  uint32_t starts_ = 0, pairs_ = 0;
  std::optional<std::string> told_by_command_;  // asked before the first start, while nothing else runs
};

}  // namespace teapot::workbench
