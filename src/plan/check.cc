#include "plan/check.h"

#include <cmath>
#include <set>

namespace teapot::plan {
namespace {

// Keeps the first fault; each test names the field of the op that it looks at.
class Checker {
 public:
  Checker(const Plan& plan, const WeightTable& weights, const StateLayout& layout)
      : plan_(plan), weights_(weights), layout_(layout), written_(plan.buffers.size(), false) {}

  Status run() {
    where_ = "plan";
    const StepShape& shape = plan_.shape;
    require(shape.rows > 0, "shape", "no rows");
    for (const Buffer& buffer : plan_.buffers) require(buffer.cols > 0, "buffers", "'{}' has no columns", buffer.name);
    for (size_t i = 0; i < plan_.ops.size(); ++i) {
      where_ = fmt::format("op {} ({})", i, op_name(plan_.ops[i]));
      std::visit([this](const auto& op) { check(op); }, plan_.ops[i]);
    }
    if (!fault_.empty()) return fail(ErrorKind::kInternal, "{}", fault_);
    return {};
  }

 private:
  void check(const Embed& op) {
    const Size table = matrix("table", op.table);
    require(table.rows > 0, "table", "no rows");
    write("out", op.out, table.cols);
  }

  void check(const NormProject& op) {
    const uint64_t hidden = read("x", op.x);
    norm("norm", op.norm, hidden, op.eps);
    require(!op.projections.empty(), "projections", "none");
    for (const NormProject::Projection& projection : op.projections) {
      const Size size = matrix("projections.matrix", projection.matrix);
      equal("projections.matrix cols", size.cols, hidden);
      require(projection.out != op.x, "projections.out", "is x");
      write("projections.out", projection.out, size.rows);
    }
    distinct("projections.out", op.projections, [](const NormProject::Projection& projection) { return projection.out; });
  }

  void check(const GdnStep& op) {
    const uint64_t values = uint64_t{layout_.value_heads} * layout_.dv;
    const uint64_t channels = layout_.conv_channels();
    require(layout_.key_heads > 0 && layout_.value_heads % layout_.key_heads == 0, "layout", "{} value heads for {} key heads",
            layout_.value_heads, layout_.key_heads);
    require(layout_.conv_kernel > 0, "layout", "no convolution kernel");
    read("qkv", op.qkv, channels);
    read("z", op.z, values);
    read("b", op.b, layout_.value_heads);
    read("a", op.a, layout_.value_heads);
    vector("conv", op.conv, uint64_t{layout_.conv_kernel} * channels);
    vector("neg_exp_a_log", op.neg_exp_a_log, layout_.value_heads);
    vector("dt_bias", op.dt_bias, layout_.value_heads);
    norm("norm", op.norm, layout_.dv, op.eps);
    state("state_layer", op.state_layer, layout_.gdn_layers, gdn_states_);
    require(op.out != op.qkv && op.out != op.z && op.out != op.b && op.out != op.a, "out", "is one of the inputs");
    write("out", op.out, values);
  }

  void check(const Attend& op) {
    const uint64_t width = uint64_t{op.heads} * layout_.head_dim;
    const uint64_t kv_width = uint64_t{layout_.kv_heads} * layout_.head_dim;
    require(op.heads > 0 && layout_.kv_heads > 0 && op.heads % layout_.kv_heads == 0, "heads", "{} for {} KV heads", op.heads,
            layout_.kv_heads);
    const bool queries = op.q != kNoBuffer;
    require(queries == (op.out != kNoBuffer), "out", "queries without an output, or an output without queries");
    require(queries || op.gate == kNoBuffer, "gate", "a gate without queries");
    if (queries) read("q", op.q, width);
    if (op.gate != kNoBuffer) read("gate", op.gate, width);
    read("k", op.k, kv_width);
    read("v", op.v, kv_width);
    norm("q_norm", op.q_norm, layout_.head_dim, op.eps);
    norm("k_norm", op.k_norm, layout_.head_dim, op.eps);
    require(op.rotary_dim % 2 == 0 && op.rotary_dim <= layout_.head_dim, "rotary_dim", "{} of {} elements", op.rotary_dim,
            layout_.head_dim);
    require(std::isfinite(op.rope_theta) && op.rope_theta > 0, "rope_theta", "{}", op.rope_theta);
    state("state_layer", op.state_layer, layout_.kv_layers(), attention_states_);
    if (!queries) return;
    require(op.out != op.q && op.out != op.gate && op.out != op.k && op.out != op.v, "out", "is one of the inputs");
    write("out", op.out, width);
  }

