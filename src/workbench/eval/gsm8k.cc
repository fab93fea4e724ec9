#include "workbench/eval/gsm8k.h"

#include <algorithm>

#include "base/file.h"
#include "workbench/eval/final_number.h"
#include "workbench/eval/text_hash.h"

namespace teapot::workbench {
namespace {

constexpr std::string_view kTask = "\n\nReason step by step. Write the final number on a line of its own, after \"#### \".";

// The data's notes for a calculator, "<<16-3-4=9>>", are nothing that a person would write.
std::string without_notes(std::string_view solution) {
  std::string text;
  while (!solution.empty()) {
    const size_t open = solution.find("<<"), close = solution.find(">>", open);
    text += solution.substr(0, close == solution.npos ? solution.npos : open);
    solution.remove_prefix(close == solution.npos ? solution.size() : close + 2);
  }
  return text;
}

Result<Gsm8kQuestion> parse_question(std::string_view line, std::string_view where) {
  TEAPOT_TRY(const Json json, parse_json(line, where));
  for (const char* name : {"question", "answer"}) {
    if (!json.is_object() || !json.contains(name) || !json[name].is_string()) {
      return fail(ErrorKind::kInvalid, "{}: no string '{}'; expected {{\"question\": ..., \"answer\": ...}}", where, name);
    }
  }
  Gsm8kQuestion question;
  question.question = json["question"].get<std::string>();
  question.solution = without_notes(json["answer"].get<std::string>());
  auto answer = final_number(question.solution);
  if (!answer) return fail(ErrorKind::kInvalid, "{}: an answer without a number", where);
  question.answer = *std::move(answer);
  return question;
}

std::string hash_text(std::string_view text) {
  TextHash hash;
  hash.add(text);
  return fmt::format("{:016x}", hash.value());
}

}  // namespace

Result<std::vector<Gsm8kQuestion>> parse_gsm8k(std::string_view text, std::string_view source) {
  std::vector<Gsm8kQuestion> questions;
  for (size_t number = 1; !text.empty(); ++number) {
    const size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end == text.npos ? text.size() : end + 1);
    if (line.find_first_not_of(" \t\r") == line.npos) continue;
    TEAPOT_TRY(questions.emplace_back(), parse_question(line, fmt::format("{}, line {}", source, number)));
  }
  return questions;
}

Result<Gsm8kTask> load_gsm8k(const std::string& dataset_path, uint32_t shots, const std::optional<std::string>& shots_path,
                             uint32_t limit) {
  Gsm8kTask task;
  TEAPOT_TRY(const std::string text, read_file(dataset_path));
  TEAPOT_TRY(task.questions, parse_gsm8k(text, dataset_path));
  task.settings = {{"dataset", hash_text(text)}, {"shots", shots}, {"shots_from", "dataset"}};
  if (shots_path) {
    TEAPOT_TRY(const std::string examples, read_file(*shots_path));
    TEAPOT_TRY(task.shots, parse_gsm8k(examples, *shots_path));
    task.settings["shots_from"] = hash_text(examples);
  } else {
    task.shots = task.questions;
  }
  if (task.shots.size() < shots) {
    return fail(ErrorKind::kInvalid, "{}: {} questions; --shots {} takes as many", shots_path.value_or(dataset_path), task.shots.size(),
                shots);
  }
  task.shots.resize(shots);
  if (!shots_path) {
    task.first = shots;
    task.questions.erase(task.questions.begin(), task.questions.begin() + shots);
  }
  if (limit != 0 && limit < task.questions.size()) task.questions.resize(limit);
  if (task.questions.empty()) return fail(ErrorKind::kInvalid, "{}: no questions are left to score", dataset_path);
  return task;
}

Prompt gsm8k_prompt(const Gsm8kTask& task, size_t question) {
  Prompt prompt;
  prompt.messages = Json::array();
  for (const Gsm8kQuestion& shot : task.shots) {
    prompt.messages.push_back({{"role", "user"}, {"content", shot.question + std::string(kTask)}});
    prompt.messages.push_back({{"role", "assistant"}, {"content", shot.solution}});
    prompt.text += fmt::format("Question: {}\nAnswer: {}\n\n", shot.question, shot.solution);
  }
  const Gsm8kQuestion& asked = task.questions[question];
  prompt.messages.push_back({{"role", "user"}, {"content", asked.question + std::string(kTask)}});
  prompt.text += fmt::format("Question: {}\nAnswer:", asked.question);
  prompt.answer = asked.solution;
  return prompt;
}

Result<Gsm8kScore> run_gsm8k(const Gsm8kTask& task, const BodyOptions& body, const Gsm8kHooks& hooks, Gsm8kReplies& replies) {
  std::vector<uint32_t> asked;
  std::vector<LoadRequest> requests;
  for (uint32_t question = 0; question < task.questions.size(); ++question) {
    const auto earlier = replies.find(question);
    if (earlier != replies.end() && earlier->second.outcome == Outcome::kOk) continue;
    if (earlier != replies.end()) replies.erase(earlier);
    asked.push_back(question);
    requests.push_back(make_request(gsm8k_prompt(task, question), body, /*check_lengths=*/false));
  }
  if (hooks.progress) hooks.progress(score(task, replies));
  Status kept;
  const auto done = [&](const RequestRecord& record) {
    if (record.outcome == Outcome::kCancelled || !kept) return;
    Gsm8kReply reply;
    reply.outcome = record.outcome;
    reply.error = record.error;
    reply.content = record.content;
    reply.reasoning = record.reasoning;
    reply.finish_reason = record.finish_reason;
    reply.completion_tokens = record.completion_tokens;
    const uint32_t question = asked[record.index];
    if (hooks.keep) kept = hooks.keep(to_json(question, reply, task));
    replies[question] = std::move(reply);
    if (hooks.progress) hooks.progress(score(task, replies));
  };
  if (!requests.empty()) {
    TEAPOT_CHECK(hooks.send(requests, done));
  }
  TEAPOT_CHECK(kept);
  return score(task, replies);
}

}  // namespace teapot::workbench
