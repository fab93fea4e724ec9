// Records of one size, many of them. What does not fit a little memory lies in a temporary file without a name, mapped: passes give back
// the memory of what is behind them, and what is looked at again comes back by itself.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <initializer_list>
#include <memory>
#include <queue>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace teapot::workbench::trace {

class SpilledBytes {
 public:
  static constexpr size_t kInMemory = size_t{64} << 20;

  SpilledBytes() = default;
  SpilledBytes(SpilledBytes&& other) noexcept { *this = std::move(other); }
  SpilledBytes& operator=(SpilledBytes&& other) noexcept;
  ~SpilledBytes();

  std::byte* data() const { return data_; }
  size_t capacity() const { return capacity_; }
  bool spilled() const { return file_ >= 0; }
  // For at least so many bytes; moves them. Beyond kInMemory they go to a file in the folder for temporary ones; where that has no room
  // they stay in memory. Throws bad_alloc where there is none either.
  void grow(size_t bytes);
  // Of the bytes from .. to - 1 nothing needs to be in memory now.
  void let_go(size_t from, size_t to) const;

 private:
  bool to_file(size_t bytes);
  void to_memory(size_t bytes);
  void drop();

  std::byte* data_ = nullptr;
  size_t capacity_ = 0;
  int file_ = -1;
};

template <class T>
class SpilledRows {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  SpilledRows() = default;
  SpilledRows(std::initializer_list<T> rows) {
    for (const T& row : rows) push_back(row);
  }
  SpilledRows(const SpilledRows& other) {
    other.each([this](const T& row) { push_back(row); });
  }
  SpilledRows(SpilledRows&& other) noexcept : bytes_(std::move(other.bytes_)), size_(std::exchange(other.size_, 0)) {}
  SpilledRows& operator=(const SpilledRows& other) {
    if (this != &other) *this = SpilledRows(other);
    return *this;
  }
  SpilledRows& operator=(SpilledRows&& other) noexcept {
    bytes_ = std::move(other.bytes_);
    size_ = std::exchange(other.size_, 0);
    return *this;
  }
  ~SpilledRows() = default;

  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T* begin() { return reinterpret_cast<T*>(bytes_.data()); }
  T* end() { return begin() + size_; }
  const T* begin() const { return reinterpret_cast<const T*>(bytes_.data()); }
  const T* end() const { return begin() + size_; }
  T& operator[](size_t i) { return begin()[i]; }
  const T& operator[](size_t i) const { return begin()[i]; }
  const T& front() const { return *begin(); }
  T& back() { return end()[-1]; }

  void push_back(const T& row) {
    if ((size_ + 1) * sizeof(T) > bytes_.capacity()) bytes_.grow((size_ + 1) * sizeof(T));
    std::construct_at(begin() + size_++, row);
    if (size_ % kWindow == 0) passed(size_);
  }

  // fn(row) in order.
  template <class F>
  void each(F&& fn) {
    for (size_t i = 0; i < size_;) {
      for (const size_t until = std::min(size_, i + kWindow); i < until; ++i) fn((*this)[i]);
      passed(i);
    }
  }
  template <class F>
  void each(F&& fn) const {
    for (size_t i = 0; i < size_;) {
      for (const size_t until = std::min(size_, i + kWindow); i < until; ++i) fn((*this)[i]);
      passed(i);
    }
  }

  // A pass in order is here; for passes that are no each().
  void passed(size_t row) const {
    const size_t window = kWindow * sizeof(T), at = row * sizeof(T);
    if (at >= window) bytes_.let_go(at - window, at);
  }

  template <class F>
  void erase_if(F&& gone) {
    size_t kept = 0;
    each([&](const T& row) {
      if (gone(row)) return;
      (*this)[kept++] = row;
      if (kept % kWindow == 0) passed(kept);
    });
    size_ = kept;
  }

  // Nothing is moved where the rows are in order already. Those in a file are sorted piece by piece and merged into another one.
  template <class Less>
  void sort(Less less) {
    bool sorted = true;
    const T* before = nullptr;
    each([&](const T& row) {
      sorted = sorted && (before == nullptr || !less(row, *before));
      before = &row;
    });
    if (sorted) return;
    if (!bytes_.spilled()) return std::sort(begin(), end(), less);
    *this = merged(sort_pieces(less), less);
  }

  static constexpr size_t kWindow = std::max<size_t>(1, (size_t{8} << 20) / sizeof(T));  // rows that passes keep in memory

 private:
  struct Piece {
    size_t at, end;
  };

  template <class Less>
  std::vector<Piece> sort_pieces(Less less) {
    constexpr size_t kPiece = SpilledBytes::kInMemory / sizeof(T);
    std::vector<Piece> pieces;
    for (size_t at = 0; at < size_; at += kPiece) {
      pieces.push_back({at, std::min(size_, at + kPiece)});
      std::sort(begin() + pieces.back().at, begin() + pieces.back().end, less);
      bytes_.let_go(pieces.back().at * sizeof(T), pieces.back().end * sizeof(T));
    }
    return pieces;
  }

  template <class Less>
  SpilledRows merged(std::vector<Piece> pieces, Less less) const {
    SpilledRows result;
    const auto later = [&](size_t a, size_t b) { return less((*this)[pieces[b].at], (*this)[pieces[a].at]); };
    std::priority_queue<size_t, std::vector<size_t>, decltype(later)> first(later);
    for (size_t i = 0; i < pieces.size(); ++i) first.push(i);
    while (!first.empty()) {
      const size_t i = first.top();
      first.pop();
      result.push_back((*this)[pieces[i].at++]);
      if (pieces[i].at % kWindow == 0) passed(pieces[i].at);
      if (pieces[i].at < pieces[i].end) first.push(i);
    }
    return result;
  }

  SpilledBytes bytes_;
  size_t size_ = 0;
};

}  // namespace teapot::workbench::trace
