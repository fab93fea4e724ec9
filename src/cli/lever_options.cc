#include "cli/lever_options.h"

#include "cpu/settings.h"

namespace teapot::cli {

Status set_lever(ModelOptions& options, const std::string& lever, const std::string& value) {
  CLI::App app;
  std::string model = options.model;
  add_model_options(app, options);
  add_scheduler_options(app, options.engine);
  const CLI::Option* option = app.get_option_no_throw("--" + lever);
  if (option == nullptr || lever == "help" || lever == "verbose") {
    return fail(ErrorKind::kInvalid, "'{}' is no lever; expected one of those of `teapot levers`", lever);
  }
  try {
    app.parse(std::vector<std::string>{"--" + lever + "=" + value, model});  // CLI11 takes them from the end
  } catch (const CLI::ParseError& e) {
    return fail(ErrorKind::kInvalid, "{}", e.what());
  }
  return {};
}

Status check_lever(const std::string& lever, const std::string& value) {
  ModelOptions options;
  options.model = "model";
  TEAPOT_CHECK(set_lever(options, lever, value));
  const auto settled = cpu::settle(options.engine.backend);
  if (settled || settled.error().kind == ErrorKind::kUnsupported) return {};  // another host may have it
  return std::unexpected(settled.error());
}

}  // namespace teapot::cli
