// The name rules: what class a device slice is of, what a host slice does, which slices mark steps. Data, not code: the built-in table is
// assets/trace_rules.json, and a file of the same form goes before it.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/json.h"

struct pcre2_real_code_8;

namespace teapot::workbench::trace {

// Where a step's time goes. The order is that of reports.
enum class Class : uint8_t { kUseful, kHost, kSyncCopy, kComm, kBandwidth, kGraph, kMemory, kUnattributed };
constexpr size_t kClasses = 8;
constexpr std::array<std::string_view, kClasses> kClassNames = {"useful",    "host",  "sync_copy", "comm",
                                                                "bandwidth", "graph", "memory",    "unattributed"};
constexpr std::string_view name_of(Class c) { return kClassNames[static_cast<size_t>(c)]; }

// What a host slice does, in the order in which a gap is given to one of several threads.
enum class Role : uint8_t { kMemory, kCopy, kGraph, kComm, kHost, kSync };
constexpr size_t kRoles = 6;
Class class_of(Role role);

// nullopt: "wait", which is no work although it stands on a device track.
using DeviceClass = std::optional<Class>;

enum class Tracks { kAscend, kCuda };

class Rules {
 public:
  // The built-in table.
  static const Json& built_in();
  // `extra`: null, or a file's content whose lists go before the built-in ones. Unknown keys, classes and broken patterns are errors.
  static Result<Rules> create(const Json& extra, std::string_view source);

  DeviceClass device(Tracks tracks, std::string_view name, std::string_view core) const;
  Role host(std::string_view name) const;
  bool is_graph_launch(std::string_view name) const;
  bool is_token_kernel(std::string_view name) const;  // an embedding, a gather of tokens, an argmax, sampling: once a step
  // The marker's step id, "" where the name has none; nullopt: no marker.
  std::optional<std::string> marker(std::string_view name) const;

  Class own_op(std::string_view op) const;  // of our own trace
  std::optional<Role> own_category(std::string_view category) const;

 private:
  struct Free {
    void operator()(pcre2_real_code_8* code) const;
  };
  using Pattern = std::unique_ptr<pcre2_real_code_8, Free>;
  struct Rule {
    std::string value;
    Pattern pattern;
  };

  Status add(const Json& table, std::string_view source);
  Status add_own(const Json& table, std::string_view source);
  Status add_rules(const Json& list, std::string_view source, std::string_view key, std::vector<Rule>& rules) const;
  Status add_patterns(const Json& list, std::string_view source, std::string_view key, std::vector<Rule>& rules) const;
  static Result<Pattern> compile(const std::string& text, std::string_view source);
  static const Rule* first(const std::vector<Rule>& rules, std::string_view name);

  std::vector<Rule> ascend_device_, ascend_core_, cuda_device_, host_, markers_, graph_launch_, token_kernels_;
  std::map<std::string, std::string, std::less<>> own_ops_, own_categories_;
};

}  // namespace teapot::workbench::trace
