#include "workbench/yaml_text.h"

#include <algorithm>
#include <sstream>

#include <yaml-cpp/eventhandler.h>

#include "text/utf8.h"

namespace teapot::workbench {
namespace {

// yaml-cpp takes some bytes for UTF-16 or -32 and replaces what is broken without a word: it gets UTF-8 without control characters only.
Status check_bytes(std::string_view bytes, const std::string& source) {
  const auto control = std::ranges::find_if(
      bytes, [](char byte) { return static_cast<unsigned char>(byte) < 0x20 && byte != '\n' && byte != '\r' && byte != '\t'; });
  const size_t wrong = std::min(text::find_ill_formed(bytes), static_cast<size_t>(control - bytes.begin()));
  if (wrong >= bytes.size()) return {};
  return fail(ErrorKind::kInvalid, "{}:{}: found a byte 0x{:02x}, expected text in UTF-8", source,
              1 + std::ranges::count(bytes.substr(0, wrong), '\n'), static_cast<unsigned char>(bytes[wrong]));
}

// Events that nobody needs.
class Nobody : public YAML::EventHandler {
  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark&, YAML::anchor_t) override {}
  void OnAlias(const YAML::Mark&, YAML::anchor_t) override {}
  void OnScalar(const YAML::Mark&, const std::string&, YAML::anchor_t, const std::string&) override {}
  void OnSequenceStart(const YAML::Mark&, const std::string&, YAML::anchor_t, YAML::EmitterStyle::value) override {}
  void OnSequenceEnd() override {}
  void OnMapStart(const YAML::Mark&, const std::string&, YAML::anchor_t, YAML::EmitterStyle::value) override {}
  void OnMapEnd() override {}
};

// One document. (YAML::LoadAll of 0.7 finds empty ones for ever where a comma stands at the beginning; YAML::Load looks at the first only.)
Status check_documents(const std::string& text, const std::string& source) {
  std::istringstream stream(text);
  YAML::Parser parser(stream);
  Nobody nobody;
  if (!parser.HandleNextDocument(nobody)) return fail(ErrorKind::kInvalid, "{}: found nothing, expected a mapping", source);
  if (parser.HandleNextDocument(nobody)) return fail(ErrorKind::kInvalid, "{}: found more than one document, expected one", source);
  return {};
}

}  // namespace

Status check_yaml(std::string_view text, const std::string& source) {
  TEAPOT_CHECK(check_bytes(text, source));
  return check_documents(std::string(text), source);
}

}  // namespace teapot::workbench
