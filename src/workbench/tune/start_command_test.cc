#include "workbench/tune/start_command.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "test_data.h"
#include "workbench/tune/catalogue_for_tests.h"
#include "workbench/tune/shell_words.h"
#include "workbench/tune/step_values.h"

namespace teapot::workbench {
namespace {

const Placeholders kPlaces = {{"model", "/m/a b"},      {"port", "8001"}, {"port2", "8002"}, {"name", "m"},   {"devices", "0,1"},
                              {"device", "0"},          {"rank", "0"},    {"ranks", "1"},    {"state", "/s"}, {"seed", "7"},
                              {"teapot", "/bin/teapot"}};
// Of a machine that is not this one.
const HostValues kHost = {{"physical_cores", "4"},
                          {"half_cores", "2"},
                          {"all_cpus", "8"},
                          {"node0_cpus", "0-7"},
                          {"physical_core_mask", "0x55"},
                          {"physical_core_list", "0,2,4,6"},
                          {"jemalloc", "/lib/libjemalloc.so.2"}};

std::string line(const Catalogue& catalogue, const KnobProfile& profile) {
  const auto resolved = resolve_values(catalogue, profile, kHost, {1, 4, 8});
  if (!resolved) return resolved.error().message;
  const auto command = build_command(catalogue, *resolved, kPlaces);
  return command ? to_shell(*command) : command.error().message;
}

std::string line(const std::string& name, const KnobProfile& profile) {
  const auto catalogue = load_catalogue(name);
  return catalogue ? line(*catalogue, profile) : catalogue.error().message;
}

TEST(StartCommand, ShippedCatalogues) {
  EXPECT_EQ(line("vllm-ascend", {}), "ASCEND_RT_VISIBLE_DEVICES=0,1 vllm serve '/m/a b' --port 8001 --served-model-name m");
  EXPECT_EQ(line("vllm-ascend", {{"cudagraph_mode", "FULL_DECODE_ONLY"},
                                 {"cudagraph_capture_sizes", "@exact_step_tokens"},
                                 {"num_speculative_tokens", "4"},
                                 {"speculative_method", "mtp"},
                                 {"enable_static_kernel", "true"},
                                 {"weight_nz_mode", "2"},
                                 {"pa_shape_list", "[1,4,8]"},
                                 {"hccl_op_expansion_mode", "AIV"},
                                 {"jemalloc", "@jemalloc"},
                                 {"async_scheduling", "false"},
                                 {"enable_expert_parallel", "true"},
                                 {"cpu_governor", "true"}}),
            "ASCEND_RT_VISIBLE_DEVICES=0,1 HCCL_OP_EXPANSION_MODE=AIV LD_PRELOAD=/lib/libjemalloc.so.2 vllm serve '/m/a b' --port 8001 "
            "--served-model-name m "
            "--compilation-config '{\"cudagraph_mode\":\"FULL_DECODE_ONLY\",\"cudagraph_capture_sizes\":[5,20,40]}' "
            "--speculative-config '{\"num_speculative_tokens\":4,\"method\":\"mtp\"}' "
            "--additional-config "
            "'{\"ascend_compilation_config\":{\"enable_static_kernel\":true},\"weight_nz_mode\":2,\"pa_shape_list\":[1,4,8]}' "
            "--no-async-scheduling --enable-expert-parallel");
  EXPECT_EQ(line("vllm", {{"spec_tokens_per_batch", "[[1,1,4],[2,4,3],[5,8,2]]"},
                          {"custom_ops", "[\"none\",\"+rms_norm\"]"},
                          {"max_cudagraph_capture_size", "@max_step_tokens"},
                          {"optimization_level", "3"},
                          {"v2_model_runner", "1"}}),
            "CUDA_VISIBLE_DEVICES=0,1 VLLM_USE_V2_MODEL_RUNNER=1 vllm serve '/m/a b' --port 8001 --served-model-name m "
            "--max-cudagraph-capture-size 8 --optimization-level 3 --compilation-config '{\"custom_ops\":[\"none\",\"+rms_norm\"]}' "
            "--speculative-config '{\"num_speculative_tokens_per_batch_size\":[[1,1,4],[2,4,3],[5,8,2]]}'");
  EXPECT_EQ(
      line("sglang", {{"cuda_graph_bs_decode", "[1,2,3,4,5,6,7,8]"}, {"speculative_algorithm", "NEXTN"}, {"enable_torch_compile", "true"}}),
      "CUDA_VISIBLE_DEVICES=0,1 python -m sglang.launch_server --model-path '/m/a b' --port 8001 --served-model-name m --enable-metrics "
      "--speculative-algorithm NEXTN --cuda-graph-bs-decode 1 2 3 4 5 6 7 8 --enable-torch-compile");
  EXPECT_EQ(
      line("llama.cpp", {{"threads", "@physical_cores"},
                         {"cpu_mask", "@physical_core_mask"},
                         {"numactl", "numactl --interleave=all"},
                         {"repack", "false"},
                         {"kv_unified", "true"},
                         {"flash_attn", "on"},
                         {"thp", "true"}}),
      "numactl --interleave=all llama-server -m '/m/a b' --port 8001 --host 127.0.0.1 --metrics --no-webui --threads 4 --cpu-mask 0x55 "
      "--no-repack --flash-attn on --kv-unified");
  EXPECT_EQ(line("ik_llama.cpp",
                 {{"taskset", "taskset -c @physical_core_list"}, {"spec_mtp", "mtp:n_max=2,p_min=0.0"}, {"run_time_repack", "true"}}),
            "taskset -c 0,2,4,6 llama-server -m '/m/a b' --port 8001 --host 127.0.0.1 --metrics --run-time-repack --spec-type "
            "mtp:n_max=2,p_min=0.0");
  EXPECT_EQ(line("xllm", {{"enable_graph", "true"}, {"draft_model", "{model}-mtp"}, {"num_speculative_tokens", "2"}}),
            "ASCEND_RT_VISIBLE_DEVICES=0,1 HCCL_IF_BASE_PORT=43432 xllm '--model=/m/a b' --port=8001 --devices=npu:0 "
            "--master_node_addr=127.0.0.1:8002 --nnodes=1 --node_rank=0 --enable_graph=true --num_speculative_tokens=2 "
            "'--draft_model=/m/a b-mtp'");
}

TEST(StartCommand, TheTestDouble) {
  const auto file = teapot::testing::shared_data("knobs/fake.yaml");
  TEAPOT_NEEDS(file);
  EXPECT_EQ(line(file.string(), {{"spec_k", "3"}, {"graph_sizes", "@exact_step_tokens"}, {"comm", "aiv"}, {"mem", "0.97"}}),
            "FAKE_COMM=aiv python3 fake_server.py --model '/m/a b' --port 8001 --state /s --noise-run 0.01 --noise-req 0.01 --drift 0.002 "
            "--seed 7 --graph-sizes 4,16,32 --spec-k 3 --mem 0.97");
}

// Every value of every knob by itself is a command, or asks for what the machine does not have.
TEST(StartCommand, EveryValueCanBeSet) {
  for (const std::string& name : shipped_catalogues()) {
    const auto catalogue = load_catalogue(name);
    ASSERT_TRUE(catalogue);
    const auto plain = build_command(*catalogue, {}, kPlaces);
    ASSERT_TRUE(plain) << plain.error().message;
    for (const Knob& knob : catalogue->knobs) {
      for (const KnobValue& value : knob.values) {
        if (!available(value, kHost)) continue;
        const auto resolved = resolve_values(*catalogue, {{knob.name, value}}, kHost, {1, 4, 8});
        ASSERT_TRUE(resolved) << resolved.error().message;
        const auto command = build_command(*catalogue, *resolved, kPlaces);
        ASSERT_TRUE(command) << command.error().message;
        const bool same = command->words == plain->words && command->env == plain->env && command->host_notes == plain->host_notes;
        EXPECT_EQ(same, value == knob.default_value()) << name << ": " << knob.name;
      }
    }
  }
}

Catalogue small(const std::string& knobs) {
  const auto catalogue = parse_catalogue(catalogue_head() + knobs, "c.yaml");
  EXPECT_TRUE(catalogue) << catalogue.error().message;
  return *catalogue;
}

TEST(StartCommand, VariablesThatAreNotSetAreNotInherited) {
  const Catalogue c = small(knob_yaml("a", "env: A", "enum", "[null, x]") + knob_yaml("b", "env: B", "enum", "[\"1\", \"2\"]"));
  const auto none = build_command(c, {}, {{"port", "1"}});
  ASSERT_TRUE(none);
  EXPECT_EQ(none->words, (std::vector<std::string>{"run", "a b", "--port", "1"}));
  EXPECT_EQ(none->unset, (std::vector<std::string>{"A", "B"}));
  const auto both = build_command(c, {{"a", "x"}, {"b", "2"}}, {{"port", "1"}});
  ASSERT_TRUE(both);
  EXPECT_TRUE(both->unset.empty());
  EXPECT_EQ(to_shell(*both), "A=x B=2 run 'a b' --port 1");
}

TEST(StartCommand, WhatCannotBeSetIsAnError) {
  const Catalogue c =
      small(knob_yaml("n", "flag: --n", "int", "[1, \"@physical_cores\"]") + knob_yaml("b", "flag: --b", "bool", "[true, false]") +
            knob_yaml("l", "flag: --l", "list", "[null, [1]]") + knob_yaml("s", "flag: --s", "string", "[null, \"{model}\"]") +
            knob_yaml("t", "flag: --s", "string", "[null, x]"));
  const auto error = [&](const KnobProfile& profile) {
    const auto command = build_command(c, profile, {{"port", "1"}});
    return command ? to_shell(*command) : command.error().message;
  };
  EXPECT_EQ(error({{"n", "7"}, {"l", "[1,\"x\"]"}}), "run 'a b' --port 1 --n 7 --l 1 x");
  EXPECT_EQ(error({{"x", "1"}}), "s has no knob 'x'");
  EXPECT_EQ(error({{"n", "many"}}), "n: found 'many', expected a whole number");
  EXPECT_EQ(error({{"n", "1e400"}}), "n: found '1e400', expected a whole number");
  EXPECT_EQ(error({{"n", "@physical_cores"}}), "n: @physical_cores is not worked out");
  EXPECT_EQ(error({{"b", "yes"}}), "b: found 'yes', expected true or false");
  EXPECT_EQ(error({{"l", "1,2"}}), "l: found '1,2', expected a list");
  EXPECT_EQ(error({{"s", "{model}"}}), "s: {model}: nothing is given for {model}");
  EXPECT_EQ(error({{"s", "a"}, {"t", "x"}}), "s and t cannot both be set: both are --s");
}

TEST(ShellWords, AsAShellSplits) {
  const auto words = [](std::string_view text) { return split_words(text).value_or(std::vector<std::string>{"error"}); };
  EXPECT_EQ(words("  a  b\tc\n"), (std::vector<std::string>{"a", "b", "c"}));
  EXPECT_EQ(words(R"(a'b c'"d \"e\" \n" '' f\ g)"), (std::vector<std::string>{"ab cd \"e\" \\n", "", "f g"}));
  EXPECT_EQ(words("'a"), (std::vector<std::string>{"error"}));
  EXPECT_EQ(words("a\\"), (std::vector<std::string>{"error"}));
  for (const char* word : {"", "plain", "a b", "it's", "$HOME", "\"\\", "{\"a\":1}", "*"}) {
    EXPECT_EQ(words(quote_word(word)), std::vector<std::string>{word});
  }
}