  void check(const ProjectResidual& op) {
    const Size size = matrix("matrix", op.matrix);
    read("in", op.in, size.cols);
    read("residual", op.residual, size.rows);
    require(op.in != op.residual, "in", "is the residual");
  }

  void check(const Route& op) {
    const uint64_t hidden = read("x", op.x);
    norm("norm", op.norm, hidden, op.eps);
    const Size router = matrix("router", op.router);
    equal("router cols", router.cols, hidden);
    require(op.normed != op.x, "normed", "is x");
    write("normed", op.normed, hidden);
    const uint64_t top_k = cols("experts", op.experts, DType::kI32);
    require(top_k <= router.rows, "experts", "{} of {}", top_k, router.rows);
    write("experts", op.experts, top_k, DType::kI32);
    write("weights", op.weights, top_k);
  }

  void check(const Moe& op) {
    const uint64_t hidden = read("residual", op.residual);
    read("normed", op.normed, hidden);
    require(op.normed != op.residual, "normed", "is the residual");
    read("weights", op.weights, read("experts", op.experts, DType::kI32));
    require(op.expert_count > 0, "expert_count", "0");
    if (!fault_.empty()) return;
    const Size gate = matrix("gate", op.gate);
    const Size down = matrix("down", op.down);
    equal("gate cols", gate.cols, hidden);
    same("up", matrix("up", op.up), gate);
    equal("gate rows", gate.rows, down.cols * op.expert_count);
    equal("down rows", down.rows, hidden * op.expert_count);
    const int shared =
        (op.shared_gate != kNoMatrix) + (op.shared_up != kNoMatrix) + (op.shared_down != kNoMatrix) + (op.shared_sigmoid != kNoMatrix);
    require(shared == 0 || shared == 4, "shared_gate, shared_up, shared_down, shared_sigmoid", "{} of 4 are there", shared);
    if (shared != 4) return;
    const Size shared_gate = matrix("shared_gate", op.shared_gate);
    equal("shared_gate cols", shared_gate.cols, hidden);
    same("shared_up", matrix("shared_up", op.shared_up), shared_gate);
    same("shared_down", matrix("shared_down", op.shared_down), {hidden, shared_gate.rows});
    same("shared_sigmoid", matrix("shared_sigmoid", op.shared_sigmoid), {1, hidden});
  }

  void check(const Mlp& op) {
    const uint64_t hidden = read("residual", op.residual);
    norm("norm", op.norm, hidden, op.eps);
    const Size gate = matrix("gate", op.gate);
    equal("gate cols", gate.cols, hidden);
    same("up", matrix("up", op.up), gate);
    same("down", matrix("down", op.down), {hidden, gate.rows});
  }

  void check(const Head& op) {
    const uint64_t hidden = read("x", op.x);
    norm("norm", op.norm, hidden, op.eps);
    equal("matrix cols", matrix("matrix", op.matrix).cols, hidden);
    require(op.hidden != op.x, "hidden", "is x");
    write("hidden", op.hidden, hidden);
  }

  void check(const MtpCombine& op) {
    require(layout_.mtp_layers > 0 && layout_.hidden > 0, "layout", "no MTP layer, or hidden states of no elements");
    const Size table = matrix("table", op.table);
    equal("table cols", table.cols, layout_.hidden);
    if (op.hidden != kNoBuffer) read("hidden", op.hidden, layout_.hidden);
    norm("embedding_norm", op.embedding_norm, layout_.hidden, op.eps);
    norm("hidden_norm", op.hidden_norm, layout_.hidden, op.eps);
    same("combine", matrix("combine", op.combine), {layout_.hidden, uint64_t{2} * layout_.hidden});
    require(op.out != op.hidden, "out", "is the hidden states");
    write("out", op.out, layout_.hidden);
  }

  void check(const KeepHidden& op) {
    require(layout_.hidden > 0, "layout", "hidden states of no elements");
    read("hidden", op.hidden, layout_.hidden);
  }

  void check(const Tap& op) {
    if (const Buffer* tapped = buffer("buffer", op.buffer)) read("buffer", op.buffer, tapped->dtype);
    require(!op.name.empty(), "name", "empty");
  }

  // -- What the fields above are made of. Each reports its own fault; what it returns after a fault is of no account. --

  struct Size {
    uint64_t rows;
    uint64_t cols;
  };

