// Bytes of a server as the load generator's client reads them: HTTP, events, JSON; once as a stream, once as a whole reply, each at once
// and in two pieces. However they are cut, the same comes of them.
#include <cstdlib>

#include "workbench/bench/reply_reader.h"

using namespace teapot::workbench;

namespace {

RequestRecord read(std::string_view bytes, size_t cut, bool stream) {
  RequestRecord record;
  LoadRequest request;
  request.stream = stream;
  ReplyReader reader(request, true, record);
  for (const std::string_view piece : {bytes.substr(0, cut), bytes.substr(cut)}) {
    if (!piece.empty()) reader.feed(piece, 1);
  }
  reader.end_of_stream(1, "end");
  if (!reader.done()) std::abort();
  return record;
}

void expect_same(const RequestRecord& a, const RequestRecord& b) {
  // Beast notices what is wrong with a head that has no end sooner or later, as it is cut: one of the faults it is anyway.
  if (a.status == 0 && b.status == 0) {
    if (a.outcome == Outcome::kOk || b.outcome == Outcome::kOk) std::abort();
    return;
  }
  const bool same = a.outcome == b.outcome && a.status == b.status && a.content == b.content && a.reasoning == b.reasoning &&
                    a.finish_reason == b.finish_reason && a.chunks.size() == b.chunks.size() && a.prompt_tokens == b.prompt_tokens &&
                    a.completion_tokens == b.completion_tokens;
  if (!same) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const size_t cut = data[0] % size;  // the first byte chooses, and is no part of the reply
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  for (const bool stream : {true, false}) {
    const RequestRecord whole = read(bytes, bytes.size(), stream);
    expect_same(whole, read(bytes, std::min(cut, bytes.size()), stream));
  }
  return 0;
}
