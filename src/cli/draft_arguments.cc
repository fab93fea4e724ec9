#include "cli/draft_arguments.h"

#include <fstream>

#include "cli/chat_prompt.h"

namespace teapot::cli {

std::vector<CLI::Option*> add_draft_arguments(CLI::App& command, DraftArguments& arguments) {
  return {command.add_option(
              "--accept-rate", arguments.accept_rates,
              "Drafts hold so often, by their place in a step, whatever the MTP layer says: 0.8,0.7,0.6; with ';' between lists, each is "
              "for an equal share of a reply"),
          command.add_option("--prompts", arguments.prompts, "A file with a prompt a line, instead of random tokens")
              ->check(CLI::ExistingFile)};
}

Result<workbench::AcceptRates> parse_accept_rates(const DraftArguments& arguments) {
  workbench::AcceptRates lists;
  if (!arguments.accept_rates) return lists;
  if (arguments.accept_rates->empty() ||
      arguments.accept_rates->find_first_of(",;", arguments.accept_rates->size() - 1) != std::string::npos) {
    return fail(ErrorKind::kInvalid, "--accept-rate: '{}' ends without a number", *arguments.accept_rates);
  }
  for (const std::string& list : CLI::detail::split(*arguments.accept_rates, ';')) {
    lists.emplace_back();
    for (const std::string& rate : CLI::detail::split(list, ',')) {
      if (!CLI::detail::lexical_cast(rate, lists.back().emplace_back())) {
        return fail(ErrorKind::kInvalid, "--accept-rate: '{}' is no number", rate);
      }
    }
  }
  return lists;
}

Result<std::vector<std::vector<int32_t>>> read_prompts(const DraftArguments& arguments, const ModelOptions& options) {
  std::vector<std::vector<int32_t>> prompts;
  if (!arguments.prompts) return prompts;
  TEAPOT_TRY(const model::Model model, model::load_model(options.model, options.engine.weights));
  TEAPOT_TRY(const engine::TextAssets text, engine::TextAssets::of(model));
  std::ifstream file(*arguments.prompts);
  for (std::string line; std::getline(file, line);) {
    if (line.empty()) continue;
    if (text.chat_template) {
      TEAPOT_TRY(ChatPrompt prompt, chat_prompt(text, Json::array({{{"role", "user"}, {"content", line}}}), Json::object()));
      prompts.push_back(std::move(prompt.ids));
    } else {
      TEAPOT_TRY(prompts.emplace_back(), text.tokenizer.encode(line, /*parse_added=*/true));
    }
  }
  if (prompts.empty()) return fail(ErrorKind::kNotFound, "{}: no prompts; expected one a line", *arguments.prompts);
  return prompts;
}

}  // namespace teapot::cli
