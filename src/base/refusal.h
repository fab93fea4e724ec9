// Memory and threads that the system refuses, as errors: for threads on which nobody would catch them.
#pragma once

#include <new>
#include <system_error>
#include <utility>

#include "base/error.h"

namespace teapot {

// fn(), or kMemory if the system refuses it memory or a thread. what: "the model" in "the model: out of memory".
template <class F>
auto or_refusal(const char* what, F&& fn) -> decltype(fn()) {
  try {
    return std::forward<F>(fn)();
  } catch (const std::bad_alloc&) {
    return fail(ErrorKind::kMemory, "{}: out of memory", what);
  } catch (const std::system_error& e) {
    return fail(ErrorKind::kMemory, "{}: the system refuses: {}", what, e.what());
  }
}

}  // namespace teapot