TEST(StepValues, OfTheMachineAndTheTrial) {
  const auto host = read_host_values();
  ASSERT_TRUE(host) << host.error().message;
  EXPECT_GE(std::stoul(host->at("all_cpus")), std::stoul(host->at("physical_cores")));
  EXPECT_GE(std::stoul(host->at("half_cores")), 1u);
  EXPECT_EQ(std::stoul(host->at("physical_cores")), 1u + static_cast<size_t>(std::ranges::count(host->at("physical_core_list"), ',')));
  EXPECT_TRUE(host->at("physical_core_mask").starts_with("0x"));
  EXPECT_TRUE(available("@exact_step_tokens", {}));
  EXPECT_TRUE(available("user@host", {})) << "not a word of its own";
  EXPECT_FALSE(available("taskset -c @physical_core_list", {}));
  const Catalogue c = small(knob_yaml("k", "flag: --k", "int", "[0, 1]", "", "speculation") +
                            knob_yaml("list", "flag: --l", "list", "[null, \"@exact_step_tokens\"]", "  requires: [k]\n") +
                            knob_yaml("most", "flag: --m", "int", "[null, \"@max_step_tokens\"]"));
  const auto values = [&](const KnobProfile& profile) { return resolve_values(c, profile, kHost, {8, 1, 4, 4}); };
  EXPECT_EQ(values({{"list", "@exact_step_tokens"}, {"k", "3"}}), (KnobProfile{{"k", "3"}, {"list", "[4,16,32]"}}));
  EXPECT_EQ(values({{"list", "@exact_step_tokens"}}), (KnobProfile{{"list", "[1,4,8]"}}));
  EXPECT_EQ(values({{"most", "@max_step_tokens"}, {"k", "1"}}), (KnobProfile{{"k", "1"}, {"most", "16"}}));
  EXPECT_EQ(values({{"list", "@tcmalloc"}}).error().message, "list: this machine has no @tcmalloc");
  EXPECT_EQ(values({{"list", "@exact_step_tokens"}, {"k", "-1"}}).error().message, "k: found -1, expected how many tokens a step drafts");
}

TEST(StartCommand, WhatAUserMustGive) {
  const auto missing = [](const std::string& name, const Placeholders& given) {
    const auto catalogue = load_catalogue(name);
    return catalogue ? missing_placeholders(catalogue->launch, given) : std::vector{catalogue.error().message};
  };
  using Names = std::vector<std::string>;
  EXPECT_EQ(missing("vllm-ascend", {}), (Names{"model", "devices"}));
  EXPECT_EQ(missing("vllm", {{"model", "m"}, {"name", "m"}}), Names{"devices"});
  EXPECT_EQ(missing("sglang", {{"model", "m"}, {"devices", "0"}}), Names{"model"}) << "{name}";
  EXPECT_EQ(missing("llama.cpp", {}), Names{"model"});
  EXPECT_EQ(missing("xllm", {}), (Names{"model", "device", "ranks", "rank", "devices"}));
  for (const std::string& name : shipped_catalogues()) EXPECT_EQ(missing(name, kPlaces), Names{}) << name;
}

}  // namespace
}  // namespace teapot::workbench
