// --weights and --head-weights: which matrices are quantised while they are loaded, and to what; and whether MTP's are loaded at all.
#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "model/weights.h"
#include "plan/backend.h"
#include "plan/weight.h"

namespace teapot::model {

// file (as the file has it), q8_0, q4_0, q4_k, q6_k.
struct WeightOptions {
  std::string weights = "file";
  std::string head_weights = "auto";  // auto: file with file, q8_0 with q8_0, else q6_k, as GGUF files have it
  bool mtp = true;                    // false: what only MTP needs stays in the file
};

struct FormatReport {
  std::vector<plan::SwitchReport> switches;  // weights, head-weights
  std::vector<std::string> notes;            // what stays as the file has it, though it would be quantised by its role
};

// Gives the matrices of the table the type that they are to have; their runs keep the file's (Matrix::source). Quantised are embedding and
// head, the projections of attention, GDN, MLP, experts and shared expert, and what combines the input of MTP; never the router, the a and
// b projections of GDN and the sigmoid gate of the shared expert: they are small, and what they decide is large. A head that is the
// embedding is a head. Rows that are no whole number of blocks stay as they are, which a note says.
// kInvalid names an unknown format; kUnsupported the tensor that is quantised already, to another format than the one asked for.
Result<FormatReport> choose_formats(const WeightOptions& options, const ModelWeights& weights, plan::WeightTable& table);

}  // namespace teapot::model
