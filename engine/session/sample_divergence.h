// SPDX-License-Identifier: Apache-2.0
#pragma once
// One sample along the network: how far each layer of the quantized network is from the float one, and the first that
// leaves it (analysis/first_divergence.h).

#include <string>
#include <vector>

#include "analysis/first_divergence.h"
#include "session/compare_configs.h"

namespace quantloupe {

struct SampleDivergence {
    struct Layer {
        NodeId node;  ///< in the source graph
        std::string name, op;
        LayerState state = LayerState::Float;
        TensorDifference difference;  ///< cumulative, of this sample alone, against the prepared float network
    };
    SampleId sample;
    std::optional<std::int32_t> wanted;               ///< the label
    std::optional<std::int32_t> floating, quantized;  ///< classes, where the output is a list of them
    std::vector<Layer> layers;                        ///< in graph order; those that could be quantized
    std::optional<FirstDivergence> first;             ///< `layer` is an index into layers
};

/// The place in the evaluation's order of work of a sample that is told by its index in the data as given, its name, or
/// an ending of its name that only one has. Throws Error that says what there is.
std::size_t findSample(Session& session, const std::string& nameOrIndex);

/// `sample` as findSample() gives it. One run of each network on this sample alone, whatever is kept of the others: a
/// few milliseconds. Needs data. Throws Error, Cancelled.
SampleDivergence sampleDivergence(Session& session, const QuantizationConfig& config, std::size_t sample,
                                  const CancelToken& cancel = {});

/// "jumps at 'Conv_3': 0.31, 0.04 before it".
std::string describe(const SampleDivergence& divergence);

}  // namespace quantloupe
