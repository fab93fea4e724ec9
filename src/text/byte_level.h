// The byte-level alphabet of GPT-2 and its heirs: each byte has a printable character, so that a vocabulary of bytes can be
// written as text (spec 6.1). Bytes 33..126, 161..172, 174..255 stand for themselves, the others for U+0100 and on, in order.
#pragma once

#include <string>
#include <string_view>

namespace teapot::text {

// The bytes that a vocabulary's token stands for. A token with a character outside of the alphabet stands for its own UTF-8.
std::string bytes_of_token(std::string_view token);

// The same the other way: how a vocabulary writes these bytes.
std::string token_of_bytes(std::string_view bytes);

}  // namespace teapot::text
