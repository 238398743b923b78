// SPDX-License-Identifier: Apache-2.0
#pragma once
// What AMCT can quantize in an ONNX model, and what it allows for each such layer.

#include <optional>
#include <string>

#include "model/graph.h"

namespace quantloupe {

struct AmctLayer {
    bool hasWeight = true;         ///< AveragePool has none
    bool perChannel = false;       ///< channel_wise may be true
    bool symmetricOnly = false;    ///< convolutions over three dimensions
    bool sixAndSevenBits = false;  ///< two-dimensional convolutions only
    bool fourBits = false;         ///< an even number of input channels and one group
};

struct AmctVerdict {
    std::optional<AmctLayer> layer;  ///< empty: no layer of AMCT's
    /// Why a layer of a supported type is none: "its weight is shared with another layer". Empty for other
    /// types.
    std::string reason;
};

AmctVerdict amctVerdict(const Graph& graph, const Node& node);

/// The layer whose settings the layer's input has: the one that makes it, before batch norms, Relu and Clip. Empty for the model's
/// inputs. AMCT's activation parameters are of a layer's input, ours of what a layer makes.
std::optional<NodeId> amctInputMaker(const Graph& graph, const Node& node);

/// Samples in a batch, where the model's first input fixes that.
std::optional<std::int64_t> amctBatchSize(const Graph& graph);

}  // namespace quantloupe
