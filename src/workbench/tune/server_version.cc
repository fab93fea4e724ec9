#include "workbench/tune/server_version.h"

#include <algorithm>
#include <chrono>
#include <thread>

#include "base/json.h"
#include "base/path_name.h"
#include "workbench/bench/child_process.h"
#include "workbench/tune/server_start.h"
#include "workbench/tune/shell_words.h"
#include "workbench/tune/value_text.h"

namespace teapot::workbench {
namespace {

constexpr std::chrono::seconds kAnswer{20};
constexpr std::chrono::milliseconds kPoll{20};
constexpr size_t kShortestHash = 7;

bool is_hex(char c) { return is_digit(c) || (c >= 'a' && c <= 'f'); }
bool is_word(char c) { return is_digit(c) || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') || c == '.'; }

// "0.18.0" of "v0.18.0rc1" is none: letters behind a number make it another one.
bool is_number(std::string_view word) {
  return word.contains('.') && std::ranges::all_of(word, [](char c) { return is_digit(c) || c == '.'; }) && is_digit(word.front()) &&
         is_digit(word.back());
}
bool is_hash(std::string_view word) {
  return word.size() >= kShortestHash && std::ranges::all_of(word, is_hex) && std::ranges::any_of(word, is_digit);
}

// Numbers with dots, without a "v" before them, and hashes.
std::vector<std::string_view> marks_in(std::string_view text) {
  std::vector<std::string_view> marks;
  while (!text.empty()) {
    const size_t end = static_cast<size_t>(std::ranges::find_if_not(text, is_word) - text.begin());
    std::string_view word = text.substr(0, end);
    text.remove_prefix(std::min(std::max<size_t>(end, 1), text.size()));
    while (word.ends_with('.')) word.remove_suffix(1);
    if (word.size() > 1 && word.front() == 'v' && is_digit(word[1])) word.remove_prefix(1);
    if (is_number(word) || is_hash(word)) marks.push_back(word);
  }
  return marks;
}

bool same_mark(std::string_view a, std::string_view b) {
  return a == b || (is_hash(a) && is_hash(b) && (a.starts_with(b) || b.starts_with(a)));
}

// "llama-server --version", but not words for people.
bool is_command(const std::vector<std::string>& words) { return words.size() == 2 && words.back().starts_with('-'); }

std::string program_of(const std::string& named, const Launch& launch, const Placeholders& placeholders) {
  const auto start = split_words(launch.start);
  if (!start || start->empty()) return named;
  const auto same = std::ranges::find_if(*start, [&](const std::string& word) { return name_of_path(word) == named; });
  if (same != start->end()) return *same;
  const auto filled = fill_placeholders(start->front(), placeholders);
  return filled ? *filled : named;
}

}  // namespace

VersionQuestion version_question(const Launch& launch, const Placeholders& placeholders) {
  VersionQuestion question;
  for (std::string_view rest = launch.version; !rest.empty();) {
    const size_t end = std::min(rest.find(';'), rest.size());
    std::string_view part = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    while (part.starts_with(' ')) part.remove_prefix(1);
    if (question.target.empty()) question.target = target_of(part);
    auto words = split_words(part);
    if (!words || !is_command(*words)) continue;
    words->front() = program_of(words->front(), launch, placeholders);
    question.command = *std::move(words);
  }
  return question;
}

std::string version_in(const std::string& body) {
  const auto json = parse_json(body, "version");
  if (json && json->is_object() && json->contains("version")) {
    const Json& version = (*json)["version"];
    if (version.is_string()) return version.get<std::string>();
    if (version.is_number()) return dump_json(version);
  }
  return body.substr(0, body.find('\n'));
}

std::string ask_for_version(const std::vector<std::string>& command, const std::vector<std::pair<std::string, std::string>>& env,
                            std::string_view expected) {
  ChildOptions options;
  options.end_timeout = std::chrono::seconds(1);
  const auto child = ChildProcess::start(command, env, options);
  if (!child) return "";
  const auto end = std::chrono::steady_clock::now() + kAnswer;
  while ((*child)->ended().empty() && std::chrono::steady_clock::now() < end) std::this_thread::sleep_for(kPoll);
  if ((*child)->ended() != "exit code 0") return "";
  const std::string said = (*child)->log_tail();
  std::string first;
  for (std::string_view rest = said; !rest.empty();) {
    const size_t line_end = std::min(rest.find('\n'), rest.size());
    const std::string line(rest.substr(0, line_end));
    rest.remove_prefix(std::min(line_end + 1, rest.size()));
    if (same_version(expected, line)) return line;
    if (first.empty() && std::ranges::any_of(line, is_digit)) first = line;
  }
  return first;
}

bool same_version(std::string_view catalogue, std::string_view told) {
  const std::vector<std::string_view> wanted = marks_in(catalogue), found = marks_in(told);
  if (wanted.empty()) return !catalogue.empty() && told.contains(catalogue);
  return std::ranges::any_of(wanted, [&](std::string_view mark) {
    return std::ranges::any_of(found, [&](std::string_view other) { return same_mark(mark, other); });
  });
}

std::string version_text(std::string_view catalogue, const std::string& page, const std::string& command) {
  for (const std::string* told : {&page, &command}) {
    if (told->empty() || !same_version(catalogue, *told)) continue;
    return told->contains(catalogue) ? *told : fmt::format("{} (the catalogue's {})", *told, catalogue);
  }
  return page.empty() || command.empty() ? page + command : page + "; " + command;
}

}  // namespace teapot::workbench
