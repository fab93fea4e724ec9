#include "cli/chat_session.h"

#include <charconv>

#include "cli/sampling_options.h"

namespace teapot::cli {
namespace {

constexpr const char* kHelp =
    "/reset            forget the conversation\n"
    "/system TEXT      set the system message (no text: none) and forget the conversation\n"
    "/set              show the parameters\n"
    "/set NAME VALUE   temperature, top_k, top_p, min_p, presence_penalty, frequency_penalty,\n"
    "                  repetition_penalty, seed, max_tokens (0: no limit), thinking (on, off)\n"
    "/quit             leave; so does Ctrl-D\n"
    "Ctrl-C stops a reply. A line that begins with // is said with one of them.";

std::string trim(const std::string& text) {
  const size_t begin = text.find_first_not_of(" \t");
  return begin == std::string::npos ? std::string() : text.substr(begin, text.find_last_not_of(" \t") + 1 - begin);
}

}  // namespace

ChatSession::Answer ChatSession::read(const std::string& line) {
  const std::string text = trim(line);
  if (text.empty()) return {Next::kRead, ""};
  if (text[0] != '/' || text.starts_with("//")) {
    turns_.push_back({{"role", "user"}, {"content", text[0] == '/' ? text.substr(1) : line}});
    return {Next::kReply, ""};
  }
  const size_t space = std::min(text.find_first_of(" \t"), text.size());
  const std::string command = text.substr(0, space);
  const std::string arguments = trim(text.substr(space));
  if (command == "/quit" || command == "/exit") return {Next::kQuit, ""};
  if (command == "/help") return {Next::kRead, kHelp};
  if (command == "/set") return set(arguments);
  if (command == "/reset" || command == "/system") {
    turns_ = Json::array();
    if (command == "/reset") return {Next::kRead, "The conversation is forgotten."};
    system_ = arguments;
    return {Next::kRead,
            system_.empty() ? "No system message; the conversation is forgotten." : "System message set; the conversation is forgotten."};
  }
  return {Next::kRead, fmt::format("no command {}; /help lists them", command)};
}

ChatSession::Answer ChatSession::set(const std::string& arguments) {
  const auto show = [&] {
    const auto thinking = kwargs_.find("enable_thinking");
    return fmt::format("{}, max_tokens {}, thinking {}", describe(sampling_), max_tokens_,
                       thinking == kwargs_.end() ? "as the template has it"
                       : *thinking == Json(true) ? "on"
                                                 : "off");
  };
  if (arguments.empty()) return {Next::kRead, show()};
  const size_t space = std::min(arguments.find_first_of(" \t="), arguments.size());
  const std::string name = arguments.substr(0, space);
  const std::string value = trim(arguments.substr(std::min(space + 1, arguments.size())));
  if (name == "thinking") {
    if (value != "on" && value != "off") return {Next::kRead, fmt::format("thinking: '{}'; expected on or off", value)};
    kwargs_["enable_thinking"] = value == "on";
  } else if (name == "max_tokens") {
    uint32_t tokens = 0;
    const auto [rest, error] = std::from_chars(value.data(), value.data() + value.size(), tokens);
    if (error != std::errc() || rest != value.data() + value.size())
      return {Next::kRead, fmt::format("max_tokens: '{}' is no number that it can have", value)};
    max_tokens_ = tokens;
  } else {
    engine::SamplingParams changed = sampling_;
    if (const Status status = set_parameter(changed, name, value); !status) return {Next::kRead, status.error().message};
    sampling_ = std::move(changed);
  }
  return {Next::kRead, show()};
}

void ChatSession::add_reply(const std::string& reasoning, const std::string& content) {
  Json message = {{"role", "assistant"}, {"content", content}};
  if (!reasoning.empty()) message["reasoning_content"] = reasoning;
  turns_.push_back(std::move(message));
}

void ChatSession::take_back() { turns_.erase(turns_.size() - 1); }

Json ChatSession::messages() const {
  Json messages = Json::array();
  if (!system_.empty()) messages.push_back({{"role", "system"}, {"content", system_}});
  for (const Json& turn : turns_) messages.push_back(turn);
  return messages;
}

}  // namespace teapot::cli
