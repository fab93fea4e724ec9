// The servers of a comparison: where they are, what is sent to them, what a turn on one of them gave.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "engine/text_assets.h"
#include "workbench/bench/compare.h"
#include "workbench/bench/dataset.h"
#include "workbench/bench/endpoint.h"
#include "workbench/bench/load.h"
#include "workbench/bench/serve_child.h"

namespace teapot::workbench {

struct ServerChoice {
  std::optional<std::string> url;            // this or model_path
  std::optional<std::string> model_path;     // a `serve` child of our own on a free port
  std::vector<std::string> serve_arguments;  // for that child
  std::string api_key;
  std::string model;  // name in the requests; empty: the first that the server lists
};

struct CompareServersOptions {
  std::array<ServerChoice, 2> servers;  // A, B
  std::string program;                  // path of this program, for children
  std::optional<std::string> tokenizer_path;
  uint32_t requests_per_user = 2;   // in a turn: a load of c users sends c times as many
  bool allow_length_drift = false;  // prompts may have other lengths than our tokenizer counted
  std::vector<unsigned> client_cpus;
  std::chrono::milliseconds token_timeout{120'000}, connect_timeout{10'000};
  DatasetOptions dataset;
  BodyOptions body;  // its model is not used
};

// Prompts differ from pair to pair and are the same for both turns of one; a server that can (POST /reset_prefix_cache) forgets its
// prefixes before each turn. Where that server can't and both turns are its own, each turn has prompts of its own, or the second would be
// the cache's.
class ComparedServers {
 public:
  // Connects (or starts) both and warms them up with one turn each at every load. Faults of a server here are errors that name it.
  static Result<std::unique_ptr<ComparedServers>> open(const CompareServersOptions& options, const CompareOptions& compare,
                                                       const std::atomic<bool>* stop, const std::function<void(const std::string&)>& note);

  Result<TurnFigures> run(const Turn& turn);

  bool local() const;                  // one of them is on this host
  CommonTokens common_tokens() const;  // empty without a tokenizer
  // What a ledger's settings hold of this: all that makes figures comparable, and nothing that changes from start to start.
  Json settings() const;
  Json conditions() const;  // settings, and what the servers say of themselves
  const std::vector<std::string>& warnings() const { return warnings_; }

 private:
  struct Server {
    const char* name = "";  // "A"
    std::unique_ptr<ServeChild> child;
    Endpoint endpoint;
    BodyOptions body;
    bool resets = false;  // forgets its prefixes when asked
    Json facts;
  };

  ComparedServers(const CompareServersOptions& options, const CompareOptions& compare, const std::atomic<bool>* stop)
      : options_(options), parallel_(compare.parallel), stop_(stop) {}

  Status connect(Server& server, const ServerChoice& choice, const std::function<void(const std::string&)>& note);
  Status warm_up();
  Status make_all_prompts(const CompareOptions& compare);
  uint32_t prompts_a_set() const;
  bool same_server() const;
  bool own_prompts(const Turn& turn) const;
  Result<std::vector<Prompt>> prompts(uint32_t set, uint32_t load);
  Result<TurnFigures> send(Server& server, uint32_t load, uint32_t set, bool keep_replies);

  CompareServersOptions options_;
  std::vector<uint32_t> parallel_;
  const std::atomic<bool>* stop_;
  std::optional<engine::TextAssets> text_;
  std::array<Server, 2> servers_;
  std::vector<Prompt> from_file_;  // [sets * prompts_a_set()], of datasets that are files
  std::vector<std::string> warnings_;
};

}  // namespace teapot::workbench
