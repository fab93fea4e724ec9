#include "workbench/roof.h"

#include <gtest/gtest.h>

#include <cstring>

namespace teapot::workbench {
namespace {

uint64_t sum_of_words(const std::byte* data, size_t bytes) {
  uint64_t sum = 0;
  for (size_t i = 0; i < bytes; i += sizeof(uint64_t)) {
    uint64_t word;
    std::memcpy(&word, data + i, sizeof(word));
    sum += word;
  }
  return sum;
}

TEST(ReadKernels, ReadEveryWordOnce) {
  const auto arena = cpu::Arena::reserve("the test", 16 * kReadGrain, cpu::Pages::k4k);
  ASSERT_TRUE(arena.has_value());
  for (size_t i = 0; i < arena->bytes(); ++i) arena->data()[i] = static_cast<std::byte>(i * 7 + i / 256);
  for (const ReadKernel& kernel : read_kernels()) {
    for (const size_t pages : {1, 3, 4, 7, 16}) {
      EXPECT_EQ(kernel.read(arena->data(), pages * kReadGrain), sum_of_words(arena->data(), pages * kReadGrain))
          << kernel.name << ", " << pages << " pages";
    }
  }
}

TEST(ArithmeticKernels, EveryHostHasOneOfEachKindThatFloorsNeed) {
  const std::vector<ArithmeticKernel> kernels = arithmetic_kernels();
  for (const char* isa : {"scalar", "avx2", "avx512", "avx512vnni"}) {
    EXPECT_EQ(arithmetic_of(kernels, Arithmetic::kInt8, isa).kind, Arithmetic::kInt8);
    EXPECT_EQ(arithmetic_of(kernels, Arithmetic::kF32, isa).kind, Arithmetic::kF32);
  }
  for (const ArithmeticKernel& kernel : kernels) {
    EXPECT_STREQ(arithmetic_of(kernels, kernel.kind, kernel.isa).name, kernel.name);
  }
}

TEST(ReadMeter, AnyNumberOfThreadsReadsTheWholeSet) {
  size_t calls = 0;
  const Crew crew{3, [&](const std::function<void(size_t)>& fn) -> Status {
                    ++calls;
                    for (size_t worker = 0; worker < 3; ++worker) fn(worker);
                    return {};
                  }};
  auto meter = ReadMeter::create(crew, {10 * kReadGrain + 1, ""});
  ASSERT_TRUE(meter.has_value()) << meter.error().message;
  EXPECT_EQ(meter->bytes(), 10 * kReadGrain);
  for (size_t threads = 1; threads <= 3; ++threads) {
    static size_t bytes_read;
    bytes_read = 0;
    const auto gbs = meter->pass({"counts", [](const std::byte*, size_t bytes) { return bytes_read += bytes; }}, threads);
    ASSERT_TRUE(gbs.has_value());
    EXPECT_GT(*gbs, 0);
    EXPECT_EQ(bytes_read, meter->bytes()) << threads;
  }
  EXPECT_EQ(calls, 4u);
}

TEST(WorkingSet, IsAnErrorWhereNothingIsLeft) {
  const auto set = choose_working_set(~uint64_t{0});
  ASSERT_FALSE(set.has_value());
  EXPECT_EQ(set.error().kind, ErrorKind::kMemory);
}

TEST(RoofReport, NamesItsFigures) {
  Roof roof;
  roof.set = {1u << 30, "less"};
  roof.read = {{1, 10, 11, "a"}, {2, 19, 20, "b"}};
  roof.pages = {{"4k", true, ""}, {"1g", false, "none"}};
  for (const ArithmeticKernel& kernel : arithmetic_kernels()) roof.peaks.push_back({kernel, 100});
  const Json json = to_json(roof);
  EXPECT_EQ(json["read_gbs"], 19);
  EXPECT_EQ(json["int8_gmacs"], 100);
  EXPECT_EQ(json["read"][0]["kernel"], "a");
  EXPECT_EQ(json["pages"][1]["reason"], "none");
  EXPECT_NE(to_text(roof).find("over 1.00 GiB: less"), std::string::npos);
}

}  // namespace
}  // namespace teapot::workbench
