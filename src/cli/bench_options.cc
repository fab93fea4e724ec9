#include "cli/bench_options.h"

#include <charconv>
#include <climits>

#include "cli/model_options.h"
#include "cli/number_checks.h"

namespace teapot::cli {
namespace {

std::chrono::milliseconds milliseconds(double seconds) { return std::chrono::milliseconds(static_cast<int64_t>(seconds * 1000)); }

void add_endpoint(CLI::App& command, BenchArguments& arguments) {
  workbench::BenchOptions& bench = arguments.bench;
  command.add_option("MODEL", arguments.model, "A model to serve for the run: a child on a free port, which ends with it");
  command.add_option("--url", arguments.url, "A server that is there: http://HOST:PORT[/v1/chat/completions]");
  command.add_option("--model", bench.body.model, "The model's name in requests (default: the first of the server's /v1/models)");
  command.add_option("--api", arguments.api, "The protocol")->check(CLI::IsMember({"openai"}))->capture_default_str();
  command.add_option("--api-key", bench.api_key, "Sent as a bearer token")->envname("TEAPOT_API_KEY");
  command.add_option("--serve-args", arguments.serve_args, "Options for the child, as one text: \"--mtp auto --threads 8\"");
}

void add_load(CLI::App& command, BenchArguments& arguments) {
  workbench::BenchOptions& bench = arguments.bench;
  command.add_option("--parallel", bench.parallel, "Users at a time: a load each")->check(CLI::Range(1u, 65535u))->capture_default_str();
  command.add_option("-n,--number", bench.number, "Requests of each load, or one number for all")
      ->check(CLI::Range(1u, 10'000'000u))
      ->capture_default_str();
  command.add_option("--warmup-num", bench.warmup, "Requests before each load that do not count; its own follow without a pause")
      ->capture_default_str();
  command.add_option("--rate", arguments.rate, "Requests a second, at random times, by at most --parallel users (-1: as users are free)")
      ->capture_default_str();
}

// The fields that have no place of their own, then the user's, which win.
Result<Json> extra_args(const BenchArguments& arguments) {
  Json extra = Json::object();
  if (arguments.top_k) extra["top_k"] = *arguments.top_k;
  if (arguments.frequency_penalty) extra["frequency_penalty"] = *arguments.frequency_penalty;
  if (arguments.repetition_penalty) extra["repetition_penalty"] = *arguments.repetition_penalty;
  if (!arguments.stop.empty()) extra["stop"] = arguments.stop;
  if (arguments.extra_args.empty()) return extra;
  TEAPOT_TRY(const Json given, parse_json(arguments.extra_args, "--extra-args"));
  if (!given.is_object()) return fail(ErrorKind::kInvalid, "--extra-args: found {}; expected a JSON object", dump_json(given));
  for (const auto& [key, value] : given.items()) extra[key] = value;
  return extra;
}

bool parse_number(std::string_view text, unsigned& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc{} && end == text.data() + text.size() && number < 65'536;
}

}  // namespace

void add_time_outs(CLI::App& command, BenchArguments& arguments) {
  command.add_option("--connect-timeout", arguments.connect_timeout_s, "Seconds for a connection")->check(kSeconds)->capture_default_str();
  command.add_option("--read-timeout", arguments.read_timeout_s, "Seconds without a token, after which a reply counts as stalled")
      ->check(kSeconds)
      ->capture_default_str();
}

void add_client_options(CLI::App& command, BenchArguments& arguments) {
  command.add_option("--tokenizer-path", arguments.bench.tokenizer_path,
                     "Tokenizer and chat template of the model, to count its tokens (default: MODEL)");
  command.add_option("--client-cpus", arguments.client_cpus, "Processors of the client's threads: 0,2,4-7");
  add_time_outs(command, arguments);
}

void add_dataset_options(CLI::App& command, BenchArguments& arguments) {
  workbench::DatasetOptions& dataset = arguments.bench.dataset;
  command.add_option("--dataset", dataset.dataset, "random, openqa, line_by_line, gsm8k, custom")->capture_default_str();
  command.add_option("--dataset-path", dataset.path, "Its file; random has none");
  command.add_option("--min-prompt-length", dataset.min_prompt_length, "Least tokens of a prompt, the chat template's included")
      ->capture_default_str();
  command.add_option("--max-prompt-length", dataset.max_prompt_length, "Most tokens of a prompt")->capture_default_str();
  command.add_option("--prefix-length", dataset.prefix_length, "Tokens of a beginning that all random prompts share, besides")
      ->capture_default_str();
  command.add_flag("--allow-length-drift", arguments.bench.allow_length_drift,
                   "Replies whose prompt or length is not what was asked for count as good");
}

void add_request_options(CLI::App& command, BenchArguments& arguments) {
  workbench::BodyOptions& body = arguments.bench.body;
  body.max_tokens = 2048;  // evalscope's
  body.temperature = 0;    // evalscope's
  command.add_option("--max-tokens", body.max_tokens, "Most tokens of a reply")->check(kPositive)->capture_default_str();
  command.add_option("--min-tokens", body.min_tokens, "Least tokens of a reply; as many as --max-tokens: exactly so many (ignore_eos)")
      ->capture_default_str();
  command.add_flag("--stream,!--no-stream", body.stream, "Replies as events (default), or whole: then there is no TTFT");
  command.add_option("--temperature", body.temperature, "0: greedy")->capture_default_str();
  command.add_option("--top-p", body.top_p, "Nucleus sampling");
  command.add_option("--top-k", arguments.top_k, "Sampling among so many");
  command.add_option("--frequency-penalty", arguments.frequency_penalty, "As in OpenAI's API");
  command.add_option("--repetition-penalty", arguments.repetition_penalty, "As in vLLM's API");
  command.add_option("--stop", arguments.stop, "Texts that end a reply");
  command.add_option("--seed", body.seed, "Of sampling, of random prompts and of arrival times (default: 0, and none is sent)");
  command.add_option("--extra-args", arguments.extra_args, "A JSON object whose fields go into each request, over all others");
}

void add_bench_options(CLI::App& command, BenchArguments& arguments) {
  add_endpoint(command, arguments);
  add_load(command, arguments);
  add_client_options(command, arguments);
  add_dataset_options(command, arguments);
  add_request_options(command, arguments);
  command.add_option("--name", arguments.bench.name, "Of the run: its folder and title (default: model and time)");
  command.add_option("--outputs-dir", arguments.outputs_dir, "Where the run's folder is made")->capture_default_str();
}

Result<std::vector<unsigned>> parse_cpu_list(const std::string& text) {
  std::vector<unsigned> cpus;
  if (text.empty()) return cpus;
  for (const std::string& part : CLI::detail::split(text, ',')) {
    const size_t dash = part.find('-');
    unsigned first = 0;
    unsigned last = 0;
    const bool good = parse_number(std::string_view(part).substr(0, dash), first) &&
                      (dash == part.npos ? (last = first, true) : parse_number(std::string_view(part).substr(dash + 1), last));
    if (!good || last < first) return fail(ErrorKind::kInvalid, "--client-cpus: found '{}'; expected processors like 0,2,4-7", text);
    for (unsigned cpu = first; cpu <= last; ++cpu) cpus.push_back(cpu);
  }
  return cpus;
}

Result<workbench::BenchOptions> bench_options(const BenchArguments& arguments, const std::string& program) {
  workbench::BenchOptions options = arguments.bench;
  options.program = program;
  if (!arguments.model.empty()) options.model_path = arguments.model;
  if (!arguments.url.empty()) options.url = arguments.url;
  if (!options.model_path && !arguments.serve_args.empty())
    return fail(ErrorKind::kInvalid, "--serve-args are for a server of our own: give MODEL instead of --url");
  if (arguments.rate != -1 && !(arguments.rate > 0))
    return fail(ErrorKind::kInvalid, "--rate: found {}; expected requests a second, or -1", arguments.rate);
  options.rate = arguments.rate == -1 ? 0 : arguments.rate;
  options.connect_timeout = milliseconds(arguments.connect_timeout_s);
  options.token_timeout = milliseconds(arguments.read_timeout_s);
  if (options.body.seed) options.dataset.seed = *options.body.seed;
  options.serve_arguments = CLI::detail::split_up(arguments.serve_args);
  TEAPOT_TRY(options.client_cpus, parse_cpu_list(arguments.client_cpus));
  TEAPOT_TRY(options.body.extra_args, extra_args(arguments));
  return options;
}

}  // namespace teapot::cli
