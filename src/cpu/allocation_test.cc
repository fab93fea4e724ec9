// Decoding allocates nothing (design section 4): every allocation of this test program is counted.
#include <gtest/gtest.h>
#include <atomic>
#include <cstdlib>
#include <new>

#include "cpu/backend.h"
#include "cpu/tiny_model.h"

namespace {
std::atomic<size_t> allocations = 0;
}

// Not inlined: gcc would see free() of what an operator new gave, and warn.
[[gnu::noinline]] void* operator new(size_t bytes) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  if (void* const memory = std::malloc(bytes == 0 ? 1 : bytes)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, size_t) noexcept { std::free(memory); }

namespace teapot::cpu {
namespace {

TEST(Allocation, DecodeStepsAllocateNothing) {
  const TinyModel model(plan::WeightType::kQ8_0);
  const auto backend = create_backend({"auto", "f16", "int8", "best", 2, "off"});
  ASSERT_TRUE(backend.has_value()) << backend.error().message;
  ASSERT_TRUE((*backend)->load(model.table, model.layout, {}));
  const auto plan = (*backend)->prepare(model.plan(2));
  ASSERT_TRUE(plan.has_value()) << plan.error().message;
  plan::StepPacket packet{{1, 2}, {{*(*backend)->open_slot(64), 0, 1, 0}, {*(*backend)->open_slot(64), 1, 1, 0}}, {}};
  packet.returns = {plan::RowReturn::kArgmax, plan::RowReturn::kLogits};
  plan::StepResult result;
  size_t before = 0;
  for (uint32_t position = 0; position < 20; ++position) {
    packet.sequences[0].position = packet.sequences[1].position = position;
    if (position == 1) before = allocations.load();  // the first step sizes the result
    ASSERT_TRUE((*backend)->run(*plan, packet, result));
    packet.tokens = {result.argmax[0], result.argmax[1]};
  }
  EXPECT_EQ(allocations.load(), before);
}

}  // namespace
}  // namespace teapot::cpu
