// gsm8k against a server: worked solutions to school problems, scored by their final number. Replies are greedy; with what they are scored
// by (final_number.h) and a hash over all of them, a setting that changes one reply is seen though the accuracy stays the same.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/json.h"
#include "workbench/bench/dataset.h"
#include "workbench/bench/load.h"
#include "workbench/eval/wilson.h"

namespace teapot::workbench {

struct Gsm8kQuestion {
  std::string question;
  std::string solution;  // worked, without the calculator's marks (<<3*4=12>>)
  std::string answer;    // canonical
};

// JSON Lines of {"question", "answer"}. kInvalid, with the line's number, for a line that isn't that or whose answer has no number.
Result<std::vector<Gsm8kQuestion>> parse_gsm8k(std::string_view text, std::string_view source);

struct Gsm8kTask {
  std::vector<Gsm8kQuestion> questions, shots;  // the worked examples before each question
  uint32_t first = 0;                           // in the dataset's file: the questions before it are the shots
  Json settings;                                // {"dataset": hash, "shots", "shots_from"}: what a run that is resumed must share
};

// The examples are the first `shots` of shots_path. Without one they are the first of the dataset itself, and are not scored. limit: scores
// so many questions; 0: all.
Result<Gsm8kTask> load_gsm8k(const std::string& dataset_path, uint32_t shots, const std::optional<std::string>& shots_path, uint32_t limit);

// The question with its examples: as turns of a chat, and as one text.
Prompt gsm8k_prompt(const Gsm8kTask& task, size_t question);

// What became of one question, and a line of results.jsonl.
struct Gsm8kReply {
  Outcome outcome = Outcome::kOk;
  std::string error;               // of those that failed
  std::string content, reasoning;  // the answer is looked for in the content alone
  std::string finish_reason;
  uint32_t completion_tokens = 0;
};

using Gsm8kReplies = std::map<uint32_t, Gsm8kReply>;  // by the question's number in the task, from 0

Json to_json(uint32_t question, const Gsm8kReply& reply, const Gsm8kTask& task);
// Adds a line of results.jsonl; a later one of the same question counts. kInvalid, naming the field.
Status add_gsm8k_line(const Json& line, const Gsm8kTask& task, Gsm8kReplies& replies);

struct Gsm8kScore {
  uint32_t questions = 0, finished = 0, correct = 0;
  uint32_t without_number = 0, cut = 0;                 // of the finished ones; cut: ended by max_tokens
  std::array<uint32_t, kOutcomeNames.size()> failed{};  // [Outcome], by kind
  double completion_tokens = 0;                         // mean of the finished ones
  uint64_t reply_hash = 0;  // of the finished replies in the order of the questions: number, texts and token count; the tokens themselves
                            // are not told by the protocol
  std::string first_error;

  double accuracy() const { return finished == 0 ? 0 : static_cast<double>(correct) / finished; }
  ShareInterval interval() const { return wilson_95(correct, finished); }
  bool complete() const { return finished == questions; }
};

Gsm8kScore score(const Gsm8kTask& task, const Gsm8kReplies& replies);

struct Gsm8kHooks {
  // Sends the requests and calls `done` for each, one at a time, in any order.
  std::function<Status(std::span<const LoadRequest> requests, const std::function<void(const RequestRecord& record)>& done)> send;
  std::function<Status(const Json& line)> keep;  // a line of results.jsonl, of every reply but the cancelled ones
  std::function<void(const Gsm8kScore& so_far)> progress;
};

// Asks what `replies` has not, or has as failed, and adds to it.
Result<Gsm8kScore> run_gsm8k(const Gsm8kTask& task, const BodyOptions& body, const Gsm8kHooks& hooks, Gsm8kReplies& replies);

Json to_json(const Gsm8kScore& score, const Gsm8kTask& task);
std::string to_text(const Gsm8kScore& score, const Gsm8kTask& task);

}  // namespace teapot::workbench
