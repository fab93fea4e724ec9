#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>
#include <span>
#include <string>
#include <system_error>

#include "base/log.h"
#include "cli/commands.h"

namespace {

// What no thread of the program caught: mostly memory that isn't there, so that nothing may be allocated here.
[[noreturn]] void end_with_a_message() {
  try {
    if (const std::exception_ptr thrown = std::current_exception()) std::rethrow_exception(thrown);
    std::fputs("error: the program ended itself\n", stderr);
  } catch (const std::bad_alloc&) {
    std::fputs("error: out of memory\n", stderr);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "error: %s\n", e.what());
  } catch (...) {
    std::fputs("error: something unknown was thrown\n", stderr);
  }
  std::abort();  // where it happened is in the core
}

}  // namespace

int main(int argc, char** argv) {
  std::set_terminate(end_with_a_message);
  teapot::log::to_stderr(spdlog::level::info);
  CLI::App app{"Teapot: Qwen3.5 / Qwen3.6 language models at the lowest time per output token"};
  app.set_version_flag("--version", "teapot " TEAPOT_VERSION);
  app.require_subcommand(0, 1);  // none is dealt with below: a mistyped one is to be named
  int exit_code = 0;
  teapot::cli::add_inspect(app, exit_code);
  teapot::cli::add_run(app, exit_code);
  teapot::cli::add_chat(app, exit_code);
  teapot::cli::add_logits(app, exit_code);
  teapot::cli::add_serve(app, exit_code);
  teapot::cli::add_text(app, exit_code);
  teapot::cli::add_roof(app, exit_code);
  teapot::cli::add_profile(app, exit_code);
  teapot::cli::add_levers(app, exit_code);
  teapot::cli::add_speed(app, exit_code);
  teapot::cli::add_ladder(app, exit_code);
  teapot::cli::add_bench(app, exit_code);
  teapot::cli::add_eval(app, exit_code);
  teapot::cli::add_tune(app, exit_code);
  try {
    app.parse(argc, argv);
    if (app.get_subcommands().empty()) {
      std::fputs(app.help().c_str(), stderr);
      return teapot::cli::kExitError;
    }
  } catch (const CLI::ParseError& e) {
    if (e.get_exit_code() == 0) return app.exit(e);  // --help, --version
    return teapot::cli::report_usage(app, std::span(argv, argc), e.what());
  } catch (const std::bad_alloc&) {
    return teapot::cli::report(teapot::Error{teapot::ErrorKind::kMemory, "out of memory"});
  } catch (const std::system_error& e) {  // a thread that the system refuses, most likely
    return teapot::cli::report(teapot::Error{teapot::ErrorKind::kMemory, fmt::format("the system refuses: {}", e.what())});
  }
  return exit_code;
}
