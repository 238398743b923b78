// SPDX-License-Identifier: Apache-2.0
#pragma once
// Error of one sample along the network: how much each layer of the quantized network differs from the float
// network, and the first layer that diverges (analysis/first_divergence.h).

#include <string>
#include <vector>

#include "analysis/first_divergence.h"
#include "session/studies/compare_configs.h"

namespace quantloupe {

struct SampleDivergence {
    struct Layer {
        NodeId node;  ///< in the source graph
        std::string name, op;
        LayerState state = LayerState::Float;
        TensorDifference difference;  ///< cumulative, of this sample only, against the prepared float network
    };
    SampleId sample;
    std::optional<std::int32_t> label;                ///< the label
    std::optional<std::int32_t> floating, quantized;  ///< predicted classes, if the outputs are classes
    std::vector<Layer> layers;                        ///< quantizable layers in graph order
    std::optional<FirstDivergence> first;             ///< its `layer` is an index into layers
};

/// Finds a sample by its index in the original order of the data, its name, or a unique suffix of its name,
/// and returns its index in the evaluation's order of work. Throws Error that names the available samples.
std::size_t findSample(Session& session, const std::string& nameOrIndex);

/// Measures the divergence of the sample with an index from findSample(). Runs each network once on this
/// sample alone, without using stored activations, which takes a few milliseconds. Needs data. Throws Error,
/// Cancelled.
SampleDivergence sampleDivergence(Session& session, const QuantizationConfig& config, std::size_t sample,
                                  const CancelToken& cancel = {});

/// Returns a description like "jumps at 'Conv_3': 0.31, 0.04 before it".
std::string describe(const SampleDivergence& divergence);

}  // namespace quantloupe
