// The batch commands under `teapot text`: JSON lines in on stdin, JSON lines out on stdout. One file a command or two.
#pragma once

#include <CLI/CLI.hpp>

namespace teapot::cli {

// text is the app of `teapot text`; the callbacks leave the exit code in `exit_code`.
void add_text_tokenize(CLI::App& text, int& exit_code);
void add_text_detokenize(CLI::App& text, int& exit_code);
void add_text_render(CLI::App& text, int& exit_code);
void add_text_stop(CLI::App& text, int& exit_code);
void add_text_parse(CLI::App& text, int& exit_code);

}  // namespace teapot::cli
