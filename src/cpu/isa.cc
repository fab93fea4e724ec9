#include "cpu/isa.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <vector>

#include "plan/weight.h"

namespace teapot::cpu {
namespace {

static_assert(kKernelWeightTypes == plan::kWeightTypes);

using Features = std::vector<std::string_view>;

// __builtin_cpu_supports takes literals only. It asks the operating system too: registers that are not saved do not count.
#define TEAPOT_NEEDS_FEATURE(missing, feature) \
  if (!__builtin_cpu_supports(feature)) (missing).emplace_back(feature)

Features missing_for_avx2() {
  Features missing;
  TEAPOT_NEEDS_FEATURE(missing, "avx2");
  TEAPOT_NEEDS_FEATURE(missing, "fma");
  TEAPOT_NEEDS_FEATURE(missing, "bmi2");
  TEAPOT_NEEDS_FEATURE(missing, "f16c");
  return missing;
}

Features missing_for_avx512() {
  Features missing = missing_for_avx2();
  TEAPOT_NEEDS_FEATURE(missing, "avx512f");
  TEAPOT_NEEDS_FEATURE(missing, "avx512bw");
  TEAPOT_NEEDS_FEATURE(missing, "avx512vl");
  TEAPOT_NEEDS_FEATURE(missing, "avx512dq");
  return missing;
}

Features missing_for_avx512vnni() {
  Features missing = missing_for_avx512();
  TEAPOT_NEEDS_FEATURE(missing, "avx512vnni");
  return missing;
}

// The matrix registers are 8 KiB of state that a process must ask the system for.
Features missing_for_amx() {
  Features missing = missing_for_avx512vnni();
  TEAPOT_NEEDS_FEATURE(missing, "amx-tile");
  TEAPOT_NEEDS_FEATURE(missing, "amx-int8");
  constexpr long kRequestPermission = 0x1023, kTileData = 18;  // ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA
  if (missing.empty() && syscall(SYS_arch_prctl, kRequestPermission, kTileData) != 0) missing.emplace_back("the system's leave to use amx");
  return missing;
}

#undef TEAPOT_NEEDS_FEATURE

struct Candidate {
  std::string_view name;
  const KernelTable* table;
  Features (*missing)();
};

const Candidate kCandidates[] = {
    // best first
    {"amx", &kAmxKernels, missing_for_amx},
    {"avx512vnni", &kAvx512VnniKernels, missing_for_avx512vnni},
    {"avx512", &kAvx512Kernels, missing_for_avx512},
    {"avx2", &kAvx2Kernels, missing_for_avx2},
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
  std::string known = "auto";
  for (const Candidate& candidate : kCandidates) known += fmt::format(", {}", candidate.name);
  return fail(ErrorKind::kInvalid, "instruction set {}: unknown, expected one of {}", name, known);
}

}  // namespace teapot::cpu
