// JSON read event by event, without a tree: lists of tensors have tens of thousands of keys, for which a tree that keeps their order
// takes quadratic time.
#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/error.h"

namespace teapot::model {

using JsonScalar = std::variant<std::nullptr_t, bool, int64_t, uint64_t, double, std::string_view>;

// What the events of a text tell. An error ends the reading and is what read_json_events returns.
class JsonVisitor {
 public:
  virtual ~JsonVisitor() = default;

  // keys: of the objects around, outermost first, ending with the one that the value stands under; an array adds an empty key.
  using Path = std::vector<std::string>;
  virtual Status begin(const Path& keys, bool array) = 0;
  virtual Status end(const Path& keys) = 0;
  virtual Status value(const Path& keys, const JsonScalar& scalar) = 0;
};

// Texts that are not JSON, or nest deeper than max_depth: kInvalid.
Status read_json_events(std::string_view text, const std::string& source, size_t max_depth, JsonVisitor& visitor);

}  // namespace teapot::model
