#include "text/pretokenizer.h"

#include <algorithm>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include "text/regex_syntax.h"
#include "text/utf8.h"

namespace teapot::text {
namespace {

// Steps of backtracking that one match may take: a run of white space is walked back a few times, so what a sound pattern needs
// grows with the text. One that needs more for each byte would run for hours.
uint32_t match_limit(size_t text_bytes) {
  return static_cast<uint32_t>(std::min<uint64_t>(1'000'000 + 16 * uint64_t{text_bytes}, UINT32_MAX));
}

constexpr uint32_t kHeapLimitKib = 1 << 20;

std::string pcre2_message(int code) {
  PCRE2_UCHAR text[256];
  pcre2_get_error_message(code, text, sizeof(text));
  return reinterpret_cast<const char*>(text);
}

}  // namespace

void Pretokenizer::Free::operator()(pcre2_real_code_8* code) const { pcre2_code_free(code); }

Result<Pretokenizer> Pretokenizer::compile(std::string_view pattern) {
  TEAPOT_TRY(const std::string rewritten, to_pcre2(pattern));
  Pretokenizer result;
  int error = 0;
  PCRE2_SIZE place = 0;
  result.code_.reset(
      pcre2_compile(reinterpret_cast<PCRE2_SPTR>(rewritten.data()), rewritten.size(), PCRE2_UTF | PCRE2_UCP, &error, &place, nullptr));
  if (!result.code_) return fail(ErrorKind::kInvalid, "regex '{}': {}", pattern, pcre2_message(error));
  // Where the system allows no executable memory the interpreter does the same, a few times slower.
  result.jit_ = pcre2_jit_compile(result.code_.get(), PCRE2_JIT_COMPLETE) == 0;
  return result;
}

Result<std::vector<std::string_view>> Pretokenizer::split(std::string_view text) const {
  const std::unique_ptr<pcre2_match_data, decltype(&pcre2_match_data_free)> match(pcre2_match_data_create(1, nullptr),
                                                                                  &pcre2_match_data_free);
  const std::unique_ptr<pcre2_match_context, decltype(&pcre2_match_context_free)> context(pcre2_match_context_create(nullptr),
                                                                                          &pcre2_match_context_free);
  if (!match || !context) return fail(ErrorKind::kMemory, "regex: no memory for its matches");
  pcre2_set_match_limit(context.get(), match_limit(text.size()));
  pcre2_set_heap_limit(context.get(), kHeapLimitKib);
  const PCRE2_SIZE* const found = pcre2_get_ovector_pointer(match.get());
  const auto* subject = reinterpret_cast<PCRE2_SPTR>(text.data());

  std::vector<std::string_view> pieces;
  pieces.reserve(text.size() / 4);
  size_t done = 0;  // text before it is in pieces
  for (size_t from = 0; from < text.size();) {
    int rc = PCRE2_ERROR_JIT_STACKLIMIT;
    if (jit_) rc = pcre2_jit_match(code_.get(), subject, text.size(), from, 0, match.get(), context.get());
    // The interpreter keeps its stack on the heap. The whole text was checked to be UTF-8; to check it again for each piece would
    // take quadratic time.
    if (rc == PCRE2_ERROR_JIT_STACKLIMIT) {
      rc = pcre2_match(code_.get(), subject, text.size(), from, PCRE2_NO_UTF_CHECK | PCRE2_NO_JIT, match.get(), context.get());
    }
    if (rc == PCRE2_ERROR_NOMATCH) break;
    if (rc < 0) return fail(ErrorKind::kInvalid, "regex of the pre-tokenizer, at byte {} of the text: {}", from, pcre2_message(rc));
    const size_t start = found[0];
    const size_t end = found[1];
    if (start > done) pieces.push_back(text.substr(done, start - done));
    if (end > start) pieces.push_back(text.substr(start, end - start));
    done = end;
    from = end > start ? end : end + (end < text.size() ? next_utf8(text.substr(end)).length : 1);
  }
  if (done < text.size()) pieces.push_back(text.substr(done));
  return pieces;
}

}  // namespace teapot::text
