#include "cli/tune_options.h"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "base/path_name.h"
#include "cli/share.h"
#include "workbench/tune/trial_record.h"

namespace teapot::cli {
namespace {

// The index of a name in a list that CLI11 has checked.
template <class Enum, size_t n>
Enum named(const std::array<std::string_view, n>& names, const std::string& name) {
  return static_cast<Enum>(std::ranges::find(names, name) - names.begin());
}

constexpr std::array<std::string_view, 3> kAllowed = {"same", "may", "lossy"};

constexpr uint32_t kMostTokens = 1'000'000;

Status parse_load(const std::string& text, workbench::TuneSettings& settings) {
  const size_t slash = text.find('/');
  const bool good = slash != std::string::npos && CLI::detail::lexical_cast(text.substr(0, slash), settings.prompt_tokens) &&
                    CLI::detail::lexical_cast(text.substr(slash + 1), settings.output_tokens) && settings.prompt_tokens > 0 &&
                    settings.output_tokens > 1 && std::max(settings.prompt_tokens, settings.output_tokens) <= kMostTokens;
  if (good) return {};
  return fail(ErrorKind::kInvalid, "--load: found '{}'; expected tokens of prompt and reply like 1024/512, at most {} each", text,
              kMostTokens);
}

Result<workbench::KnobProfile> read_profile(const std::string& path) {
  TEAPOT_TRY(const Json json, read_json_file(path));
  const bool result = json.is_object() && json.contains("profile");
  auto profile = workbench::parse_knob_profile(result ? json["profile"] : json);
  if (!profile) return at(path, std::move(profile).error());
  return profile;
}

Status check_fill(const TuneArguments& arguments, const workbench::Catalogue& catalogue, const workbench::Placeholders& fill) {
  workbench::Catalogue started = catalogue;
  if (!arguments.start.empty()) started.launch.start = arguments.start;
  std::vector<std::string> filled, faults;
  for (const std::string& each : arguments.fill) filled.push_back(each.substr(0, each.find('=')));
  TEAPOT_CHECK(workbench::check_placeholders(started, filled));
  for (const std::string& name : workbench::missing_placeholders(started.launch, fill)) {
    const std::string expected = name == "model" ? "--model MODEL, its path or name" : "--fill " + name + "=...";
    faults.push_back(fmt::format("{}: the start command of {} has {{{}}}; expected {}", name == "model" ? "--model" : "--fill",
                                 catalogue.server, name, expected));
  }
  if (faults.empty()) return {};
  return fail(ErrorKind::kInvalid, "{}", fmt::join(faults, "\n"));
}

}  // namespace

Result<workbench::Budget> parse_budget(const std::string& text) {
  workbench::Budget budget;
  const size_t end = text.find_first_not_of("0123456789.");
  const std::string unit = end == std::string::npos ? "" : text.substr(end);
  double number = 0;
  if (end != 0 && end != std::string::npos && CLI::detail::lexical_cast(text.substr(0, end), number) && number > 0 && number <= 1e6) {
    if (unit == "pairs" && number == std::floor(number)) budget.pairs = static_cast<uint32_t>(number);
    if (unit == "s") budget.seconds = number;
    if (unit == "m" || unit == "min") budget.seconds = 60 * number;
    if (unit == "h") budget.seconds = 3600 * number;
  }
  if (budget.pairs == 0 && budget.seconds == 0) {
    return fail(ErrorKind::kInvalid, "--budget: found '{}'; expected whole pairs of starts or a time, like 200pairs, 6h, 90m", text);
  }
  return budget;
}

Result<workbench::KnobProfile> parse_profile(const std::string& text, const workbench::Catalogue& catalogue) {
  if (text.empty()) return workbench::KnobProfile();
  workbench::KnobProfile profile;
  if (std::filesystem::is_regular_file(text)) {
    TEAPOT_TRY(profile, read_profile(text));
  } else {
    std::string knob;
    for (const std::string& part : CLI::detail::split(text, ',')) {
      const size_t equals = part.find('=');
      const std::string name = part.substr(0, equals);
      if (equals != std::string::npos && (catalogue.find(name) != nullptr || knob.empty())) {
        knob = name;
        profile[knob] = part.substr(equals + 1);
      } else if (!knob.empty()) {
        *profile[knob] += "," + part;
      } else {
        return fail(ErrorKind::kInvalid, "--from: found '{}'; expected KNOB=VALUE,KNOB=VALUE or a file", text);
      }
    }
    for (auto& [name, value] : profile) {
      if (value == "null" || value == "nothing") value.reset();
    }
  }
  for (const auto& [name, value] : profile) {
    if (catalogue.find(name) == nullptr) return fail(ErrorKind::kInvalid, "--from: {}", catalogue.no_knob(name));
  }
  return profile;
}

Result<workbench::TuneSettings> tune_settings(const TuneArguments& arguments, const workbench::Catalogue& catalogue, Json host,
                                              const std::string& program) {
  workbench::TuneSettings settings;
  settings.catalogue = arguments.catalogue;
  settings.start = arguments.start;
  // What the templates of catalogues ask for and is known here; --fill goes before it.
  settings.fill = {{"teapot", program},
                   {"seed", std::to_string(arguments.seed)},
                   {"state", std::filesystem::absolute(arguments.out).string() + "/state"}};
  if (!arguments.model.empty()) {
    settings.fill["model"] = arguments.model;
    settings.fill["name"] = name_of_path(arguments.model);
  }
  for (const std::string& each : arguments.fill) {
    const size_t equals = each.find('=');
    if (equals == std::string::npos) return fail(ErrorKind::kInvalid, "--fill: found '{}'; expected NAME=TEXT", each);
    settings.fill[each.substr(0, equals)] = each.substr(equals + 1);
  }
  TEAPOT_CHECK(check_fill(arguments, catalogue, settings.fill));
  workbench::SearchOptions& search = settings.search;
  search.knobs = arguments.knobs;
  search.parallel = arguments.parallel;
  search.seed = arguments.seed;
  TEAPOT_TRY(search.base, parse_profile(arguments.from, catalogue));
  TEAPOT_TRY(search.budget, parse_budget(arguments.budget));
  search.objective = named<workbench::Objective>(workbench::kObjectiveNames, arguments.objective);
  TEAPOT_TRY(search.max_ttft_harm, parse_share("--max-ttft-harm", arguments.max_ttft_harm));
  TEAPOT_TRY(search.coarsest_resolution, parse_share("--resolution", arguments.resolution));
  search.allow_text = named<workbench::TextRisk>(kAllowed, arguments.allow_text);
  TEAPOT_CHECK(parse_load(arguments.load, settings));
  settings.requests_per_user = arguments.requests_per_user;
  settings.start_timeout_s = arguments.start_timeout_s;
  settings.read_timeout_s = arguments.read_timeout_s;
  settings.target = arguments.api == "chat" ? "/v1/chat/completions" : "/v1/completions";
  if (!arguments.extra_args.empty()) {
    TEAPOT_TRY(settings.extra_args, parse_json(arguments.extra_args, "--extra-args"));
    if (!settings.extra_args.is_object())
      return fail(ErrorKind::kInvalid, "--extra-args: found {}; expected a JSON object", arguments.extra_args);
  }
  settings.host = std::move(host);
  return settings;
}

void add_tune_options(CLI::App& command, TuneArguments& arguments) {
  command.add_option("--catalogue", arguments.catalogue,
                     "What may be set on the server: a YAML file, or the name of a catalogue that is built in");
  command.add_option("--model", arguments.model, "What {model} stands for in the start command");
  command.add_option("--out", arguments.out, "Folder for ledger, logs and reports (default: tune_ and the server's name)");
  command.add_option("--start", arguments.start, "Start command with {model} and {port}, instead of the catalogue's");
  command.add_option("--fill", arguments.fill, "NAME=TEXT for other {NAME} of the start command; may be given again");
  command.add_option("--knobs", arguments.knobs, "Only these, separated by commas (default: all of rank 1 to 4)")->delimiter(',');
  command.add_option("--from", arguments.from,
                     "Where the search starts and what its gain is compared with: KNOB=VALUE,... or a file (default: the defaults)");
  command.add_option("--budget", arguments.budget, "Pairs of starts, or a time: 200pairs, 6h, 90m")->capture_default_str();
  command.add_option("--parallel", arguments.parallel, "Users at a time: each start has all of these loads")
      ->check(CLI::Range(1u, 65535u))
      ->capture_default_str();
  command.add_option("--load", arguments.load, "Tokens of a prompt (about) and of a reply")->capture_default_str();
  command.add_option("--requests-per-user", arguments.requests_per_user, "Requests of each user under a load")
      ->check(CLI::Range(1u, 10'000u))
      ->capture_default_str();
  command.add_option("--objective", arguments.objective, "What is to become shorter")
      ->check(CLI::IsMember(std::vector<std::string>(workbench::kObjectiveNames.begin(), workbench::kObjectiveNames.end())))
      ->capture_default_str();
  command.add_option("--max-ttft-harm", arguments.max_ttft_harm, "A setting that may lengthen TTFT by more is refused")
      ->capture_default_str();
  command
      .add_option("--resolution", arguments.resolution,
                  "Refuse to begin where budget and noise are such that only gains above this could be found")
      ->capture_default_str();
  command
      .add_option("--allow-text", arguments.allow_text,
                  "Greedy replies may change by knobs that may round differently, or even by lossy ones")
      ->check(CLI::IsMember(std::vector<std::string>(kAllowed.begin(), kAllowed.end())))
      ->capture_default_str();
  command.add_option("--api", arguments.api, "Which requests are sent")
      ->check(CLI::IsMember({"chat", "completions"}))
      ->capture_default_str();
  command.add_option("--extra-args", arguments.extra_args, "A JSON object whose fields go into each request");
  command.add_option("--start-timeout", arguments.start_timeout_s, "Seconds until a start counts as hung (0: the catalogue's)")
      ->capture_default_str();
  command.add_option("--read-timeout", arguments.read_timeout_s, "Seconds without a token, after which a reply counts as hung")
      ->check(CLI::Range(1u, 86'400u))
      ->capture_default_str();
  command.add_option("--seed", arguments.seed, "Of prompts and orders")->capture_default_str();
}

}  // namespace teapot::cli
