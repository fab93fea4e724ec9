// teapot inspect: what a model is, without loading it.
#include <memory>
#include <string>

#include "cli/commands.h"
#include "cli/inspect_text_facts.h"
#include "model/hf_directory.h"
#include "model/inspect.h"

namespace teapot::cli {
namespace {

struct Options {
  std::string path;
  bool json = false;
};

Result<Json> inspect(const std::string& path) {
  TEAPOT_TRY(const model::Source source, model::find_source(path));
  if (source.kind == model::SourceKind::kConfigOnly) {
    TEAPOT_TRY(const model::ModelConfig config, model::load_config(source));
    return model::inspect_config(config);
  }
  TEAPOT_TRY(const model::Model model, model::load_model(path));
  Json facts = model::inspect_model(model);
  TEAPOT_TRY(const Json text, text_facts(model));
  facts.update(text);
  return facts;
}

std::string for_people(const Json& facts) {
  std::string text = model::inspect_text(facts);
  if (facts.contains("tokenizer")) text += text_facts_lines(facts);
  return text;
}

int run(const Options& options) {
  const auto facts = inspect(options.path);
  if (!facts) return report(facts.error());
  const std::string text = options.json ? dump_json(*facts) + "\n" : for_people(*facts);
  const Status written = write_out(text);
  return written ? 0 : report(written.error());
}

}  // namespace

void add_inspect(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("inspect", "Say what a model is: architecture, sizes, tensors, bytes per token");
  command->add_option("model", options->path, "Hugging Face directory, GGUF file, or a config.json alone")->required();
  command->add_flag("--json", options->json, "As one JSON object");
  command->callback([options, &exit_code] { exit_code = run(*options); });
}

}  // namespace teapot::cli
