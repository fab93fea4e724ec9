#include "workbench/bench/compare_servers.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "workbench/bench/http_get.h"
#include "workbench/bench/request_body.h"
#include "workbench/bench/server_facts.h"

namespace teapot::workbench {
namespace {

constexpr std::chrono::seconds kResetPatience{30};

bool greedy(const BodyOptions& body) { return body.temperature && *body.temperature == 0; }

// Whether the server forgets its prefixes when asked, and has just done so.
bool reset_prefixes(const Endpoint& endpoint) {
  const auto answer = http_post(endpoint.with_target("/reset_prefix_cache"), kResetPatience);
  return answer && answer->status >= 200 && answer->status < 300;
}

}  // namespace

Result<std::unique_ptr<ComparedServers>> ComparedServers::open(const CompareServersOptions& options, const CompareOptions& compare,
                                                               const std::atomic<bool>* stop,
                                                               const std::function<void(const std::string&)>& note) {
  TEAPOT_CHECK(check(compare));
  if (!options.body.stream) return fail(ErrorKind::kInvalid, "--no-stream: a comparison is of TPOT and TTFT, which are read off a stream");
  if (options.requests_per_user == 0) return fail(ErrorKind::kInvalid, "--requests-per-turn: 0; expected at least 1");
  std::unique_ptr<ComparedServers> compared(new ComparedServers(options, compare, stop));
  std::optional<std::string> tokenizer = options.tokenizer_path;
  for (const ServerChoice& choice : options.servers) {
    if (!tokenizer) tokenizer = choice.model_path;
  }
  TEAPOT_CHECK(check_dataset(options.dataset, tokenizer.has_value()));
  if (tokenizer) {
    TEAPOT_TRY(compared->text_, engine::TextAssets::load(*tokenizer));
  }
  for (size_t i = 0; i < 2; ++i) {
    Server& server = compared->servers_[i];
    server.name = i == 0 ? "A" : "B";
    if (const Status connected = compared->connect(server, options.servers[i], note); !connected) {
      return at(server.name, connected.error());
    }
  }
  TEAPOT_CHECK(compared->make_all_prompts(compare));
  note("warming both up");
  TEAPOT_CHECK(compared->warm_up());
  return compared;
}

Status ComparedServers::connect(Server& server, const ServerChoice& choice, const std::function<void(const std::string&)>& note) {
  if (choice.url.has_value() == choice.model_path.has_value()) {
    return fail(ErrorKind::kInvalid, "found {}; expected a URL or a model to serve", choice.url ? "both" : "neither");
  }
  server.body = options_.body;
  if (choice.model_path) {
    ServeChildOptions serve;
    serve.program = options_.program;
    serve.model = *choice.model_path;
    serve.arguments = choice.serve_arguments;
    serve.api_key = choice.api_key;
    serve.stop = stop_;
    note(fmt::format("starting {}: teapot serve {} {}", server.name, *choice.model_path, fmt::join(choice.serve_arguments, " ")));
    TEAPOT_TRY(server.child, ServeChild::start(serve));
    server.endpoint = server.child->endpoint();
  } else {
    TEAPOT_TRY(server.endpoint, parse_endpoint(*choice.url, choice.api_key));
  }
  server.body.chat = server.endpoint.chat();
  const ServerFacts facts = ask_server(server.endpoint);
  if (facts.unreachable) return fail(ErrorKind::kNotFound, "{}", *facts.unreachable);
  server.body.model = choice.model;
  if (choice.model.empty()) {
    if (facts.models.empty()) {
      return fail(ErrorKind::kInvalid, "{}: {}", server.endpoint.url(), why_no_model(facts, "its name as an option"));
    }
    server.body.model = facts.models.front();
  }
  server.resets = reset_prefixes(server.endpoint);
  server.facts = {{"url", choice.url ? Json(server.endpoint.url()) : Json()}, {"model", server.body.model}};
  if (choice.model_path) server.facts["path"] = *choice.model_path;
  if (choice.model_path) server.facts["arguments"] = choice.serve_arguments;
  for (const auto& [name, value] : {std::pair{"version", &facts.version}, {"levers", &facts.levers}}) {
    if (!value->is_null()) server.facts[name] = *value;
  }
  server.facts["resets_prefixes"] = server.resets;
  return {};
}

bool ComparedServers::same_server() const {
  const Endpoint &a = servers_[0].endpoint, &b = servers_[1].endpoint;
  return a.host == b.host && a.port == b.port;
}

bool ComparedServers::own_prompts(const Turn& turn) const { return (turn.null || same_server()) && !servers_[0].resets; }

uint32_t ComparedServers::prompts_a_set() const {
  return std::accumulate(parallel_.begin(), parallel_.end(), uint32_t{0}) * options_.requests_per_user;
}

// Files have so many prompts as they have: whether they suffice is known before anything is measured.
Status ComparedServers::make_all_prompts(const CompareOptions& compare) {
  if (options_.dataset.dataset == "random") return {};
  constexpr uint32_t kFaultyPairs = 5;
  const uint32_t pairs = compare.aa_pairs + compare.pairs + compare.pairs / 20 + kFaultyPairs;
  const uint64_t wanted = (1 + 2 * uint64_t{pairs}) * prompts_a_set();
  if (wanted > std::numeric_limits<int32_t>::max()) return fail(ErrorKind::kInvalid, "{} prompts in all are too many", wanted);
  BodyOptions body = options_.body;
  body.chat = servers_[0].body.chat;
  TEAPOT_TRY(from_file_, make_prompts(options_.dataset, text_ ? &*text_ : nullptr, body, static_cast<uint32_t>(wanted), 0));
  return {};
}

Result<std::vector<Prompt>> ComparedServers::prompts(uint32_t set, uint32_t load) {
  const uint32_t before = std::accumulate(parallel_.begin(), parallel_.begin() + load, uint32_t{0}) * options_.requests_per_user;
  const uint32_t first = set * prompts_a_set() + before, count = parallel_[load] * options_.requests_per_user;
  if (!from_file_.empty()) return std::vector<Prompt>(from_file_.begin() + first, from_file_.begin() + first + count);
  BodyOptions body = options_.body;
  body.chat = servers_[0].body.chat;
  return make_prompts(options_.dataset, text_ ? &*text_ : nullptr, body, count, first);
}

Status ComparedServers::warm_up() {
  for (Server& server : servers_) {
    for (uint32_t load = 0; load < parallel_.size(); ++load) {
      TEAPOT_TRY(const TurnFigures figures, send(server, load, 0, /*keep_replies=*/false));
      if (stop_ != nullptr && *stop_) return fail(ErrorKind::kInvalid, "interrupted before the first pair");
      if (figures.failed > 0) {
        return fail(ErrorKind::kInvalid, "{} ({}): {} of {} requests failed: {}", server.name, server.endpoint.url(), figures.failed,
                    figures.requests, figures.fault);
      }
    }
  }
  return {};
}

Result<TurnFigures> ComparedServers::send(Server& server, uint32_t load, uint32_t set, bool keep_replies) {
  TEAPOT_TRY(const std::vector<Prompt> prompts_of_turn, prompts(set, load));
  std::vector<LoadRequest> requests;
  requests.reserve(prompts_of_turn.size());
  for (const Prompt& prompt : prompts_of_turn) requests.push_back(make_request(prompt, server.body, !options_.allow_length_drift));
  if (server.resets && !reset_prefixes(server.endpoint)) {
    return fail(ErrorKind::kIo, "{} ({}): no longer resets its prefix cache", server.name, server.endpoint.url());
  }
  LoadOptions options;
  options.parallel = parallel_[load];
  options.connect_timeout = options_.connect_timeout;
  options.token_timeout = options_.token_timeout;
  options.client_cpus = options_.client_cpus;
  options.keep_text = keep_replies;
  LoadEvents events;
  events.stop = stop_;
  TEAPOT_TRY(LoadResult result, run_load(server.endpoint, requests, options, events));
  return turn_figures(std::move(result), keep_replies);
}

Result<TurnFigures> ComparedServers::run(const Turn& turn) {
  Server& server = servers_[turn.b && !turn.null ? 1 : 0];
  const bool own = own_prompts(turn);
  const bool comparable = greedy(options_.body) && !own && (turn.null || servers_[0].body.model == servers_[1].body.model);
  return send(server, turn.load, 1 + 2 * turn.pair + (own && turn.b ? 1 : 0), comparable);
}

bool ComparedServers::local() const { return is_local(servers_[0].endpoint) || is_local(servers_[1].endpoint); }

CommonTokens ComparedServers::common_tokens() const {
  if (!text_) return {};
  return [this](const std::string& a, const std::string& b) -> std::optional<uint32_t> {
    const auto a_ids = text_->tokenizer.encode(a, /*parse_added=*/true), b_ids = text_->tokenizer.encode(b, /*parse_added=*/true);
    if (!a_ids || !b_ids) return std::nullopt;
    return static_cast<uint32_t>(std::ranges::mismatch(*a_ids, *b_ids).in1 - a_ids->begin());
  };
}

Json ComparedServers::settings() const {
  const DatasetOptions& dataset = options_.dataset;
  Json request = request_json(prompt_of("", options_.body), options_.body);
  request.erase("messages");
  request.erase("prompt");
  Json settings;
  for (const Server& server : servers_) {
    settings[server.name] = server.facts;
    settings[server.name].erase("levers");  // long, and they follow from the rest
  }
  settings["requests_per_user"] = options_.requests_per_user;
  settings["dataset"] = {{"dataset", dataset.dataset},
                         {"path", dataset.path ? Json(*dataset.path) : Json()},
                         {"min_prompt_length", dataset.min_prompt_length},
                         {"max_prompt_length", dataset.max_prompt_length},
                         {"prefix_length", dataset.prefix_length},
                         {"seed", dataset.seed}};
  settings["request"] = std::move(request);
  return settings;
}

Json ComparedServers::conditions() const {
  Json conditions = settings();
  for (const Server& server : servers_) conditions[server.name] = server.facts;
  conditions["prompts"] = own_prompts({.null = true})
                              ? "each pair its own, the same for A and B; of their own for both turns of A against A"
                              : "each pair its own, the same for both turns";
  return conditions;
}

}  // namespace teapot::workbench
