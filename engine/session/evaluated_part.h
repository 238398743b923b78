// SPDX-License-Identifier: Apache-2.0
#pragma once
// The part of a network that is evaluated. Detection networks end in operators whose results have another shape for every
// image (NonZero, NonMaxSuppression), and some operators are not supported. Everything before the first such node is
// evaluated, quantized and measured; accuracy is computed on the tensors at that frontier. Internal to engine/session.

#include <map>
#include <string>
#include <vector>

#include "runtime/program.h"

namespace quantloupe {

class SampleBatches;

struct EvaluatedPart {
    std::map<NodeId, std::string> unavailable;  ///< nodes of the source graph that are not evaluated, with the reason
    std::vector<std::string> frontier;          ///< names of the tensors that the others end in; empty if all are evaluated

    bool whole() const { return unavailable.empty(); }
    /// The tensors of the source graph, or of one transformed from it, that accuracy is computed on.
    std::vector<TensorId> endsOf(const Graph& graph) const;
    /// For the user; empty if the whole network is evaluated. Throws Error if nothing of it can be.
    std::string notice(const Graph& source) const;
};

/// `program`: a partial one of the whole source graph.
EvaluatedPart evaluatedPart(const Graph& source, const Program& program);

/// The outputs of the whole network for one sample at a time, also of the part that is evaluated only with known values.
/// `spec` describes the network for a batch of one, and `batches` has one sample in each. One array for each graph output;
/// the samples are joined along the first dimension. Throws Error naming the node that cannot run.
std::vector<ConstantPtr> outputsBySample(const ProgramSpec& spec, const SampleBatches& batches,
                                         const std::vector<std::size_t>& order, const CancelToken& cancel);

}  // namespace quantloupe
