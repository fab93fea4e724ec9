#include "workbench/tune/prompts.h"

#include <array>
#include <string_view>

#include <fmt/format.h>

#include "engine/philox.h"

namespace teapot::workbench {
namespace {

constexpr std::array<std::string_view, 16> kWho = {
    "The baker",     "A young pilot", "My neighbour", "The night guard", "An old sailor", "The teacher",   "Our doctor", "The gardener",
    "A tired clerk", "The mayor",     "A violinist",  "The postman",     "Her daughter",  "The carpenter", "A stranger", "The librarian"};
constexpr std::array<std::string_view, 16> kDoes = {"carries",  "repairs", "forgets", "paints",   "measures",    "sells",
                                                    "hides",    "borrows", "counts",  "examines", "photographs", "returns",
                                                    "wraps up", "cleans",  "studies", "draws"};
constexpr std::array<std::string_view, 16> kWhat = {"a small lamp",     "the blue bicycle", "three letters", "an empty basket",
                                                    "the garden gate",  "a box of nails",   "the old map",   "a wooden chair",
                                                    "some fresh bread", "the broken clock", "a heavy book",  "two tickets",
                                                    "the radio",        "a pair of gloves", "the ladder",    "a jar of honey"};
constexpr std::array<std::string_view, 16> kWhere = {"near the bridge",  "behind the school", "in the market",       "on the quiet train",
                                                     "under the stairs", "by the river",      "in the workshop",     "at the station",
                                                     "on the roof",      "across the street", "in the kitchen",      "next to the church",
                                                     "in the long hall", "at the harbour",    "beside the fountain", "in the attic"};
constexpr std::array<std::string_view, 8> kWhen = {"before breakfast", "after the rain",      "every Tuesday",     "at noon",
                                                   "late at night",    "during the holidays", "without any hurry", "once a month"};
constexpr uint32_t kTask = 12;  // words of the last sentence

}  // namespace

std::string tune_prompt(uint64_t seed, uint32_t set, uint32_t number, uint32_t tokens) {
  const uint64_t words = uint64_t{tokens} * 3 / 4;
  std::string text;
  uint64_t written = 0;
  for (uint64_t sentence = 0; written + kTask < words || sentence == 0; ++sentence) {
    const auto bits = engine::philox4x32({static_cast<uint32_t>(sentence), number, set, 0x74756e65},
                                         {static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32)});
    const std::string line = fmt::format("{} {} {} {} {}. ", kWho[bits[0] % kWho.size()], kDoes[bits[0] / 64 % kDoes.size()],
                                         kWhat[bits[1] % kWhat.size()], kWhere[bits[2] % kWhere.size()], kWhen[bits[3] % kWhen.size()]);
    for (const char byte : line) written += byte == ' ' ? 1 : 0;
    text += line;
  }
  return text + "Tell in plain words what could happen next, and why it matters.";
}

}  // namespace teapot::workbench
