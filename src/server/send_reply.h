// From a generation's steps to the client: whole or as a stream, whatever the protocol.
#pragma once

#include <string>

#include "server/generation.h"

namespace teapot::server {

// How one protocol writes a reply. A reply is either taken whole (add, then whole) or streamed (events).
class ReplyFormat {
 public:
  virtual ~ReplyFormat() = default;

  virtual void add(ReplyStep step) = 0;
  virtual Json whole(const engine::Finish& finish, uint32_t reasoning_tokens) const = 0;

  // The events that a step makes, ready to be sent; "" for none.
  virtual std::string events(ReplyStep step) = 0;
  // The last events: finish reason, usage if asked for.
  virtual std::string last_events(const engine::Finish& finish, uint32_t reasoning_tokens) = 0;
};

// Submits and answers: with the reply, or with the error that came instead. Comments keep a stream alive until its first token.
asio::awaitable<void> send_reply(Exchange& exchange, LoadedModel& model, engine::GenerateRequest request, engine::ReplyTextOptions text,
                                 ReplyFormat& format, bool stream);

}  // namespace teapot::server
