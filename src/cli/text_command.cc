#include "cli/commands.h"
#include "cli/text_commands.h"

namespace teapot::cli {

void add_text(CLI::App& app, int& exit_code) {
  CLI::App* text = app.add_subcommand("text", "Text layer in batches: JSON lines on stdin, JSON lines on stdout");
  text->require_subcommand(1);
  add_text_tokenize(*text, exit_code);
  add_text_detokenize(*text, exit_code);
  add_text_render(*text, exit_code);
  add_text_stop(*text, exit_code);
  add_text_parse(*text, exit_code);
}

}  // namespace teapot::cli
