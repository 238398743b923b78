// SPDX-License-Identifier: Apache-2.0
#pragma once
// Outputs of single samples for TaskJudge. Internal to engine/session.

#include "model/constant.h"
#include "model/graph.h"
#include "runtime/program/program.h"
#include "runtime/program/sample_batches.h"
#include "session/stages/task_judge.h"

namespace quantloupe {

/// Returns width and height of the first input of rank 4; 0 if there is none.
InputSize inputSizeOf(const SampleBatches& batches, const Graph& graph);

/// Returns the network with all of its outputs, for these samples.
ProgramSpec wholeNetwork(ProgramSpec spec, const SampleBatches& samples);

/// The outputs of a network that was run on one sample.
struct SampleValues {
    std::vector<OutputShape> shapes;
    std::vector<std::vector<float>> floats;  ///< own the memory of `values`
    std::vector<SampleOutput> values;
};
SampleValues wholeOutputs(const Graph& source, const std::vector<ConstantPtr>& values);

}  // namespace quantloupe
