// The options of `teapot bench`, under evalscope's names.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "workbench/bench/bench.h"

namespace teapot::cli {

struct BenchArguments {
  workbench::BenchOptions bench;
  std::string outputs_dir = "outputs";
  // As they were given; bench_options() makes the rest of `bench` from them.
  std::string model, url, api = "openai", extra_args, serve_args, client_cpus;
  double rate = -1;
  double connect_timeout_s = 10, read_timeout_s = 120;
  std::optional<int64_t> top_k;
  std::optional<double> frequency_penalty, repetition_penalty;
  std::vector<std::string> stop;
};

// Endpoint, load, dataset and request; all of them optional.
void add_bench_options(CLI::App& command, BenchArguments& arguments);

// Parts of them, for commands that send such requests to other places. Of add_client_options: tokenizer, time-outs, processors.
void add_client_options(CLI::App& command, BenchArguments& arguments);
void add_dataset_options(CLI::App& command, BenchArguments& arguments);
void add_request_options(CLI::App& command, BenchArguments& arguments);
void add_time_outs(CLI::App& command, BenchArguments& arguments);

// kInvalid, kUnsupported: names the option. program: of this process, for a server of its own.
Result<workbench::BenchOptions> bench_options(const BenchArguments& arguments, const std::string& program);

// "0,2,4-7"
Result<std::vector<unsigned>> parse_cpu_list(const std::string& text);

}  // namespace teapot::cli
