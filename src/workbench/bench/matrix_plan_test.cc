#include "workbench/bench/matrix_plan.h"

#include <gtest/gtest.h>

#include <set>

#include "workbench/bench/matrix_cell.h"

namespace teapot::workbench {
namespace {

std::string message(const std::string& yaml) {
  const auto plan = parse_matrix_plan(yaml, "m.yaml", "m");
  return plan ? "no error" : plan.error().message;
}

TEST(MatrixPlan, TheProtocolIsTheDefault) {
  const auto plan = parse_matrix_plan("servers:\n- {name: a, model-path: models/a}\n", "m.yaml", "m");
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_EQ(plan->name, "m");
  ASSERT_EQ(plan->loads.size(), 3);
  EXPECT_EQ(plan->loads[2].prompt_tokens, 4096);
  EXPECT_EQ(plan->parallel, (std::vector<uint32_t>{1, 4, 8}));
  EXPECT_EQ(plan->number, (std::vector<uint32_t>{40, 80, 80}));
  EXPECT_EQ(plan->warmup, 20);
  EXPECT_EQ(plan->temperature, 0);
  EXPECT_EQ(plan->control_server(), nullptr);
  EXPECT_EQ(cells_of(*plan).size(), 9);
}

TEST(MatrixPlan, EveryKeyIsRead) {
  const auto plan = parse_matrix_plan(R"(
name: gap
control: far
servers:
  - name: far
    url: http://far:8000/v1
    tokenizer: models/a
    model: qwen
    api-key-env: FAR_KEY
    extra-args: '{"top_k": 1}'
  - name: near
    model-path: models/a
    serve-args: [--mtp, auto]
  - name: other
    command: [server, -m, x]
    url: http://127.0.0.1:8099
    health: /ready
    start-timeout: 30
    tokenizer: models/a
loads:
  - {prompt: 1024, output: 512}
parallel: [1, 8]
number: 10
warmup: 2
prefix-length: 16
seed: 7
temperature: 0.5
allow-length-drift: true
token-timeout: 5
)",
                                      "m.yaml", "m");
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_EQ(plan->name, "gap");
  ASSERT_EQ(plan->servers.size(), 3);
  EXPECT_EQ(plan->control_server(), &plan->servers[0]);
  EXPECT_EQ(plan->servers[0].extra_args["top_k"], 1);
  EXPECT_EQ(plan->servers[0].api_key_env, "FAR_KEY");
  EXPECT_EQ(plan->servers[1].serve_arguments, (std::vector<std::string>{"--mtp", "auto"}));
  EXPECT_EQ(plan->servers[2].command.size(), 3);
  EXPECT_EQ(plan->servers[2].health, "/ready");
  EXPECT_EQ(plan->servers[2].start_timeout.count(), 30);
  EXPECT_EQ(plan->number, (std::vector<uint32_t>{10, 10}));
  EXPECT_EQ(plan->seed, 7);
  EXPECT_TRUE(plan->allow_length_drift);

