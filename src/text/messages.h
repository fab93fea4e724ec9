// Brings a request's messages into the form that chat templates expect, before rendering.
//
// - Leading system and developer messages become one system message, their texts joined by a blank line; a developer message elsewhere
//   becomes a system message (the template says whether it may stand there).
// - Content given in parts becomes one string, the parts' texts one after the other, as a template would print them. Only text parts:
//   an image, audio or video part is an error.
// - An assistant's content may be null, or be missing beside tool calls or reasoning: it becomes "".
// - Arguments of tool calls become objects: a string is parsed, null or missing ones are empty.
// - `reasoning` and `thinking` of an assistant become `reasoning_content`, which has precedence over them.
// - Null fields of messages and calls are dropped; fields that are not named here stay as they are.
#pragma once

#include <expected>
#include <string>

#include "base/json.h"

namespace teapot::text {

// What is wrong with a request, and where: `field` is a path in it, "messages[2].content[0].type".
struct FieldError {
  std::string field;
  std::string message;  // without the field

  std::string text() const { return field + ": " + message; }
};

std::expected<Json, FieldError> normalize_messages(const Json& messages);

// What a template sees of a request. messages: normalised. tools and documents: arrays or null; absent or empty, they are null in the
// context, never missing, since templates ask for them. chat_template_kwargs (an object or null) are further variables, such as
// enable_thinking, and stand beside the others; one of the same name replaces it.
Json build_template_context(Json messages, Json tools, Json documents, const Json& chat_template_kwargs, bool add_generation_prompt);

}  // namespace teapot::text
