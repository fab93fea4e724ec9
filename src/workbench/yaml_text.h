// A YAML document from outside bytes.
#pragma once

#include <string>
#include <string_view>

#include <yaml-cpp/yaml.h>

#include "base/error.h"

namespace teapot::workbench {

// UTF-8 without control characters, and exactly one document in it. kInvalid: "SOURCE:LINE: what is wrong". Throws as yaml-cpp does.
Status check_yaml(std::string_view text, const std::string& source);

// read(root of the text's only document), whose exceptions of yaml-cpp become errors too.
template <class Read>
auto with_yaml(std::string_view text, const std::string& source, const Read& read) -> decltype(read(YAML::Node())) {
  try {
    TEAPOT_CHECK(check_yaml(text, source));
    return read(YAML::Load(std::string(text)));
  } catch (const YAML::Exception& e) {
    return fail(ErrorKind::kInvalid, "{}:{}: {}", source, e.mark.line + 1, e.msg);
  }
}

}  // namespace teapot::workbench
