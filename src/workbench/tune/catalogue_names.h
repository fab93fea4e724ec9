// The words of the catalogues' format.
#pragma once

#include <array>
#include <string_view>
#include <utility>

#include "workbench/tune/catalogue.h"

namespace teapot::workbench {

template <class T, size_t N>
using NameTable = std::array<std::pair<std::string_view, T>, N>;

inline constexpr NameTable<SetKind, 7> kSetKinds = {{{"env", SetKind::kEnvironment},
                                                     {"flag", SetKind::kFlag},
                                                     {"switch", SetKind::kSwitch},
                                                     {"pair", SetKind::kPair},
                                                     {"json", SetKind::kJson},
                                                     {"prefix", SetKind::kPrefix},
                                                     {"host", SetKind::kHost}}};
inline constexpr NameTable<KnobType, 7> kKnobTypes = {{{"bool", KnobType::kBool},
                                                       {"int", KnobType::kInt},
                                                       {"float", KnobType::kFloat},
                                                       {"enum", KnobType::kEnum},
                                                       {"string", KnobType::kString},
                                                       {"list", KnobType::kList},
                                                       {"switch", KnobType::kSwitch}}};
inline constexpr NameTable<KnobScope, 9> kKnobScopes = {{{"host", KnobScope::kHost},
                                                         {"comm", KnobScope::kComm},
                                                         {"graph", KnobScope::kGraph},
                                                         {"memory", KnobScope::kMemory},
                                                         {"kernel", KnobScope::kKernel},
                                                         {"speculation", KnobScope::kSpeculation},
                                                         {"scheduler", KnobScope::kScheduler},
                                                         {"cache", KnobScope::kCache},
                                                         {"allocator", KnobScope::kAllocator}}};
inline constexpr NameTable<TextRisk, 3> kTextRisks = {{{"same", TextRisk::kSame}, {"may", TextRisk::kMay}, {"lossy", TextRisk::kLossy}}};
inline constexpr NameTable<CheckKind, 7> kCheckKinds = {{{"log", CheckKind::kLog},
                                                         {"metric", CheckKind::kMetric},
                                                         {"http", CheckKind::kHttp},
                                                         {"process", CheckKind::kProcess},
                                                         {"profile", CheckKind::kProfile},
                                                         {"echo", CheckKind::kEcho},
                                                         {"none", CheckKind::kNone}}};

template <class T, size_t N>
constexpr std::string_view name_in(const NameTable<T, N>& table, T value) {
  for (const auto& [name, entry] : table) {
    if (entry == value) return name;
  }
  return "";
}

}  // namespace teapot::workbench