  template <class... Args>
  void require(bool holds, std::string_view field, fmt::format_string<Args...> format, Args&&... args) {
    if (!holds && fault_.empty()) fault_ = fmt::format("{}: {}: {}", where_, field, fmt::format(format, std::forward<Args>(args)...));
  }

  void equal(std::string_view field, uint64_t found, uint64_t expected) {
    require(found == expected, field, "{}, expected {}", found, expected);
  }

  void same(std::string_view field, Size found, Size expected) {
    require(found.rows == expected.rows && found.cols == expected.cols, field, "[{}, {}], expected [{}, {}]", found.rows, found.cols,
            expected.rows, expected.cols);
  }

  const Buffer* buffer(std::string_view field, BufferId id) {
    const auto index = static_cast<size_t>(id);
    require(index < plan_.buffers.size(), field, "buffer {} of {}", index, plan_.buffers.size());
    return index < plan_.buffers.size() ? &plan_.buffers[index] : nullptr;
  }

  uint64_t cols(std::string_view field, BufferId id, DType dtype) {
    const Buffer* found = buffer(field, id);
    if (found == nullptr) return 0;
    require(found->dtype == dtype, field, "'{}' is {}, expected {}", found->name, name(found->dtype), name(dtype));
    return found->cols;
  }

  static std::string_view name(DType dtype) { return dtype == DType::kF32 ? "f32" : "i32"; }

  uint64_t read(std::string_view field, BufferId id, DType dtype = DType::kF32) {
    const uint64_t width = cols(field, id, dtype);
    if (const Buffer* found = buffer(field, id))
      require(written_[static_cast<size_t>(id)], field, "no op before this one writes '{}'", found->name);
    return width;
  }

  void read(std::string_view field, BufferId id, uint64_t expected) { equal(field, read(field, id), expected); }

  void write(std::string_view field, BufferId id, uint64_t expected, DType dtype = DType::kF32) {
    equal(field, cols(field, id, dtype), expected);
    if (buffer(field, id) != nullptr) written_[static_cast<size_t>(id)] = true;
  }

  Size matrix(std::string_view field, MatrixId id) {
    const auto index = static_cast<size_t>(id);
    require(index < weights_.matrices.size(), field, "matrix {} of {}", index, weights_.matrices.size());
    if (index >= weights_.matrices.size()) return {0, 0};
    const Matrix& found = weights_.matrices[index];
    require(found.cols > 0 && found.cols % info(found.type).elements == 0, field, "'{}': {} columns are no whole blocks of {}", found.name,
            found.cols, info(found.type).name);
    uint64_t rows = 0;
    for (const RowRun& run : found.runs) {
      require(run.data != nullptr, field, "'{}': a run without data", found.name);
      rows += run.rows;
    }
    require(rows == found.rows, field, "'{}': runs of {} rows, expected {}", found.name, rows, found.rows);
    return {found.rows, found.cols};
  }

  void vector(std::string_view field, VectorId id, uint64_t expected) {
    const auto index = static_cast<size_t>(id);
    require(index < weights_.vectors.size(), field, "vector {} of {}", index, weights_.vectors.size());
    if (index >= weights_.vectors.size()) return;
    const Vector& found = weights_.vectors[index];
    require(found.values.size() == expected, field, "'{}': {} values, expected {}", found.name, found.values.size(), expected);
  }

  void norm(std::string_view field, VectorId id, uint64_t expected, float eps) {
    vector(field, id, expected);
    require(std::isfinite(eps) && eps >= 0, "eps", "{}", eps);
  }

  // A state is read and written by one op of a plan: two would advance it twice.
  void state(std::string_view field, uint32_t layer, uint32_t layers, std::set<uint32_t>& used) {
    require(layer < layers, field, "{} of {}", layer, layers);
    require(used.insert(layer).second, field, "{} belongs to an earlier op too", layer);
  }

  template <class Items, class Id>
  void distinct(std::string_view field, const Items& items, Id id) {
    std::set<BufferId> seen;
    for (const auto& item : items)
      require(seen.insert(id(item)).second, field, "buffer {} is there twice", static_cast<unsigned>(id(item)));
  }

  const Plan& plan_;
  const WeightTable& weights_;
  const StateLayout& layout_;
  std::vector<bool> written_;
  std::set<uint32_t> attention_states_;
  std::set<uint32_t> gdn_states_;
  std::string where_;
  std::string fault_;
};

}  // namespace

Status check(const Plan& plan, const WeightTable& weights, const StateLayout& layout) { return Checker(plan, weights, layout).run(); }

}  // namespace teapot::plan
