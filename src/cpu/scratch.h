// Memory that all plans share, as big as the largest needs: one plan runs at a time.
#pragma once

#include <cstdlib>
#include <memory>
#include <vector>

#include "cpu/arena.h"

namespace teapot::cpu {

class Scratch {
 public:
  // what: named in errors.
  Scratch(const char* what, Pages pages) : what_(what), pages_(pages) {}

  // Room for so many bytes. Growing moves: what lay here is lost, but stays readable until drop_outgrown. Returns whether it moved.
  Result<bool> grow(uint64_t bytes);
  // Memory that is about to be touched for the first time must be there: a clear error instead of being killed.
  Status touch(uint64_t bytes);
  void drop_outgrown() { outgrown_.clear(); }

  std::byte* data() const { return arena_.data(); }
  uint64_t bytes() const { return arena_.bytes(); }

 private:
  const char* what_;
  Pages pages_;
  Arena arena_;
  uint64_t in_use_ = 0;  // bytes that were touched, at most
  std::vector<Arena> outgrown_;
};

struct Free {
  void operator()(std::byte* memory) const { std::free(memory); }
};
using HeapScratch = std::unique_ptr<std::byte, Free>;

// From malloc, aligned like an arena's. kMemory when there is none.
Result<HeapScratch> allocate_scratch(const char* what, uint64_t bytes);

}  // namespace teapot::cpu
