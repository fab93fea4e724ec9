#include <algorithm>

#include "workbench/eval/final_number.h"
#include "workbench/eval/gsm8k.h"
#include "workbench/eval/text_hash.h"

namespace teapot::workbench {
namespace {

Result<std::string> text(const Json& line, const char* name) {
  const auto found = line.find(name);
  if (found == line.end() || !found->is_string()) return fail(ErrorKind::kInvalid, "'{}' is no string", name);
  return found->get<std::string>();
}

Result<uint32_t> count(const Json& line, const char* name) {
  const auto found = line.find(name);
  if (found == line.end() || !found->is_number_integer() || found->get<int64_t>() < 0 || found->get<int64_t>() > UINT32_MAX) {
    return fail(ErrorKind::kInvalid, "'{}' is no count", name);
  }
  return found->get<uint32_t>();
}

std::string hash_digits(uint64_t hash) { return fmt::format("{:016x}", hash); }

}  // namespace

Json to_json(uint32_t question, const Gsm8kReply& reply, const Gsm8kTask& task) {
  Json line = {{"question", question}, {"outcome", kOutcomeNames[static_cast<size_t>(reply.outcome)]}};
  if (reply.outcome != Outcome::kOk) {
    line["error"] = reply.error;
    return line;
  }
  const auto answer = final_number(reply.content);
  const std::string& expected = task.questions[question].answer;
  line["answer"] = answer ? Json(*answer) : Json();
  line["expected"] = expected;
  line["correct"] = answer == expected;
  line["finish_reason"] = reply.finish_reason;
  line["completion_tokens"] = reply.completion_tokens;
  line["content"] = reply.content;
  line["reasoning"] = reply.reasoning;
  return line;
}

Status add_gsm8k_line(const Json& line, const Gsm8kTask& task, Gsm8kReplies& replies) {
  if (!line.is_object()) return fail(ErrorKind::kInvalid, "{}; expected an object", line.type_name());
  TEAPOT_TRY(const uint32_t question, count(line, "question"));
  TEAPOT_TRY(const std::string outcome, text(line, "outcome"));
  const auto kind = std::ranges::find(kOutcomeNames, outcome);
  if (kind == kOutcomeNames.end()) return fail(ErrorKind::kInvalid, "'outcome': '{}'", outcome);
  Gsm8kReply reply;
  reply.outcome = static_cast<Outcome>(kind - kOutcomeNames.begin());
  if (reply.outcome == Outcome::kOk) {
    TEAPOT_TRY(reply.content, text(line, "content"));
    TEAPOT_TRY(reply.reasoning, text(line, "reasoning"));
    TEAPOT_TRY(reply.finish_reason, text(line, "finish_reason"));
    TEAPOT_TRY(reply.completion_tokens, count(line, "completion_tokens"));
  } else {
    TEAPOT_TRY(reply.error, text(line, "error"));
  }
  if (question < task.questions.size()) replies[question] = std::move(reply);  // else of a run with a larger --limit
  return {};
}

Gsm8kScore score(const Gsm8kTask& task, const Gsm8kReplies& replies) {
  Gsm8kScore result;
  result.questions = static_cast<uint32_t>(task.questions.size());
  TextHash hash;
  uint64_t tokens = 0;
  for (const auto& [question, reply] : replies) {
    if (reply.outcome != Outcome::kOk) {
      ++result.failed[static_cast<size_t>(reply.outcome)];
      if (result.first_error.empty()) result.first_error = reply.error;
      continue;
    }
    const auto answer = final_number(reply.content);
    ++result.finished;
    result.correct += answer == task.questions[question].answer;
    result.without_number += !answer;
    result.cut += reply.finish_reason == "length";
    tokens += reply.completion_tokens;
    hash.add(question);
    hash.add(reply.reasoning);
    hash.add(reply.content);
    hash.add(reply.completion_tokens);
  }
  result.reply_hash = hash.value();
  if (result.finished > 0) result.completion_tokens = static_cast<double>(tokens) / result.finished;
  return result;
}

Json to_json(const Gsm8kScore& score, const Gsm8kTask& task) {
  const ShareInterval interval = score.interval();
  Json failed = Json::object();
  for (size_t kind = 0; kind < score.failed.size(); ++kind) {
    if (score.failed[kind] > 0) failed[std::string(kOutcomeNames[kind])] = score.failed[kind];
  }
  return {{"dataset", "gsm8k"},
          {"shots", task.shots.size()},
          {"first_question", task.first},
          {"questions", score.questions},
          {"finished", score.finished},
          {"complete", score.complete()},
          {"correct", score.correct},
          {"accuracy", score.accuracy()},
          {"accuracy_95", {interval.low, interval.high}},
          {"without_number", score.without_number},
          {"cut", score.cut},
          {"failed", failed},
          {"completion_tokens", score.completion_tokens},
          {"reply_hash", hash_digits(score.reply_hash)}};
}

std::string to_text(const Gsm8kScore& score, const Gsm8kTask& task) {
  const ShareInterval interval = score.interval();
  std::string shots = "no examples";
  if (!task.shots.empty()) {
    shots = fmt::format("{} worked example{} before each{}", task.shots.size(), task.shots.size() == 1 ? "" : "s",
                        task.first > 0 ? " (the dataset's first, which are not scored)" : "");
  }
  std::string text = fmt::format("gsm8k     {} questions, {}; greedy\n", score.questions, shots);
  text += fmt::format("accuracy  {:.1f} % ({} of {}), 95 % interval {:.1f} to {:.1f} %\n", 100 * score.accuracy(), score.correct,
                      score.finished, 100 * interval.low, 100 * interval.high);
  text += fmt::format("replies   {:.0f} tokens on average; {} without a number, {} cut by --max-tokens\n", score.completion_tokens,
                      score.without_number, score.cut);
  text += fmt::format("hash      {} of {} replies (text and number of tokens, in the order of the questions)\n",
                      hash_digits(score.reply_hash), score.complete() ? "all" : fmt::format("the {} finished", score.finished));
  if (score.complete()) return text;
  text += fmt::format("FAILED    {} of {} questions have no reply", score.questions - score.finished, score.questions);
  for (size_t kind = 0; kind < score.failed.size(); ++kind) {
    if (score.failed[kind] > 0) text += fmt::format("; {}: {}", kOutcomeNames[kind], score.failed[kind]);
  }
  if (!score.first_error.empty()) text += fmt::format("\n          the first: {}", score.first_error);
  return text + "\n          the same command with --resume asks them again\n";
}

}  // namespace teapot::workbench
