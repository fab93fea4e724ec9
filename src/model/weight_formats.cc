#include "model/weight_formats.h"

#include <optional>
#include <set>

namespace teapot::model {
namespace {

using plan::MatrixId;
using plan::WeightType;

struct Format {
  std::string_view name;
  std::optional<WeightType> type;
};
constexpr Format kFile = {"file", {}};
constexpr Format kQ8_0 = {"q8_0", WeightType::kQ8_0};
constexpr Format kQ6_K = {"q6_k", WeightType::kQ6_K};
constexpr Format kFormats[] = {kFile, kQ8_0, {"q4_0", WeightType::kQ4_0}, {"q4_k", WeightType::kQ4_K}, kQ6_K};

Result<Format> find_format(std::string_view option, const std::string& name, std::string_view others) {
  for (const Format& format : kFormats) {
    if (name == format.name) return format;
  }
  return fail(ErrorKind::kInvalid, "{}: {:?} is none of {}file, q8_0, q4_0, q4_k, q6_k", option, name, others);
}

bool is_wide(WeightType type) { return plan::info(type).elements == 1; }

// Applies one format to matrices and remembers what became of it.
class Chooser {
 public:
  Chooser(std::string_view option, Format format, plan::WeightTable& table) : option_(option), format_(format), table_(table) {}

  template <class... Ids>
  Status quantize(Ids... ids) {
    for (const MatrixId id : {ids...}) TEAPOT_CHECK(quantize_one(id));
    return {};
  }

  // The format, or "file" if it could be given to nothing.
  std::string active() const { return std::string(quantized_ || kept_.empty() ? format_.name : kFile.name); }

  std::optional<std::string> note() const {
    if (kept_.empty()) return std::nullopt;
    return fmt::format("--{} {}: as in the file stay {} tensor{} whose rows are no multiple of {} elements: {}{}", option_, format_.name,
                       kept_.size(), kept_.size() == 1 ? "" : "s", plan::info(*format_.type).elements, *kept_.begin(),
                       kept_.size() == 1 ? "" : ", ...");
  }

 private:
  Status quantize_one(MatrixId id) {
    if (id == plan::kNoMatrix || !format_.type) return {};
    plan::Matrix& matrix = table_.matrices[static_cast<size_t>(id)];
    if (matrix.type == *format_.type) {
      quantized_ = true;
      return {};
    }
    if (!is_wide(matrix.type)) {
      return fail(ErrorKind::kUnsupported, "tensor {} is {}; --{} {} takes F32, F16 and BF16, and what is {} already", matrix.name,
                  plan::info(matrix.type).name, option_, format_.name, plan::info(*format_.type).name);
    }
    if (matrix.cols % plan::info(*format_.type).elements != 0) {
      kept_.insert(fmt::format("{} (rows of {})", matrix.name, matrix.cols));
      return {};
    }
    matrix.source = matrix.type;
    matrix.type = *format_.type;
    quantized_ = true;
    return {};
  }

  std::string_view option_;
  Format format_;
  plan::WeightTable& table_;
  bool quantized_ = false;
  std::set<std::string> kept_;
};

Status quantize_layer(const LayerWeights& layer, Chooser& chooser) {
  if (const auto* attention = std::get_if<AttentionWeights>(&layer.mixer)) {
    TEAPOT_CHECK(chooser.quantize(attention->q, attention->gate, attention->k, attention->v, attention->o));
  } else {
    const auto& gdn = std::get<GdnWeights>(layer.mixer);
    TEAPOT_CHECK(chooser.quantize(gdn.qkv, gdn.z, gdn.out));
  }
  if (const auto* mlp = std::get_if<MlpWeights>(&layer.ffn)) return chooser.quantize(mlp->gate, mlp->up, mlp->down);
  const auto& moe = std::get<MoeWeights>(layer.ffn);
  return chooser.quantize(moe.gate, moe.up, moe.down, moe.shared.gate, moe.shared.up, moe.shared.down);
}

Format head_format(const Format& weights) {
  if (!weights.type || weights.type == kQ8_0.type) return weights;
  return kQ6_K;
}

std::string head_reason(bool automatic, bool tied, const Format& weights) {
  std::string reason;
  if (automatic && weights.type) reason = fmt::format("what goes with --weights {}", weights.name);
  if (tied) reason += fmt::format("{}the head is the embedding", reason.empty() ? "" : "; ");
  return reason;
}

}  // namespace

Result<FormatReport> choose_formats(const WeightOptions& options, const ModelWeights& weights, plan::WeightTable& table) {
  TEAPOT_TRY(const Format format, find_format("--weights", options.weights, ""));
  const bool automatic = options.head_weights == "auto";
  Format for_head = head_format(format);
  if (!automatic) {
    TEAPOT_TRY(for_head, find_format("--head-weights", options.head_weights, "auto, "));
  }
  Chooser body("weights", format, table);
  Chooser head("head-weights", for_head, table);
  TEAPOT_CHECK(head.quantize(weights.head));
  const bool tied = weights.head == weights.embedding;
  if (!tied) TEAPOT_CHECK(body.quantize(weights.embedding));
  for (const LayerWeights& layer : weights.layers) TEAPOT_CHECK(quantize_layer(layer, body));
  if (weights.mtp) {
    TEAPOT_CHECK(body.quantize(weights.mtp->combine));
    for (const LayerWeights& layer : weights.mtp->layers) TEAPOT_CHECK(quantize_layer(layer, body));
    if (weights.mtp->head != weights.head) TEAPOT_CHECK(head.quantize(weights.mtp->head));
    if (weights.mtp->embedding != weights.embedding) TEAPOT_CHECK(body.quantize(weights.mtp->embedding));
  }
  FormatReport report;
  const WeightOptions defaults;
  for (const Chooser* chooser : {&body, &head}) {
    if (auto note = chooser->note()) report.notes.push_back(*std::move(note));
  }
  report.switches = {
      {"weights", options.weights, body.active(), body.note().value_or(""), defaults.weights},
      {"head-weights", options.head_weights, head.active(), head.note().value_or(head_reason(automatic, tied, format)),
       defaults.head_weights},
  };
  return report;
}

}  // namespace teapot::model
