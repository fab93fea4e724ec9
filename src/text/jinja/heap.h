// The memory and the patience of one rendering. Every value that a template makes lives here until the rendering ends: there is
// no ownership between values, so neither cycles (a macro and its scope, a namespace in itself) nor long chains can leak or
// overflow the stack when they go. Both the steps and the bytes are counted, and the first that runs out ends the rendering.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

namespace teapot::text::jinja {

class Heap {
 public:
  Heap(uint64_t max_steps, size_t max_bytes) : steps_left_(max_steps), bytes_left_(max_bytes) {}
  Heap(const Heap&) = delete;
  Heap& operator=(const Heap&) = delete;

  // One step is about one node of the template evaluated, one item visited or kBytesPerStep bytes of text looked at.
  void step(uint64_t steps = 1) {
    if (steps > steps_left_) out_of_steps();
    steps_left_ -= steps;
  }
  static constexpr uint64_t kBytesPerStep = 32;
  void step_over(std::string_view text) { step(1 + text.size() / kBytesPerStep); }

  // Destructors do not run: T must not own anything.
  template <class T>
  T* make(T value) {
    static_assert(std::is_trivially_destructible_v<T>);
    return new (allocate(sizeof(T), alignof(T))) T(value);
  }

  template <class T>
  std::span<T> copy(std::span<const T> items) {
    static_assert(std::is_trivially_copyable_v<T>);
    if (items.empty()) return {};
    if (items.size() > bytes_left_ / sizeof(T)) out_of_memory();
    T* to = static_cast<T*>(allocate(items.size() * sizeof(T), alignof(T)));
    std::uninitialized_copy(items.begin(), items.end(), to);
    return {to, items.size()};
  }
  template <class T>
  std::span<T> copy(const std::vector<T>& items) {
    return copy(std::span<const T>(items));
  }

  std::string_view copy(std::string_view text) {
    const std::span<char> to = copy(std::span<const char>(text));
    return {to.data(), to.size()};
  }

  // Fails if another `bytes` would not fit: to be asked before they are built anywhere.
  void expect_room(size_t bytes) const {
    if (bytes > bytes_left_) out_of_memory();
  }

 private:
  void* allocate(size_t bytes, size_t alignment);
  [[noreturn]] static void out_of_steps();
  [[noreturn]] static void out_of_memory();

  uint64_t steps_left_;
  size_t bytes_left_;
  std::vector<std::unique_ptr<std::byte[]>> blocks_;
  std::byte* free_ = nullptr;  // the rest of the last small block
  size_t free_bytes_ = 0;
};

}  // namespace teapot::text::jinja
