// Splits a reply as it grows into the model's reasoning (<think> ... </think>) and what comes after it.
//
// Rules: reasoning is there if the prompt opened it, or if the reply, after white space, begins with <think>; a <think> repeated at
// its start is dropped. It ends at the first </think>, or before a <tool_call> that is followed by the start of a call. Its text
// is trimmed; line breaks right behind </think> are dropped. Never closed, all is reasoning. Without reasoning the reply is kept
// as it is. Sent text is never taken back: white space and what may become a tag are held until more text decides. Time is linear.
#pragma once

#include <string>
#include <string_view>

#include "text/tags.h"

namespace teapot::text {

class ReasoningParser {
 public:
  struct Split {
    std::string reasoning;  // comes before rest
    std::string rest;
  };

  // call_start: what must follow a <tool_call>, after white space, to end the reasoning; empty: calls are not looked for. It must
  // outlive the parser and have its first character only once.
  ReasoningParser(bool starts_in_reasoning, std::string_view call_start);

  Split push(std::string_view piece);
  Split finish();

  // Whether what was read last belongs to the reasoning, as far as is known.
  bool in_reasoning() const { return place_ == Place::kReasoning || (place_ == Place::kStart && starts_in_reasoning_); }

  // The reasoning had no </think> of its own: the first one in the rest is a leftover.
  bool ended_by_call() const { return ended_by_call_; }

 private:
  enum class Place { kStart, kReasoning, kLineBreaks, kRest };

  bool read_start(bool at_end);
  bool read_reasoning(Split& split);
  void send_reasoning(std::string_view text, Split& split);
  void end_reasoning(size_t rest_begin, Place place);
  Split read(bool at_end);

  bool starts_in_reasoning_;
  std::string_view call_start_;
  Place place_ = Place::kStart;
  bool reasoning_sent_ = false;
  bool ended_by_call_ = false;
  std::string undecided_;  // read, but not sent yet
  size_t checked_ = 0;     // bytes of it known to be white space (kStart) or a <tool_call> and white space (kReasoning)
  SpaceHold space_;
};

}  // namespace teapot::text
