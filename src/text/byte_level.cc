#include "text/byte_level.h"

#include <array>
#include <cstdint>

#include "text/utf8.h"

namespace teapot::text {
namespace {

constexpr bool is_printable(int byte) { return (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) || byte >= 174; }

struct Alphabet {
  std::array<uint16_t, 256> character;  // of a byte
  std::array<int16_t, 512> byte;        // of a character, -1: none
};

constexpr Alphabet make_alphabet() {
  Alphabet alphabet{};
  alphabet.byte.fill(-1);
  int spare = 256;
  for (int b = 0; b < 256; ++b) {
    const int character = is_printable(b) ? b : spare++;
    alphabet.character[b] = static_cast<uint16_t>(character);
    alphabet.byte[character] = static_cast<int16_t>(b);
  }
  return alphabet;
}

constexpr Alphabet kAlphabet = make_alphabet();

}  // namespace

std::string bytes_of_token(std::string_view token) {
  std::string bytes;
  for (size_t i = 0; i < token.size();) {
    const Utf8Step step = next_utf8(token.substr(i));
    const int byte = step.kind == Utf8Step::Kind::kCharacter && step.code < kAlphabet.byte.size() ? kAlphabet.byte[step.code] : -1;
    if (byte < 0) return std::string(token);
    bytes += static_cast<char>(byte);
    i += step.length;
  }
  return bytes;
}

std::string token_of_bytes(std::string_view bytes) {
  std::string token;
  for (const char c : bytes) append_utf8(token, kAlphabet.character[static_cast<uint8_t>(c)]);
  return token;
}

}  // namespace teapot::text
