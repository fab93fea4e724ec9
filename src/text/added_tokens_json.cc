#include "text/added_tokens_json.h"

#include <limits>

namespace teapot::text {

Result<AddedToken> read_added_token(const nlohmann::json& object, const std::string& where) {
  if (!object.is_object()) return fail(ErrorKind::kInvalid, "{}: expected an object, found {}", where, object.type_name());
  AddedToken token;
  const auto content = object.find("content");
  if (content == object.end() || !content->is_string()) return fail(ErrorKind::kInvalid, "{}.content: expected a text", where);
  token.content = content->get<std::string>();
  const std::pair<const char*, bool&> flags[] = {{"special", token.special},
                                                 {"lstrip", token.lstrip},
                                                 {"rstrip", token.rstrip},
                                                 {"single_word", token.single_word},
                                                 {"normalized", token.normalized}};
  for (const auto& [name, flag] : flags) {
    const auto found = object.find(name);
    if (found == object.end()) continue;
    if (!found->is_boolean()) return fail(ErrorKind::kInvalid, "{}.{}: expected a boolean, found {}", where, name, found->type_name());
    flag = found->get<bool>();
  }
  return token;
}

Result<int64_t> read_added_token_id(const nlohmann::json& object, const std::string& where) {
  const auto id = object.find("id");
  if (id == object.end() || !id->is_number_integer()) return fail(ErrorKind::kInvalid, "{}.id: expected an integer", where);
  if (id->is_number_unsigned() && id->get<uint64_t>() > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) {
    return fail(ErrorKind::kInvalid, "{}.id: {} is no token", where, id->get<uint64_t>());
  }
  return id->get<int64_t>();
}

}  // namespace teapot::text
