#include "workbench/web_page.h"

#include <fmt/format.h>

#include "workbench/assets.h"

namespace teapot::workbench {
namespace {

// In scripts '<' is written as \u003c: neither "</script" nor "<!--" can stand there.
std::string script_json(const Json& json) {
  std::string out;
  for (const char byte : dump_json(json)) {
    if (byte == '<') {
      out += "\\u003c";
    } else {
      out += byte;
    }
  }
  return out;
}

}  // namespace

std::string escape_html(std::string_view text) {
  std::string out;
  for (const char byte : text) {
    switch (byte) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += byte;
    }
  }
  return out;
}

std::string html_list(std::string_view title, const std::vector<std::string>& lines) {
  if (lines.empty()) return "";
  std::string out = fmt::format("<h2>{}</h2>\n<ul class=\"bad\">\n", title);
  for (const std::string& line : lines) out += "<li>" + escape_html(line) + "</li>\n";
  return out + "</ul>\n";
}

std::string to_html(const WebPage& page) {
  std::string out = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, "
      "initial-scale=1\">\n<title>{}</title>\n<style>\n{}</style>\n</head>\n<body>\n{}\n",
      escape_html(page.title), find_asset("page.css"), page.body);
  out += fmt::format("<script>\nconst data = {};\n</script>\n", script_json(page.data));
  for (const std::string_view script : page.scripts) out += fmt::format("<script>\n{}\n</script>\n", find_asset(script));
  return out + "</body>\n</html>\n";
}

}  // namespace teapot::workbench
