#include "model/gguf_types.h"

#include <array>

namespace teapot::model {
namespace {

constexpr GgufTensorType weight(uint32_t id, plan::WeightType type) {
  const plan::WeightTypeInfo& format = plan::info(type);
  return {id, format.name, format.elements, format.bytes, type};
}

constexpr std::array kTypes = {
    weight(0, plan::WeightType::kF32),          weight(1, plan::WeightType::kF16),          weight(2, plan::WeightType::kQ4_0),
    weight(3, plan::WeightType::kQ4_1),         GgufTensorType{4, "Q4_2", 0, 0, {}},        GgufTensorType{5, "Q4_3", 0, 0, {}},
    weight(6, plan::WeightType::kQ5_0),         weight(7, plan::WeightType::kQ5_1),         weight(8, plan::WeightType::kQ8_0),
    GgufTensorType{9, "Q8_1", 32, 36, {}},      weight(10, plan::WeightType::kQ2_K),        weight(11, plan::WeightType::kQ3_K),
    weight(12, plan::WeightType::kQ4_K),        weight(13, plan::WeightType::kQ5_K),        weight(14, plan::WeightType::kQ6_K),
    GgufTensorType{15, "Q8_K", 256, 292, {}},   GgufTensorType{16, "IQ2_XXS", 256, 66, {}}, GgufTensorType{17, "IQ2_XS", 256, 74, {}},
    GgufTensorType{18, "IQ3_XXS", 256, 98, {}}, GgufTensorType{19, "IQ1_S", 256, 50, {}},   weight(20, plan::WeightType::kIQ4_NL),
    GgufTensorType{21, "IQ3_S", 256, 110, {}},  GgufTensorType{22, "IQ2_S", 256, 82, {}},   weight(23, plan::WeightType::kIQ4_XS),
    GgufTensorType{24, "I8", 1, 1, {}},         GgufTensorType{25, "I16", 1, 2, {}},        GgufTensorType{26, "I32", 1, 4, {}},
    GgufTensorType{27, "I64", 1, 8, {}},        GgufTensorType{28, "F64", 1, 8, {}},        GgufTensorType{29, "IQ1_M", 256, 56, {}},
    weight(30, plan::WeightType::kBF16),        GgufTensorType{31, "Q4_0_4_4", 0, 0, {}},   GgufTensorType{32, "Q4_0_4_8", 0, 0, {}},
    GgufTensorType{33, "Q4_0_8_8", 0, 0, {}},   GgufTensorType{34, "TQ1_0", 256, 54, {}},   GgufTensorType{35, "TQ2_0", 256, 66, {}},
    GgufTensorType{36, "IQ4_NL_4_4", 0, 0, {}}, GgufTensorType{37, "IQ4_NL_4_8", 0, 0, {}}, GgufTensorType{38, "IQ4_NL_8_8", 0, 0, {}},
    GgufTensorType{39, "MXFP4", 32, 17, {}},    GgufTensorType{40, "NVFP4", 64, 36, {}},    GgufTensorType{41, "Q1_0", 128, 18, {}},
};

constexpr bool ids_are_indices() {
  for (size_t i = 0; i < kTypes.size(); ++i)
    if (kTypes[i].id != i) return false;
  return true;
}
static_assert(ids_are_indices());

}  // namespace

const GgufTensorType* gguf_tensor_type(uint32_t id) { return id < kTypes.size() ? &kTypes[id] : nullptr; }

}  // namespace teapot::model
