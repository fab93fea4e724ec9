// One file a command. Each adds its subcommand to the app; the callback leaves the exit code in `exit_code`.
#pragma once

#include <CLI/CLI.hpp>
#include <span>

#include "base/error.h"

namespace teapot::cli {

// Exit code of a command whose input was at fault (a broken file, a wrong option, a refused prompt).
constexpr int kExitError = 2;

// Prints "error: message" to stderr and returns kExitError.
int report(const Error& error);

// The same for a command line that CLI11 refused; one JSON object on stdout where `words` ask `profile import` for --json.
int report_usage(const CLI::App& app, std::span<char* const> words, const std::string& message);

// Prints `text` to stdout. kIo: it did not get there.
Status write_out(const std::string& text);

void add_inspect(CLI::App& app, int& exit_code);
void add_run(CLI::App& app, int& exit_code);
void add_chat(CLI::App& app, int& exit_code);
void add_logits(CLI::App& app, int& exit_code);
void add_serve(CLI::App& app, int& exit_code);
void add_text(CLI::App& app, int& exit_code);
void add_roof(CLI::App& app, int& exit_code);
void add_profile(CLI::App& app, int& exit_code);
CLI::App* add_profile_import(CLI::App& profile, int& exit_code);  // under `teapot profile`
void add_levers(CLI::App& app, int& exit_code);
void add_ladder(CLI::App& app, int& exit_code);
void add_speed(CLI::App& app, int& exit_code);
void add_bench(CLI::App& app, int& exit_code);
void add_eval(CLI::App& app, int& exit_code);
void add_tune(CLI::App& app, int& exit_code);
void add_tune_check(CLI::App& tune, int& exit_code);
void add_bench_matrix(CLI::App& bench, int& exit_code);
void add_bench_compare(CLI::App& bench, int& exit_code);

}  // namespace teapot::cli
