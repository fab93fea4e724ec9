// What may be set on a server: its knobs with their values, how each is set, what to expect of it and how to see that it took effect;
// read from a YAML file (data/catalogues/README.md is the format). A catalogue never says what is best: that is measured.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "workbench/tune/condition.h"

namespace teapot::workbench {

// Where a knob's value goes.
enum class SetKind {
  kEnvironment,  // name: the variable
  kFlag,         // name: the option, the value follows
  kSwitch,       // name: the option, present when true
  kPair,         // name or negate
  kJson,         // json_key inside the JSON object that is the value of option `name`
  kPrefix,       // the value goes before the start command
  kHost,         // name: a command for the machine's owner; shown, never run
};
struct KnobSet {
  SetKind kind = SetKind::kFlag;
  std::string name;
  std::string negate;    // kPair
  std::string json_key;  // kJson: "a.b.c"
};

// Values of both go to one place: only one of the two can be set.
bool same_place(const KnobSet& a, const KnobSet& b);

enum class KnobType { kBool, kInt, kFloat, kEnum, kString, kList, kSwitch };
enum class KnobScope { kHost, kComm, kGraph, kMemory, kKernel, kSpeculation, kScheduler, kCache, kAllocator };
// Of greedy replies: kSame: a change is a fault; kMay: rounding may change them; kLossy: it changes the model or the rule.
enum class TextRisk { kSame, kMay, kLossy };
// kEcho: only parsed or handed over. kNone: nothing to see.
enum class CheckKind { kLog, kMetric, kHttp, kProcess, kProfile, kEcho, kNone };

struct Knob {
  std::string name;
  KnobSet set;
  KnobType type = KnobType::kString;
  std::vector<KnobValue> values;  // at least one, no two alike; the first is the default
  std::vector<bool> literal;      // [values] a number, a boolean or a list: JSON gets it as such, else as a string
  KnobScope scope = KnobScope::kHost;
  int rank = 5;                      // 1 (tried first) .. 5 (skipped unless asked for)
  bool restart = true;               // false: can change while the server runs
  std::vector<Condition> requires_;  // [any number], all of them
  std::vector<Condition> conflicts;
  std::string since, until;
  std::string effect;
  std::optional<std::pair<double, double>> gain;  // change of TPOT in %, negative is faster: only orders the search
  TextRisk text = TextRisk::kSame;
  std::string risk_note;
  CheckKind check = CheckKind::kNone;
  std::string check_what;
  std::string inert;  // where it does nothing
  std::vector<std::string> evidence;
  bool verified = false;
  int line = 0;

  const KnobValue& default_value() const { return values.front(); }
};

// One of its values is worked out from the tokens of a step.
bool follows_step(const Knob& knob);

// How the server is started, watched and stopped. Texts that are not there are empty.
struct Launch {
  std::string start;                                     // words with {placeholders}
  std::vector<std::pair<std::string, std::string>> env;  // always set; values may have placeholders
  std::string ready;                                     // "GET /health": ready when it answers 200
  uint32_t ready_timeout_s = 600;
  std::string settle, version, config_echo, stop, flush_cache, metrics;
  std::string acceptance, mean_accepted, accepted_per_position;  // formulas over counters of `metrics`
  std::string cache_hits, preemptions, server_tpot, graph_dispatch;
  std::string start_note, ready_note, stop_note, version_more;
};

// Documented somewhere, but removed or without effect in this version.
struct Gone {
  std::string name, why, evidence;
  int line = 0;
};

struct Catalogue {
  std::string server, version, api, metric_prefix;
  bool flag_equals = false;  // --name=value
  Launch launch;
  std::vector<Knob> knobs;  // in the file's order
  std::vector<Gone> gone;

  const Knob* find(std::string_view name) const;  // null: no such knob
  // "the catalogue of S has no knob 'NAME'", and what became of it where `gone` knows: "--mtp" and "mtp" are one name, "--spec-*" is all
  // that begins so.
  std::string no_knob(std::string_view name) const;
  // The int knob that says how many tokens a step drafts, as the knobs with values by the step's tokens refer to it. Null: none does.
  const Knob* drafted_tokens() const;
};

// source names the text in errors. kInvalid: the message has a line for each fault, "FILE:LINE: what was found, what was expected".
Result<Catalogue> parse_catalogue(std::string_view yaml, const std::string& source);
struct CatalogueText {
  std::string source, yaml;
};
// A file's path, or the name of a catalogue that is built in ("vllm-ascend"). A word without '/' and '.yaml' is a name. kNotFound names
// all.
Result<CatalogueText> read_catalogue(const std::string& path_or_name);
Result<Catalogue> load_catalogue(const std::string& path_or_name);
std::vector<std::string> shipped_catalogues();

std::string_view to_string(SetKind kind);
std::string_view to_string(KnobType type);
std::string_view to_string(KnobScope scope);
std::string_view to_string(TextRisk risk);
std::string_view to_string(CheckKind kind);

}  // namespace teapot::workbench
