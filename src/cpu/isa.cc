#include "cpu/isa.h"

#include <vector>

#include "plan/weight.h"

namespace teapot::cpu {
namespace {

static_assert(kKernelWeightTypes == plan::kWeightTypes);

using Features = std::vector<std::string_view>;

struct Candidate {
  std::string_view name;
  const KernelTable* table;
  Features (*missing)();
};

const Candidate kCandidates[] = {
    // best first
    {"scalar", &kScalarKernels, [] { return Features(); }},
};

}  // namespace

Result<const KernelTable*> select_kernels(std::string_view name) {
  for (const Candidate& candidate : kCandidates) {
    if (name != "auto" && name != candidate.name) continue;
    const Features missing = candidate.missing();
    if (missing.empty()) return candidate.table;
    if (name == "auto") continue;
    return fail(ErrorKind::kUnsupported, "instruction set {}: this processor lacks {}", name, fmt::join(missing, ", "));
  }
  return fail(ErrorKind::kInvalid, "instruction set {}: unknown, expected auto, scalar, avx2, avx512 or avx512vnni", name);
}

}  // namespace teapot::cpu
