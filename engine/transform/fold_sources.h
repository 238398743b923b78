// SPDX-License-Identifier: Apache-2.0
#pragma once
// Finds the layers that a batch norm of a tensor can be folded into.

#include <optional>
#include <string>
#include <vector>

#include "model/graph_builder.h"

namespace quantloupe {

/// A layer that produces channels first .. first + count of the tensor.
struct FoldSource {
    NodeId host;
    std::size_t first = 0, count = 0;
    bool product = false;  ///< a MatMul, whose bias is a separate Add:
    NodeId shift;          ///< the Add of a per-channel constant after it; invalid if there is none
    std::size_t shiftInput = 0;
    std::vector<float> shiftValues;  ///< [count]
    std::size_t positionsAfter = 0;  ///< number of axes after the channel axis where it is added
    bool planar = false;             ///< the input of the Add, or else of the batch norm, is [N, channels]
    bool needsAdd() const { return product && !shift.valid(); }
};

/// Either the layers, in order of their channels, or the reason why there are none; both are empty if no
/// layer produces the tensor.
struct FoldSources {
    std::vector<FoldSource> sources;
    std::string reason;
};

/// `builder` contains the current graph, `producers` the node that produces each of `source`'s tensors there.
/// The tensor and all tensors between it and the layers must have one reader each, apart from nodes that only
/// read their shapes, and must not be graph outputs.
FoldSources findFoldSources(const Graph& source, GraphBuilder& builder, const std::vector<NodeId>& producers,
                            TensorId tensor, std::size_t axis, std::size_t channels);

/// The layer that reads a tensor, perhaps behind operators that only rearrange values.
struct HostAfter {
    NodeId first, host;                   ///< the first reader of the tensor, and the layer; may be invalid
    TensorId read;                        ///< by the layer
    std::optional<std::size_t> axis = 1;  ///< of the channels in `read`; empty: they have no single axis
    std::size_t positions = 1;            ///< consecutive values of a channel, if Flatten merged them
};
HostAfter findHostAfter(const Graph& source, GraphBuilder& builder, TensorId tensor);

/// Returns the number of nodes that read the values of a tensor of `source`, and not only its shape, which
/// folding does not change.
std::size_t readersOfValues(const Graph& source, const TensorInfo& tensor);

/// Returns the only node of the current graph that reads the values of a tensor of `source`; invalid if there
/// are none or several, or if the tensor is a graph output.
NodeId onlyReader(const Graph& source, GraphBuilder& builder, TensorId tensor);

}  // namespace quantloupe
