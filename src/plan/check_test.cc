#include "plan/check.h"

#include <functional>

#include <gtest/gtest.h>

namespace teapot::plan {
namespace {

constexpr uint32_t kHidden = 8;
constexpr uint32_t kExperts = 3;
constexpr uint32_t kWidth = 5;

// A sound plan with every op, which each test spoils in one place.
struct Sound {
  Plan plan{{4}, {}, {}};
  WeightTable weights;
  StateLayout layout{.attention_layers = 1,
                     .kv_heads = 2,
                     .head_dim = 4,
                     .gdn_layers = 1,
                     .conv_kernel = 4,
                     .key_heads = 1,
                     .value_heads = 2,
                     .dk = 4,
                     .dv = 3,
                     .tiled_value_heads = false};

  Sound() {
    const BufferId residual = buffer("residual", kHidden);
    const BufferId q = buffer("q", 16), gate = buffer("gate", 16), k = buffer("k", 8), v = buffer("v", 8),
                   attended = buffer("attended", 16);
    const BufferId qkv = buffer("qkv", 14), z = buffer("z", 6), b = buffer("b", 2), a = buffer("a", 2), recalled = buffer("recalled", 6);
    const BufferId normed = buffer("normed", kHidden), experts = buffer("experts", 2, DType::kI32), chosen = buffer("weights", 2);
    const BufferId hidden = buffer("hidden", kHidden);
    const VectorId norm = vector(kHidden);
    plan.ops = {
        Embed{matrix(11, kHidden), residual},
        NormProject{
            residual, norm, 1e-6f, {{matrix(14, kHidden), qkv}, {matrix(6, kHidden), z}, {matrix(2, kHidden), b}, {matrix(2, kHidden), a}}},
        GdnStep{qkv, z, b, a, recalled, vector(4 * 14), vector(2), vector(2), vector(3), 1e-6f, 0},
        ProjectResidual{recalled, matrix(kHidden, 6), residual},
        NormProject{residual,
                    norm,
                    1e-6f,
                    {{matrix(16, kHidden), q}, {matrix(16, kHidden), gate}, {matrix(8, kHidden), k}, {matrix(8, kHidden), v}}},
        Attend{q, gate, k, v, attended, vector(4), vector(4), 1e-6f, 4, 2, 1e7f, 0},
        ProjectResidual{attended, matrix(kHidden, 16), residual},
        Route{residual, norm, 1e-6f, matrix(kExperts, kHidden), normed, experts, chosen, true},
        Moe{normed, experts, chosen, matrix(kExperts * kWidth, kHidden), matrix(kExperts * kWidth, kHidden),
            matrix(kExperts * kHidden, kWidth), matrix(6, kHidden), matrix(6, kHidden), matrix(kHidden, 6), matrix(1, kHidden), residual,
            kExperts},
        Mlp{norm, 1e-6f, matrix(7, kHidden), matrix(7, kHidden), matrix(kHidden, 7), residual},
        Head{residual, norm, 1e-6f, matrix(11, kHidden), hidden},
        Tap{hidden, "hidden"},
        Tap{experts, "router.0"},
    };
  }

