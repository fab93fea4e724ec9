#include "cli/json_lines.h"

#include <iostream>
#include <string>

#include "cli/commands.h"

namespace teapot::cli {
namespace {

Result<Json> answer_to(const std::string& text, size_t number, const std::function<Result<Json>(const Json& line)>& answer) {
  TEAPOT_TRY(const Json line, parse_json(text, fmt::format("line {}", number)));
  return answer(line);
}

}  // namespace

Status for_each_json_line(std::istream& in, std::ostream& out, const std::function<Result<Json>(const Json& line)>& answer) {
  std::string text;
  for (size_t number = 1; std::getline(in, text); ++number) {
    const Result<Json> reply = answer_to(text, number, answer);
    out << dump_json(reply ? *reply : Json{{"error", reply.error().message}}) << '\n' << std::flush;
    if (!out) return fail(ErrorKind::kIo, "the answer to line {} cannot be written", number);
  }
  return {};
}

int run_json_lines(const std::function<Result<Json>(const Json& line)>& answer) {
  const Status done = for_each_json_line(std::cin, std::cout, answer);
  return done ? 0 : report(done.error());
}

}  // namespace teapot::cli
