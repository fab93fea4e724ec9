#include "cpu/packed_weights.h"

#include <algorithm>
#include <array>
#include <mutex>

#include "base/file.h"
#include "base/memory.h"
#include "cpu/kernels/tiles.h"
#include "cpu/pack_tiles.h"
#include "plan/convert_rows.h"
#include "plan/dequantize.h"

namespace teapot::cpu {
namespace {

// A piece of packing for one claim: big enough that claiming costs nothing, small enough that the threads end together.
constexpr uint64_t kPieceBytes = 2u << 20;
// Kernels may read a whole vector where a matrix ends.
constexpr uint64_t kSlackBytes = 64;

// Rows [first, last) of a matrix.
struct Piece {
  size_t matrix;
  uint32_t first, last;
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

// A matrix of a few rows would be read many times over.
bool worth_tiles(const plan::Matrix& matrix) { return has_tiles(matrix.type) && matrix.rows >= kTileRows; }

// Walks the rows of a matrix through its runs.
class Rows {
 public:
  explicit Rows(const plan::Matrix& matrix) : matrix_(matrix), bytes_(row_bytes(matrix.type, matrix.cols)) {}

  // Null beyond the end. Rows must be asked for in ascending order.
  const std::byte* at(uint32_t row) {
    while (run_ < matrix_.runs.size() && row >= begin_ + matrix_.runs[run_].rows) begin_ += matrix_.runs[run_++].rows;
    return run_ == matrix_.runs.size() ? nullptr : matrix_.runs[run_].data + (row - begin_) * bytes_;
  }

 private:
  const plan::Matrix& matrix_;
  size_t bytes_;
  size_t run_ = 0;
  uint32_t begin_ = 0;
};

// first: a multiple of 16.
Status pack_tiles(const plan::Matrix& matrix, const Piece& piece, std::byte* to) {
  Rows source(matrix);
  const size_t bytes = tile_bytes(matrix.type, matrix.cols);
  const size_t row_size = row_bytes(matrix.type, matrix.cols);
  std::vector<std::byte> quantised(matrix.source ? kTileRows * row_size : 0);
  for (uint32_t row = piece.first; row < piece.last; row += kTileRows) {
    std::array<const std::byte*, kTileRows> rows{};
    if (matrix.source) {
      const uint32_t count = std::min<uint32_t>(kTileRows, piece.last - row);
      TEAPOT_CHECK(convert_rows(matrix, row, count, quantised.data()));
      for (uint32_t i = 0; i < count; ++i) rows[i] = quantised.data() + i * row_size;
    } else {
      for (uint32_t i = 0; i < kTileRows; ++i) rows[i] = source.at(row + i);
    }
    pack_tile(matrix.type, rows, matrix.cols, to + row / kTileRows * bytes);
  }
  return {};
}

// The first error of several threads.
class FirstError {
 public:
  void note(Status status) {
    if (status) return;
    const std::lock_guard lock(mutex_);
    if (first_) first_ = std::move(status);
    failed_ = true;
  }
  bool failed() const { return failed_; }
  const Status& status() const { return first_; }

 private:
  std::mutex mutex_;
  Status first_;
  std::atomic<bool> failed_ = false;
};

}  // namespace

Result<PackedWeights> PackedWeights::load(const plan::WeightTable& source, Pages pages, ThreadTeam& team, const Progress& progress,
                                          bool prepack) {
  PackedWeights packed;
  uint64_t total = 0, arena_bytes = 0;
  for (const plan::Matrix& matrix : source.matrices) {
    TEAPOT_CHECK(check_matrix(matrix));
    const bool tiled = prepack && worth_tiles(matrix);
    const uint64_t bytes =
        tiled ? uint64_t{(matrix.rows + kTileRows - 1) / kTileRows} * tile_bytes(matrix.type, matrix.cols) : matrix.bytes();
    packed.places_.push_back({arena_bytes, bytes, tiled});
    arena_bytes = align_up(arena_bytes + bytes);
    total += matrix.bytes();
    packed.table_.matrices.push_back({matrix.name, matrix.type, matrix.rows, matrix.cols, {}});
  }
  packed.table_.vectors = source.vectors;
  arena_bytes += kSlackBytes;

  TEAPOT_TRY(packed.arena_, Arena::reserve("weights", arena_bytes, pages));
  TEAPOT_TRY(const MemoryStatus memory, read_memory());
  if (!packed.arena_.pooled() && arena_bytes > memory.available_bytes) {
    return fail(ErrorKind::kMemory, "the weights need {} bytes, {} are available ({})", arena_bytes, memory.available_bytes,
                memory.limited_by);
  }

  for (size_t m = 0; m < source.matrices.size(); ++m) {
    packed.table_.matrices[m].runs = {{packed.arena_.data() + packed.places_[m].offset, source.matrices[m].rows}};
  }

  std::vector<Piece> pieces;
  for (size_t m = 0; m < source.matrices.size(); ++m) {
    const plan::Matrix& matrix = source.matrices[m];
    const uint64_t rows = std::max<uint64_t>(kPieceBytes / row_bytes(matrix.type, matrix.cols) / kTileRows, 1) * kTileRows;
    for (uint64_t first = 0; first < matrix.rows; first += rows) {
      pieces.push_back({m, static_cast<uint32_t>(first), static_cast<uint32_t>(std::min<uint64_t>(first + rows, matrix.rows))});
    }
  }

  FirstError error;
  std::atomic<uint64_t> done = 0;
  if (progress) progress(0, total);
  team.parallel_for(pieces.size(), [&](size_t item, size_t worker) {
    if (error.failed()) return;
    const Piece& piece = pieces[item];
    const plan::Matrix& matrix = source.matrices[piece.matrix];
    const Place& place = packed.places_[piece.matrix];
    std::byte* const to = packed.arena_.data() + place.offset;
    const size_t row_size = row_bytes(matrix.type, matrix.cols);
    error.note(place.tiled ? pack_tiles(matrix, piece, to)
                           : convert_rows(matrix, piece.first, piece.last - piece.first, to + piece.first * row_size));
    const uint64_t bytes = uint64_t{piece.last - piece.first} * row_size;
    if (source.mapped) {
      for (const plan::RowRun& run : matrix.find_rows(piece.first, piece.last - piece.first)) {
        let_go({run.data, run.rows * row_bytes(matrix.source_type(), matrix.cols)});
      }
    }
    const uint64_t so_far = done.fetch_add(bytes, std::memory_order_relaxed) + bytes;
    if (worker == 0 && progress) progress(so_far, total);
  });
  TEAPOT_CHECK(error.status());
  if (progress) progress(total, total);
  return packed;
}

void PackedWeights::row(plan::MatrixId id, size_t row, float* out) const {
  const plan::Matrix& m = table_[id];
  const std::byte* const data = arena_.data() + places_[static_cast<size_t>(id)].offset;
  if (tiled(id)) {
    unpack_tile_row(m.type, data + row / kTileRows * tile_bytes(m.type, m.cols), row % kTileRows, m.cols, out);
  } else {
    dequantize_row(m.type, data + row * row_bytes(m.type, m.cols), m.cols, out);
  }
}

}  // namespace teapot::cpu
