#include "cpu/packed_weights.h"

#include <algorithm>
#include <cstring>

#include "base/memory.h"

namespace teapot::cpu {
namespace {

// A piece of copying for one claim: big enough that claiming costs nothing, small enough that the threads end together.
constexpr uint64_t kCopyBytes = 4u << 20;
// Kernels may read a whole vector where a matrix ends.
constexpr uint64_t kSlackBytes = 64;

struct Copy {
  std::byte* to;
  const std::byte* from;
  uint64_t bytes;
};

Status check_matrix(const plan::Matrix& matrix) {
  const plan::WeightTypeInfo& type = plan::info(matrix.type);
  if (matrix.rows == 0 || matrix.cols == 0 || matrix.cols % type.elements != 0) {
    return fail(ErrorKind::kInternal, "{}: [{}, {}] {} is no whole number of blocks of {}", matrix.name, matrix.rows, matrix.cols,
                type.name, type.elements);
  }
  uint64_t rows = 0;
  for (const plan::RowRun& run : matrix.runs) rows += run.rows;
  if (rows != matrix.rows) return fail(ErrorKind::kInternal, "{}: runs of {} rows, expected {}", matrix.name, rows, matrix.rows);
  return {};
}

}  // namespace

Result<PackedWeights> PackedWeights::load(const plan::WeightTable& source, Pages pages, ThreadTeam& team, const Progress& progress) {
  PackedWeights packed;
  uint64_t total = 0, arena_bytes = 0;
  for (const plan::Matrix& matrix : source.matrices) {
    TEAPOT_CHECK(check_matrix(matrix));
    packed.offsets_.push_back(arena_bytes);
    arena_bytes = align_up(arena_bytes + matrix.bytes());
    total += matrix.bytes();
    packed.table_.matrices.push_back({matrix.name, matrix.type, matrix.rows, matrix.cols, {}});
  }
  packed.table_.vectors = source.vectors;
  arena_bytes += kSlackBytes;

  TEAPOT_TRY(const MemoryStatus memory, read_memory());
  if (arena_bytes > memory.available_bytes) {
    return fail(ErrorKind::kMemory, "the weights need {} bytes, {} are available ({})", arena_bytes, memory.available_bytes,
                memory.limited_by);
  }
  TEAPOT_TRY(packed.arena_, Arena::reserve("weights", arena_bytes, pages));

  // The same rows, where they lie from now on.
  for (size_t m = 0; m < source.matrices.size(); ++m) {
    packed.table_.matrices[m].runs = {{packed.arena_.data() + packed.offsets_[m], source.matrices[m].rows}};
  }

  std::vector<Copy> copies;
  for (size_t m = 0; m < source.matrices.size(); ++m) {
    const plan::Matrix& matrix = source.matrices[m];
    std::byte* to = packed.arena_.data() + packed.offsets_[m];
    for (const plan::RowRun& run : matrix.runs) {
      const uint64_t bytes = run.rows * row_bytes(matrix.type, matrix.cols);
      for (uint64_t at = 0; at < bytes; at += kCopyBytes) copies.push_back({to + at, run.data + at, std::min(kCopyBytes, bytes - at)});
      to += bytes;
    }
  }

  std::atomic<uint64_t> done = 0;
  if (progress) progress(0, total);
  team.parallel_for(copies.size(), [&](size_t item, size_t worker) {
    const Copy& copy = copies[item];
    std::memcpy(copy.to, copy.from, copy.bytes);
    const uint64_t so_far = done.fetch_add(copy.bytes, std::memory_order_relaxed) + copy.bytes;
    if (worker == 0 && progress) progress(so_far, total);
  });
  if (progress) progress(total, total);
  return packed;
}

}  // namespace teapot::cpu
