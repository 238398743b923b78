// SPDX-License-Identifier: Apache-2.0
#pragma once
// Decodes the outputs of each sample and compares them with its labels (session/stages/task_judge.h).
// Internal to engine/session.

#include "model/constant.h"
#include "model/graph.h"
#include "runtime/program/program.h"
#include "runtime/program/sample_batches.h"
#include "session/session_samples.h"
#include "session/stages/evaluation_passes.h"

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

/// Returns empty outputs that are set up to store the values that the task needs.
NetworkOutputs emptyOutputs(SessionSamples& samples);

/// Compares the first `count` samples, except those that are in the records already, with their labels. If
/// the network is evaluated in part, runs the whole network of `spec` on them. Does nothing unless the data
/// has labels for detection or segmentation.
void judgeSamples(SessionSamples& samples, NetworkOutputs& outputs, std::size_t count,
                  const ProgramSpec& spec, const CancelToken& cancel);

/// Stores the results of the first `count` records by class and by sample in `result`.
void addScores(SessionSamples& samples, const NetworkOutputs& floating, const NetworkOutputs& quantized,
               std::size_t count, Evaluation& result);

}  // namespace quantloupe
