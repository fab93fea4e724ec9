// Writes a model's plan for a step shape: the ops of spec 3, layer by layer, over one set of buffers.
#pragma once

#include "model/model.h"
#include "plan/plan.h"

namespace teapot::model {

struct PlanOptions {
  // Hand out "hidden.0" (the embedding's output), "hidden.i" (layer i's output, i from 1), "router.i" (the experts chosen in layer i, i
  // from 0) and "hidden_final" (after the final norm); of a draft plan "mtp_hidden" and "router.L", L the number of layers.
  bool taps = false;
};

// Kinds other than kModel need a model that speculates (model.h).
plan::Plan write_plan(const Model& model, plan::StepShape shape, PlanOptions options = {});

}  // namespace teapot::model
