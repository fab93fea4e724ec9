// Reads the fields of a request's JSON object: each has its type and range, or is the 400 that names it. null counts as absent.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "server/api_error.h"

namespace teapot::server {

class Fields {
 public:
  explicit Fields(const Json& object) : object_(object) {}

  // The field if it is there and not null.
  const Json* find(const char* name) const;

  ApiResult<std::optional<bool>> boolean(const char* name) const;
  ApiResult<std::optional<int64_t>> integer(const char* name, int64_t min, int64_t max) const;
  ApiResult<std::optional<double>> number(const char* name, double min, double max) const;
  ApiResult<std::optional<std::string>> string(const char* name) const;
  ApiResult<const Json*> array(const char* name) const;   // null if absent
  ApiResult<const Json*> object(const char* name) const;  // null if absent

  // Any other field than these is a 400 that names it and them.
  ApiResult<void> only(std::initializer_list<std::string_view> names) const;

  // Fields that are known and can't be honoured yet: anything but absent (or `harmless`) is a 400 that says so.
  ApiResult<void> unsupported(const char* name, const Json& harmless = nullptr) const;

 private:
  const Json& object_;
};

// "an object", "a string": for messages.
std::string kind_of(const Json& json);

// The body as a JSON object, or the 400.
ApiResult<Json> parse_body(const std::string& body);

}  // namespace teapot::server
