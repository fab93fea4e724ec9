// A knob catalogue: any bytes give a catalogue or an error; every move of one is closed or refused, and what is closed is a command or an
// error.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "workbench/tune/catalogue_summary.h"
#include "workbench/tune/joint_move.h"
#include "workbench/tune/start_command.h"
#include "workbench/tune/step_values.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace teapot::workbench;
  const auto catalogue = parse_catalogue({reinterpret_cast<const char*>(data), size}, "c.yaml");
  if (!catalogue) return 0;
  summary(*catalogue);
  for (const Knob& knob : catalogue->knobs) {
    if (knob.values.empty() || knob.values.size() != knob.literal.size()) std::abort();
    const auto profile = closure(*catalogue, {}, {knob.name, knob.values.back()});
    if (!profile) continue;
    if (canonical(*catalogue, *profile) != *profile) std::abort();
    const auto resolved = resolve_values(*catalogue, *profile, {{"physical_cores", "4"}, {"jemalloc", "/lib/j.so"}}, {1, 4, 8});
    if (!resolved) continue;
    if (const auto command = build_command(*catalogue, *resolved, {{"model", "m"}, {"port", "1"}})) to_shell(*command);
  }
  return 0;
}
