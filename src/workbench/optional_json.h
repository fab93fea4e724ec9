// What is not known is null in JSON.
#pragma once

#include <optional>

#include "base/json.h"

namespace teapot::workbench {

template <class T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json();
}

}  // namespace teapot::workbench
