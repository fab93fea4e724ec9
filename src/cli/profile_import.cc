// teapot profile import: where the time of steps goes in traces that other profilers wrote, and in our own.
#include <algorithm>
#include <charconv>
#include <expected>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/log.h"
#include "cli/commands.h"
#include "cli/number_checks.h"
#include "cli/progress.h"
#include "workbench/trace/chrome_export.h"
#include "workbench/trace/import.h"
#include "workbench/trace/report_html.h"
#include "workbench/trace/report_json.h"
#include "workbench/trace/report_text.h"

namespace teapot::cli {
namespace {

namespace trace = workbench::trace;

struct Arguments {
  std::vector<std::string> paths;
  std::string steps, rules, html, out_trace, against;
  double roof_gbps = 0;
  trace::ImportOptions import;
  bool json = false;
};

// "3-7", "3"
Result<std::pair<int64_t, int64_t>> step_range(const std::string& text) {
  int64_t first = 0, last = 0;
  const char* const end = text.data() + text.size();
  auto parsed = std::from_chars(text.data(), end, first);
  last = first;
  if (parsed.ec == std::errc{} && parsed.ptr != end && *parsed.ptr == '-') parsed = std::from_chars(parsed.ptr + 1, end, last);
  if (parsed.ec != std::errc{} || parsed.ptr != end || last < first)
    return fail(ErrorKind::kInvalid, "--steps {}: expected ids as 3-7", text);
  return std::pair(first, last);
}

Result<trace::Rules> load_rules(const std::string& path) {
  Json extra;
  if (!path.empty()) {
    TEAPOT_TRY(extra, read_json_file(path));
  }
  return trace::Rules::create(extra, path);
}

trace::ImportFault fault_of(const char* error, const std::string& message) {
  trace::ImportFault fault;
  fault.fault.error = error;
  fault.fault.message = message;
  return fault;
}

template <class T>
std::expected<T, trace::ImportFault> named(const char* error, Result<T> result) {
  if (!result) return std::unexpected(fault_of(error, result.error().message));
  if constexpr (std::is_void_v<T>) {
    return {};
  } else {
    return *std::move(result);
  }
}

// What is printed; what is wrong with a trace is an answer, too.
std::expected<std::string, trace::ImportFault> import(Arguments& arguments) {
  TEAPOT_TRY(const trace::Rules rules, named("bad rules", load_rules(arguments.rules)));
  trace::ImportOptions& options = arguments.import;
  if (arguments.roof_gbps > 0) options.analysis.roof_gbps = arguments.roof_gbps;
  if (!arguments.steps.empty()) {
    TEAPOT_TRY(options.analysis.steps, named("bad option", step_range(arguments.steps)));
  }
  options.analysis.keep_trace = !arguments.html.empty() || !arguments.out_trace.empty();
  const auto read = [&](const std::vector<std::string>& paths) {
    ProgressBar bar("reading");
    options.progress = [&bar](uint64_t done, uint64_t total) { bar.update(done, total); };
    return trace::import_traces(paths, rules, options);
  };
  TEAPOT_TRY(const auto ranks, read(arguments.paths));
  std::optional<trace::Comparison> against;
  if (!arguments.against.empty()) {
    const bool keep = std::exchange(options.analysis.keep_trace, false);
    TEAPOT_TRY(const auto before, read({arguments.against}));
    options.analysis.keep_trace = keep;
    against = trace::compare(before.front(), ranks.front());
  }
  if (!arguments.html.empty()) TEAPOT_CHECK(named("cannot write", write_file(arguments.html, trace::to_html(ranks, against))));
  if (!arguments.out_trace.empty()) TEAPOT_CHECK(named("cannot write", trace::write_chrome_trace(ranks, arguments.out_trace)));
  return arguments.json ? dump_json(trace::to_json(ranks, against)) + "\n" : trace::to_text(ranks, against);
}

int refuse(const trace::ImportFault& fault, bool json) {
  if (!json) return report({ErrorKind::kInvalid, fault.fault.error + ": " + fault.fault.message});
  const Status written = write_out(dump_json(trace::to_json(fault)) + "\n");
  return written ? kExitError : report(written.error());
}

}  // namespace

CLI::App* add_profile_import(CLI::App& profile, int& exit_code) {
  const auto arguments = std::make_shared<Arguments>();
  CLI::App* command = profile.add_subcommand("import",
                                             "Say where steps' time goes in traces of the Ascend PyTorch profiler, msprof, PyTorch on CUDA "
                                             "or ROCm, Nsight Systems (SQLite), or our own");
  command->add_option("path", arguments->paths, "Folders or files: JSON, gzip, CSV, SQLite; what they are is found by content")->required();
  command->add_option("--format", arguments->import.format, "What the trace must be")
      ->check(CLI::IsMember({"auto", "ascend_pt", "msprof", "kineto", "nsight", "teapot"}))
      ->capture_default_str();
  command->add_option("--roof", arguments->roof_gbps, "Memory bandwidth of the device in GB/s: weight kernels are told as a share of it")
      ->check(kPositive);
  command->add_option("--steps", arguments->steps, "Only these ids, as 3-7");
  command->add_option("--rank", arguments->import.rank, "Only this rank");
  command->add_option("--rules", arguments->rules, "JSON with name rules that go before the built-in ones");
  command->add_flag("--json", arguments->json, "One JSON object instead of text, also for errors");
  command->add_option("--html", arguments->html, "Write the report as one HTML file");
  command->add_option("--out-trace", arguments->out_trace, "Write the classified steps as a Chrome trace (ui.perfetto.dev shows it)");
  command->add_option("--against", arguments->against, "Another trace: what changed from it to this one");
  command->callback([arguments, &exit_code] {
    const auto text = import(*arguments);
    if (!text) {
      exit_code = refuse(text.error(), arguments->json);
    } else if (const Status written = write_out(*text); !written) {
      exit_code = report(written.error());
    }
  });
  return command;
}

int report_usage(const CLI::App& app, std::span<char* const> words, const std::string& message) {
  const bool json = std::ranges::find(words, std::string_view("--json")) != words.end();
  if (json && app.get_subcommand("profile")->got_subcommand("import")) return refuse(fault_of("bad option", message), json);
  return report({ErrorKind::kInvalid, message + "\nRun with --help for more."});
}

}  // namespace teapot::cli
