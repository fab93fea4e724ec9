// From a generation's steps to the client: whole or as a stream, whatever the protocol.
#pragma once

#include <string>

#include "server/generation.h"

namespace teapot::server {

// How one protocol writes a reply of one or more choices. It is either taken whole (add each step, then whole) or streamed (events of each
// step, then last_events).
class ReplyFormat {
 public:
  virtual ~ReplyFormat() = default;

  virtual void add(ReplyStep step) = 0;
  virtual Json whole() const = 0;

  // The events that a step makes, ready to be sent; "" for none. With a choice's finish comes its finish reason.
  virtual std::string events(ReplyStep step) = 0;
  // After the last finish: usage, if asked for.
  virtual std::string last_events() = 0;
};

// Submits and answers: with the reply, or with the error that came instead. Comments keep a stream alive until its first token.
asio::awaitable<void> send_reply(Exchange& exchange, LoadedModel& model, engine::GenerateRequest request, engine::ReplyTextOptions text,
                                 uint32_t choices, ReplyFormat& format, bool stream);

}  // namespace teapot::server
