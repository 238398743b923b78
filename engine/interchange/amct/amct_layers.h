// SPDX-License-Identifier: Apache-2.0
#pragma once
// The layers of an ONNX model that AMCT can quantize, and the settings that it supports for each.

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
    bool sixteenBits = false;      ///< of activations: Gemm, and convolutions over one or two dimensions
};

struct AmctVerdict {
    std::optional<AmctLayer> layer;  ///< empty: AMCT cannot quantize this layer
    /// Why AMCT cannot quantize a layer of a supported type: "its weight is shared with another layer". Empty
    /// for other types.
    std::string reason;
};

AmctVerdict amctVerdict(const Graph& graph, const Node& node);

/// Returns the layer that determines the scale of the input of `node`, looking through batch norms, Relu,
/// Clip and operators that pass their scale on; empty for the model's inputs. AMCT's activation parameters
/// apply to a layer's input, Quantloupe's to a layer's output.
std::optional<NodeId> amctInputMaker(const Graph& graph, const Node& node);

/// Returns the batch size if the model's first input fixes it.
std::optional<std::int64_t> amctBatchSize(const Graph& graph);

}  // namespace quantloupe
