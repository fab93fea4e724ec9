// teapot logits MODEL: what the model makes of given ids, as .npy files: for comparison with other implementations.
#include <filesystem>
#include <memory>

#include "base/log.h"
#include "base/npy.h"
#include "cli/commands.h"
#include "cli/model_options.h"
#include "cli/progress.h"
#include "cli/token_ids.h"
#include "engine/evaluate.h"

namespace teapot::cli {
namespace {

struct Arguments {
  ModelOptions model;
  std::string ids, out;
  std::optional<std::string> hidden, router, state;
  uint32_t chunk = 256;
  std::optional<uint32_t> decode_from;
};

// One file a GDN layer and kind, layers counted among the GDN layers.
Status write_states(const std::string& directory, const std::vector<plan::StateSnapshot>& states, const plan::StateLayout& layout) {
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  if (error) return fail(ErrorKind::kIo, "{}: cannot be made: {}", directory, error.message());
  for (size_t layer = 0; layer < states.size(); ++layer) {
    const size_t recurrent_shape[] = {layout.value_heads, layout.dk, layout.dv};
    const size_t conv_shape[] = {layout.conv_kernel - 1, layout.conv_channels()};
    TEAPOT_CHECK(
        write_npy(fmt::format("{}/state_S.{}.npy", directory, layer), recurrent_shape, std::span<const float>(states[layer].recurrent)));
    TEAPOT_CHECK(write_npy(fmt::format("{}/state_conv.{}.npy", directory, layer), conv_shape, std::span<const float>(states[layer].conv)));
  }
  return {};
}

Status logits(const Arguments& arguments) {
  TEAPOT_TRY(const std::vector<int32_t> ids, parse_token_ids(arguments.ids));
  TEAPOT_TRY(model::Model model, model::load_model(arguments.model.model, arguments.model.engine.weights));
  for (const std::string& note : model.notes) log::info("{}", note);
  std::optional<ProgressBar> bar(std::in_place, "loading");
  TEAPOT_TRY(const auto evaluator, engine::Evaluator::create(std::move(model), arguments.model.engine.backend,
                                                             [&](uint64_t done, uint64_t total) { bar->update(done, total); }));
  bar.reset();
  engine::log_switches(evaluator->switches(), arguments.model.verbose);
  TEAPOT_TRY(const engine::Evaluation evaluation, evaluator->run(ids, {.chunk = arguments.chunk,
                                                                       .decode_from = arguments.decode_from,
                                                                       .hidden = arguments.hidden.has_value(),
                                                                       .router = arguments.router.has_value(),
                                                                       .states = arguments.state.has_value()}));
  const model::ModelConfig& config = evaluator->model().config;
  const size_t shape[] = {ids.size(), config.vocab};
  TEAPOT_CHECK(write_npy(arguments.out, shape, std::span<const float>(evaluation.logits)));
  if (arguments.hidden) {
    const size_t hidden_shape[] = {config.layers.size() + 1, ids.size(), config.hidden};
    TEAPOT_CHECK(write_npy(*arguments.hidden, hidden_shape, std::span<const float>(evaluation.hidden)));
  }
  if (arguments.router) {
    const size_t router_shape[] = {config.layer_count(model::Ffn::kMoe), ids.size(), config.top_k};
    TEAPOT_CHECK(write_npy(*arguments.router, router_shape, std::span<const int32_t>(evaluation.router)));
  }
  if (arguments.state) TEAPOT_CHECK(write_states(*arguments.state, evaluation.states, evaluator->model().layout));
  return {};
}

}  // namespace

void add_logits(CLI::App& app, int& exit_code) {
  const auto arguments = std::make_shared<Arguments>();
  CLI::App* command = app.add_subcommand("logits", "All logits for given token ids, as .npy");
  add_backend_options(*command, arguments->model);
  command->add_option("--ids", arguments->ids, "Token ids: 1,2,3 or @file.npy")->required();
  command->add_option("--out", arguments->out, "Logits: f32 [tokens, vocab]")->required();
  command->add_option("--hidden", arguments->hidden, "The embedding's output and each layer's: f32 [layers+1, tokens, hidden]");
  command->add_option("--router", arguments->router, "Experts chosen: i32 [layers with experts, tokens, top_k]");
  command->add_option(
      "--state", arguments->state,
      "Directory for the GDN layers' states after all tokens: state_S.N.npy [value_heads, dk, dv], state_conv.N.npy [kernel-1, channels]");
  command->add_option("--chunk", arguments->chunk, "Tokens of a prefill step")->check(CLI::Range(1u, 65535u))->capture_default_str();
  command->add_option("--decode-from", arguments->decode_from, "Prefill so many tokens, then decode one by one");
  command->callback([arguments, &exit_code] {
    if (const Status status = logits(*arguments); !status) exit_code = report(status.error());
  });
}

}  // namespace teapot::cli
