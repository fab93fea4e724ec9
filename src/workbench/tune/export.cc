// Scripts that start the server as it was found, and what is known of a knob.
#include <algorithm>
#include <filesystem>

#include "base/file.h"
#include "workbench/bench/wrap.h"
#include "workbench/tune/reports.h"

namespace teapot::workbench {
namespace {

std::string shell_word(const std::string& word) {
  StartCommand one;
  one.words = {word};
  return to_shell(one);
}

// what: of a server's last words it may have many lines.
Status write_profile(const TuneSession& session, const KnobProfile& profile, const std::string& name, std::string what, uint16_t port,
                     std::vector<std::string>& files) {
  std::ranges::replace(what, '\n', ' ');
  TEAPOT_TRY(StartCommand command, command_of(session, profile, std::to_string(port)));
  const std::string base = session.folder + "/" + name;
  std::string env;
  for (const auto& [variable, value] : command.env) env += variable + "=" + shell_word(value) + "\n";
  std::string script = "#!/bin/sh\n# " + what + "\n";
  for (const std::string& note : command.host_notes) script += "# Of the machine, for its owner: " + note + "\n";
  for (const std::string& variable : command.unset) script += "unset " + variable + "\n";
  script += fmt::format("set -a\n. \"$(dirname \"$0\")/{}.env\"\nset +a\n", name);
  command.env.clear();
  script += "exec " + to_shell(command) + " \"$@\"\n";
  TEAPOT_CHECK(write_file(base + ".env", env));
  TEAPOT_CHECK(write_file(base + ".sh", script));
  std::error_code error;
  std::filesystem::permissions(base + ".sh", std::filesystem::perms::owner_exec, std::filesystem::perm_options::add, error);
  if (error) return fail(ErrorKind::kIo, "{}.sh: {}", base, error.message());
  files.push_back(base + ".sh");
  files.push_back(base + ".env");
  return {};
}

std::string values_text(const Knob& knob) {
  std::string text;
  for (const KnobValue& value : knob.values) text += (text.empty() ? "" : ", ") + value.value_or("nothing");
  return text + " (the first is the default)";
}

std::string conditions_text(const std::vector<Condition>& conditions) {
  std::string text;
  for (const Condition& condition : conditions) text += (text.empty() ? "" : "; ") + condition.text;
  return text;
}

}  // namespace

Result<std::vector<std::string>> export_profiles(const TuneSession& session, uint16_t port) {
  std::vector<std::string> files;
  const SearchResult& result = session.result;
  const std::string claim = claim_text(result) + (result.winner == result.base ? "; this starts the base" : "");
  TEAPOT_CHECK(write_profile(session, result.winner, "winner", claim, port, files));
  std::string simplest = claim;
  if (result.winner != result.base) {
    simplest = result.simplest == result.winner
                   ? "The winner: nothing in it could be left out unnoticed."
                   : "The winner without what could be left out unnoticed; raced against the winner as it stands here.";
  }
  TEAPOT_CHECK(write_profile(session, result.simplest, "simplest", simplest, port, files));
  if (result.unconfirmed) {
    TEAPOT_CHECK(write_profile(session, *result.unconfirmed, "unconfirmed", "The best so far; " + claim_text(result), port, files));
  }
  return files;
}

std::string why_text(const Catalogue& catalogue, const Knob& knob, const TuneSession* session) {
  std::string out = fmt::format("{} ({})\n", knob.name, catalogue.server);
  const auto line = [&out](std::string_view name, const std::string& text) {
    if (!text.empty()) out += wrap(fmt::format("  {:<10} ", name), text, 110);
  };
  line("set by", fmt::format("{} {}{}", to_string(knob.set.kind), knob.set.name, knob.set.json_key.empty() ? "" : " " + knob.set.json_key));
  line("values", values_text(knob));
  line("scope", fmt::format("{}, rank {}", to_string(knob.scope), knob.rank));
  line("since", knob.since);
  line("until", knob.until);
  line("effect", knob.effect);
  if (knob.gain) line("expected", fmt::format("{:g} to {:g} % of TPOT", knob.gain->first, knob.gain->second));
  line("text", fmt::format("{}{}{}", to_string(knob.text), knob.risk_note.empty() ? "" : ": ", knob.risk_note));
  line("requires", conditions_text(knob.requires_));
  line("conflicts", conditions_text(knob.conflicts));
  line("inert", knob.inert);
  line("check", fmt::format("{}{}{}", to_string(knob.check), knob.check_what.empty() ? "" : ": ", knob.check_what));
  line("evidence", fmt::format("{}{}", fmt::join(knob.evidence, "; "), knob.verified ? "" : " (not verified)"));
  if (session == nullptr) return out;
  bool any = false;
  for (const MoveVerdict& verdict : session->result.verdicts) {
    if (verdict.knob != knob.name) continue;
    any = true;
    std::string text =
        fmt::format("{}: {}", name_of(verdict.knob, verdict.value, verdict.with), kMoveStateNames[static_cast<size_t>(verdict.state)]);
    if (verdict.effect.pairs > 0) text += fmt::format(", {} after {} pairs", effect_text(verdict.effect), verdict.effect.pairs);
    if (verdict.adopted) text += ", adopted";
    if (!verdict.reason.empty()) text += "; " + verdict.reason;
    if (verdict.evidence)
      text += fmt::format("; in force: {} ({})", kSeenNames[static_cast<size_t>(verdict.evidence->seen)], verdict.evidence->what);
    line(verdict.phase, text);
  }
  for (const PruneVerdict& verdict : session->result.pruned) {
    if (verdict.knob != knob.name) continue;
    line("without it",
         fmt::format("{}, {} pairs with against without", kMoveStateNames[static_cast<size_t>(verdict.state)], verdict.effect.pairs));
  }
  if (!any) line("measured", "never, in " + session->folder);
  return out;
}

}  // namespace teapot::workbench