  BufferId buffer(const std::string& name, uint32_t cols, DType dtype = DType::kF32) {
    plan.buffers.push_back({name, dtype, cols});
    return static_cast<BufferId>(plan.buffers.size() - 1);
  }
  MatrixId matrix(uint32_t rows, uint32_t cols) {
    static const std::byte some{};
    weights.matrices.push_back({fmt::format("m{}", weights.matrices.size()), WeightType::kF32, rows, cols, {{&some, rows}}});
    return static_cast<MatrixId>(weights.matrices.size() - 1);
  }
  VectorId vector(size_t size) {
    weights.vectors.push_back({"v", std::vector<float>(size)});
    return static_cast<VectorId>(weights.vectors.size() - 1);
  }
  Buffer& buffer_named(const std::string& name) {
    for (Buffer& buffer : plan.buffers)
      if (buffer.name == name) return buffer;
    std::abort();
  }
  template <class T>
  T& op() {
    for (Op& op : plan.ops)
      if (T* found = std::get_if<T>(&op)) return *found;
    std::abort();
  }
  Status checked() const { return check(plan, weights, layout); }
};

TEST(CheckPlan, PassesASoundPlan) {
  const Status status = Sound().checked();
  EXPECT_TRUE(status) << status.error().message;
}

TEST(CheckPlan, AllowsWhatIsOptional) {
  Sound plain;
  plain.op<Attend>().gate = kNoBuffer;
  Moe& moe = plain.op<Moe>();
  moe.shared_gate = moe.shared_up = moe.shared_down = moe.shared_sigmoid = kNoMatrix;
  const Status status = plain.checked();
  EXPECT_TRUE(status) << status.error().message;
}

TEST(CheckPlan, NamesOpAndField) {
  struct Spoilt {
    const char* says;
    std::function<void(Sound&)> spoil;
  };
  const std::vector<Spoilt> cases = {
      {"plan: shape", [](Sound& s) { s.plan.shape.rows = 0; }},
      {"plan: buffers: 'z'", [](Sound& s) { s.buffer_named("z").cols = 0; }},
      {"op 0 (embed): table: matrix 4294967295", [](Sound& s) { s.op<Embed>().table = kNoMatrix; }},
      {"op 0 (embed): out: buffer 65535", [](Sound& s) { s.op<Embed>().out = kNoBuffer; }},
      {"op 0 (embed): out", [](Sound& s) { s.buffer_named("residual").cols = 9; }},
      {"op 0 (embed): out: 'residual' is i32", [](Sound& s) { s.buffer_named("residual").dtype = DType::kI32; }},
      {"op 0 (embed): table: 'm0': runs of 7 rows", [](Sound& s) { s.weights.matrices[0].runs[0].rows = 7; }},
      {"op 0 (embed): table: 'm0': a run without data", [](Sound& s) { s.weights.matrices[0].runs[0].data = nullptr; }},
      {"op 0 (embed): table: 'm0': 8 columns are no whole blocks of Q8_0",
       [](Sound& s) { s.weights.matrices[0].type = WeightType::kQ8_0; }},
      {"op 1 (norm_project): norm: vector", [](Sound& s) { s.op<NormProject>().norm = kNoVector; }},
      {"op 1 (norm_project): norm: 'v': 7 values", [](Sound& s) { s.weights.vectors[0].values.pop_back(); }},
      {"op 1 (norm_project): eps", [](Sound& s) { s.op<NormProject>().eps = -1; }},
      {"op 1 (norm_project): projections.out", [](Sound& s) { s.op<NormProject>().projections[0].out = s.op<Embed>().out; }},
      {"op 1 (norm_project): projections.out: buffer 9 is there twice",
       [](Sound& s) {
         auto& projections = s.op<NormProject>().projections;
         projections[2].out = projections[3].out;
       }},
      {"op 1 (norm_project): x: no op before this one writes 'hidden'", [](Sound& s) { s.op<NormProject>().x = s.op<Head>().hidden; }},
      {"op 1 (norm_project): projections: none", [](Sound& s) { s.op<NormProject>().projections.clear(); }},
      {"op 2 (gdn_step): conv", [](Sound& s) { s.layout.conv_kernel = 3; }},
      {"op 2 (gdn_step): layout", [](Sound& s) { s.layout.key_heads = 0; }},
      {"op 2 (gdn_step): state_layer: 0 of 0", [](Sound& s) { s.layout.gdn_layers = 0; }},
      {"op 2 (gdn_step): out", [](Sound& s) { s.op<GdnStep>().out = s.op<GdnStep>().z; }},
      {"op 3 (project_residual): in: 6", [](Sound& s) { s.op<ProjectResidual>().matrix = s.op<Moe>().gate; }},
      {"op 5 (attend): heads", [](Sound& s) { s.op<Attend>().heads = 3; }},
      {"op 5 (attend): q", [](Sound& s) { s.op<Attend>().heads = 2; }},
      {"op 5 (attend): rotary_dim", [](Sound& s) { s.op<Attend>().rotary_dim = 6; }},
      {"op 5 (attend): rope_theta", [](Sound& s) { s.op<Attend>().rope_theta = 0; }},
      {"op 5 (attend): out", [](Sound& s) { s.op<Attend>().out = s.op<Attend>().gate; }},
      {"op 7 (route): experts", [](Sound& s) { s.buffer_named("experts").cols = 4; }},
      {"op 7 (route): experts: 'experts' is f32", [](Sound& s) { s.buffer_named("experts").dtype = DType::kF32; }},
      {"op 7 (route): weights", [](Sound& s) { s.buffer_named("weights").cols = 1; }},
      {"op 8 (moe): gate rows", [](Sound& s) { s.op<Moe>().expert_count = 2; }},
      {"op 8 (moe): expert_count", [](Sound& s) { s.op<Moe>().expert_count = 0; }},
      {"op 8 (moe): up", [](Sound& s) { s.op<Moe>().up = s.op<Mlp>().up; }},
      {"op 8 (moe): shared_gate, shared_up, shared_down, shared_sigmoid: 3 of 4", [](Sound& s) { s.op<Moe>().shared_up = kNoMatrix; }},
      {"op 8 (moe): shared_down", [](Sound& s) { s.op<Moe>().shared_down = s.op<Mlp>().down; }},
      {"op 9 (mlp): down", [](Sound& s) { s.op<Mlp>().down = s.op<Moe>().shared_down; }},
      {"op 10 (head): hidden", [](Sound& s) { s.op<Head>().hidden = s.op<Head>().x; }},
      {"op 11 (tap): name", [](Sound& s) { s.op<Tap>().name.clear(); }},
      {"op 13 (attend): state_layer: 0 belongs to an earlier op too", [](Sound& s) { s.plan.ops.emplace_back(s.op<Attend>()); }},
  };
  for (const Spoilt& spoilt : cases) {
    Sound plan;
    spoilt.spoil(plan);
    const Status status = plan.checked();
    ASSERT_FALSE(status) << spoilt.says;
    EXPECT_EQ(status.error().kind, ErrorKind::kInternal);
    EXPECT_TRUE(status.error().message.starts_with(spoilt.says)) << status.error().message << "\nexpected: " << spoilt.says;
  }
}

}  // namespace
}  // namespace teapot::plan
