// teapot serve MODEL: the OpenAI-compatible server.
#include <cstdlib>
#include <memory>

#include "base/log.h"
#include "cli/commands.h"
#include "cli/model_options.h"
#include "server/serve.h"

namespace teapot::cli {
namespace {

struct Arguments {
  server::ServeOptions serve;
  ModelOptions model;
  double grace_s = 30;
  std::string log_level = "info";
  std::string log_file;
};

Status serve(const Arguments& arguments) {
  spdlog::set_level(spdlog::level::from_str(arguments.log_level));
  if (!arguments.log_file.empty()) TEAPOT_CHECK(log::also_to(arguments.log_file));
  server::ServeOptions options = arguments.serve;
  options.model_path = arguments.model.model;
  options.verbose = arguments.model.verbose;
  options.grace = std::chrono::milliseconds(static_cast<int64_t>(arguments.grace_s * 1000));
  options.engine = arguments.model.engine;
  return server::serve(options);
}

}  // namespace

void add_serve(CLI::App& app, int& exit_code) {
  const auto arguments = std::make_shared<Arguments>();
  CLI::App* command = app.add_subcommand("serve", "Serve a model with the OpenAI API");
  add_model_options(*command, arguments->model);
  add_scheduler_options(*command, arguments->model.engine);
  command->add_option("--host", arguments->serve.host, "Address to listen on")->capture_default_str();
  command->add_option("--port", arguments->serve.port, "Port; 0: any free one (printed)")->capture_default_str();
  command->add_option("--port-file", arguments->serve.port_file, "Write the port there, as a line, once it is open: for scripts");
  command->add_option("--api-key", arguments->serve.api_key, "Key that requests must carry")->envname("TEAPOT_API_KEY");
  command->add_option("--served-name", arguments->serve.served_name, "The model's name in requests (default: the last part of its path)");
  command->add_option("--grace", arguments->grace_s, "Seconds that running requests have after SIGTERM")
      ->check(kSeconds)
      ->capture_default_str();
  command->add_option("--log-level", arguments->log_level, "trace, debug, info, warn, error")
      ->check(CLI::IsMember({"trace", "debug", "info", "warn", "error"}))
      ->capture_default_str();
  command->add_option("--log-file", arguments->log_file, "Append the log to this file, with times, besides stderr");
  command->callback([arguments, &exit_code] {
    if (const Status served = serve(*arguments); !served) exit_code = report(served.error());
  });
}

}  // namespace teapot::cli
