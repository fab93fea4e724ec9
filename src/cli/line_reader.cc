#include "cli/line_reader.h"

#include <histedit.h>
#include <unistd.h>

#include <clocale>
#include <cstdio>
#include <iostream>

namespace teapot::cli {
namespace {

constexpr int kHistoryLines = 1000;

}  // namespace

struct LineReader::Terminal {
  std::string prompt;
  EditLine* edit = nullptr;
  History* history = nullptr;

  Terminal() = default;
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;
  ~Terminal() {
    if (edit != nullptr) el_end(edit);
    if (history != nullptr) history_end(history);
  }

  static char* show_prompt(EditLine* edit) {
    void* self = nullptr;
    el_get(edit, EL_CLIENTDATA, &self);
    return static_cast<Terminal*>(self)->prompt.data();
  }
};

LineReader::LineReader(std::unique_ptr<Terminal> terminal) : terminal_(std::move(terminal)) {}
LineReader::LineReader(LineReader&&) noexcept = default;
LineReader& LineReader::operator=(LineReader&&) noexcept = default;
LineReader::~LineReader() = default;

Result<LineReader> LineReader::open(std::string prompt) {
  if (isatty(STDIN_FILENO) != 1 || isatty(STDOUT_FILENO) != 1) return LineReader(nullptr);
  // libedit reads characters by the locale's rules; without one, UTF-8 must still work.
  const char* locale = std::setlocale(LC_CTYPE, "");
  if (locale == nullptr || std::string_view(locale) == "C" || std::string_view(locale) == "POSIX") std::setlocale(LC_CTYPE, "C.UTF-8");
  auto terminal = std::make_unique<Terminal>();
  terminal->prompt = std::move(prompt);
  terminal->edit = el_init("teapot", stdin, stdout, stderr);
  terminal->history = history_init();
  if (terminal->edit == nullptr || terminal->history == nullptr)
    return fail(ErrorKind::kIo, "the terminal cannot be set up for line editing");
  HistEvent event;
  history(terminal->history, &event, H_SETSIZE, kHistoryLines);
  history(terminal->history, &event, H_SETUNIQUE, 1);
  el_set(terminal->edit, EL_CLIENTDATA, terminal.get());
  el_set(terminal->edit, EL_PROMPT, &Terminal::show_prompt);
  el_set(terminal->edit, EL_EDITOR, "emacs");
  el_set(terminal->edit, EL_HIST, history, terminal->history);
  // While a line is edited Ctrl-C is a key like any other.
  el_set(terminal->edit, EL_SETTY, "-d", "-isig", nullptr);
  el_set(terminal->edit, EL_BIND, "^C", "em-kill-line", nullptr);
  return LineReader(std::move(terminal));
}

std::optional<std::string> LineReader::read() {
  std::string line;
  if (!terminal_) {
    if (!std::getline(std::cin, line)) return std::nullopt;
    return line;
  }
  int length = 0;
  const char* text = el_gets(terminal_->edit, &length);
  if (text == nullptr || length <= 0) return std::nullopt;
  line.assign(text, static_cast<size_t>(length));
  while (!line.empty() && (line.back() == '\n' || line.back() == '\r')) line.pop_back();
  if (!line.empty()) {
    HistEvent event;
    history(terminal_->history, &event, H_ENTER, text);
  }
  return line;
}

}  // namespace teapot::cli