  const auto options = cell_options(*plan, {.server = 1, .load = {1024, 512}, .parallel = 8, .number = 10}, "teapot");
  ASSERT_TRUE(options);
  EXPECT_EQ(options->name, "near-1024-512-c8");
  EXPECT_EQ(options->model_path, "models/a");
  EXPECT_FALSE(options->url);
  EXPECT_EQ(options->parallel, (std::vector<uint32_t>{8}));
  EXPECT_EQ(options->dataset.min_prompt_length, 1024);
  EXPECT_EQ(options->dataset.max_prompt_length, 1024);
  EXPECT_EQ(options->dataset.prefix_length, 16);
  EXPECT_EQ(options->body.min_tokens, 512);
  EXPECT_EQ(options->body.max_tokens, 512);
  EXPECT_EQ(options->body.temperature, 0.5);
  EXPECT_EQ(options->token_timeout, std::chrono::seconds(5));
}

TEST(MatrixPlan, PromptsAreTheSameForAllServersAndOthersForEachLoad) {
  const auto plan = parse_matrix_plan("control: a\nservers: [{name: a, model-path: p}, {name: b, model-path: q}]\n", "m.yaml", "m");
  ASSERT_TRUE(plan) << plan.error().message;
  std::set<uint64_t> seeds;
  for (const MatrixCell& cell : cells_of(*plan)) seeds.insert(cell_seed(*plan, cell));
  EXPECT_EQ(seeds.size(), 9) << "18 cells, two servers";
  EXPECT_LT(*seeds.rbegin(), uint64_t{1} << 53);
}

TEST(MatrixPlan, FaultsNameTheirLineWhatWasFoundAndWhatWasExpected) {
  const std::string one = "servers: [{name: a, model-path: p}]\n";
  EXPECT_EQ(
      message("servers:\n- name: a\n  modelpath: p\n"),
      "m.yaml:3: server 1: unknown key 'modelpath', expected one of: name, url, model-path, serve-args, command, health, start-timeout, "
      "tokenizer, model, api-key-env, extra-args");
  EXPECT_EQ(message(one + "seed: 1\nseed: 2\n"), "m.yaml:3: matrix: the key 'seed' stands twice");
  EXPECT_EQ(message(one + "warmup: -1\n"), "m.yaml:2: matrix: warmup: found '-1', expected a whole number from 0 to 1000000");
  EXPECT_EQ(message(one + "warmup: [1]\n"), "m.yaml:2: matrix: warmup: found a list, expected a whole number from 0 to 1000000");
  EXPECT_EQ(message(one + "temperature: .nan\n"), "m.yaml:2: matrix: temperature: found '.nan', expected a number from 0 to 2");
  EXPECT_EQ(message(one + "temperature: nan\n"), "m.yaml:2: matrix: temperature: found 'nan', expected a number from 0 to 2");
  EXPECT_EQ(message(one + "allow-length-drift: maybe\n"), "m.yaml:2: matrix: allow-length-drift: found 'maybe', expected true or false");
  EXPECT_EQ(message(one + "parallel: [1, 1]\nnumber: 1\n"), "m.yaml:2: matrix: parallel: 1 stands twice");
  EXPECT_EQ(message(one + "parallel: [1, 2]\n"), "m.yaml:1: matrix: number: is missing: requests for each of parallel");
  EXPECT_EQ(message(one + "number: [1, 2]\n"), "m.yaml:2: matrix: number: found 2 numbers, expected one, or 3 as for parallel");
  EXPECT_EQ(message(one + "loads: [{prompt: 4}]\n"), "m.yaml:2: load 1: output: is missing: a number of tokens");
  EXPECT_EQ(message(one + "loads: []\n"), "m.yaml:2: matrix: loads: expected a list of 1 to 100 loads");
  EXPECT_EQ(message(one + "control: b\n"), "m.yaml:2: matrix: control: 'b' is the name of none of the servers");
  EXPECT_EQ(message("seed: 1\n"), "m.yaml:1: matrix: servers: expected a list of 1 to 100 servers");
  EXPECT_EQ(message("servers: [a]\n"), "m.yaml:1: server 1: found 'a', expected a mapping");
  EXPECT_EQ(message("[1, 2]\n"), "m.yaml:1: matrix: found a list, expected a mapping");
  EXPECT_EQ(message(""), "m.yaml: found nothing, expected a mapping");
  EXPECT_EQ(message("a: b\n---\nc: d\n"), "m.yaml: found more than one document, expected one");
  EXPECT_EQ(message(",l: far\nserve:\n  - na "), "m.yaml: found more than one document, expected one");
  EXPECT_EQ(message("a: b\n,-\xd8\xf5~\xc3\xd1.0h "), "m.yaml:2: found a byte 0xd8, expected text in UTF-8");
  EXPECT_EQ(message(std::string("a\0", 2)), "m.yaml:1: found a byte 0x00, expected text in UTF-8");
  EXPECT_TRUE(message("a: [1\nb: 2\n").starts_with("m.yaml:2: ")) << message("a: [1\nb: 2\n");
}

TEST(MatrixPlan, ServersAreOfOneKind) {
  const auto server = [](const std::string& fields) { return message("servers:\n- {name: a, " + fields + "}\n"); };
  EXPECT_EQ(server("tokenizer: t"), "m.yaml:2: server 1: name: 'a': expected a url, a model-path, or a command with a url");
  EXPECT_EQ(server("url: 'http://h', model-path: p"),
            "m.yaml:2: server 1: name: 'a': expected a url, a model-path, or a command with a url");
  EXPECT_EQ(server("command: [x]"), "m.yaml:2: server 1: command: needs a url, where its server will answer");
  EXPECT_EQ(server("url: 'http://h', tokenizer: t, health: /x"), "m.yaml:2: server 1: health: is only for a server that has a command");
  EXPECT_EQ(server("url: 'http://h', tokenizer: t, serve-args: [x]"),
            "m.yaml:2: server 1: serve-args: is only for a server that has a model-path");
  EXPECT_EQ(server("url: 'http://h'"),
            "m.yaml:2: server 1: tokenizer: is missing for 'a': prompts of an exact length need the model's tokenizer");
  EXPECT_TRUE(server("url: 'https://h', tokenizer: t").starts_with("m.yaml:2: server 1: url: "))
      << server("url: 'https://h', tokenizer: t");
  EXPECT_TRUE(server("model-path: p, extra-args: '[1]'").ends_with("extra-args: expected the text of a JSON object"));
  EXPECT_EQ(server("model-path: p}\n- {name: a, model-path: q"), "m.yaml:2: matrix: servers: two servers have the name 'a'");
  EXPECT_EQ(server("model-path: p}\n- {name: b, model-path: q"),
            "m.yaml:1: matrix: control: is missing: the name of the server that ratios refer to");
}

}  // namespace
}  // namespace teapot::workbench
