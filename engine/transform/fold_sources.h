// SPDX-License-Identifier: Apache-2.0
#pragma once
// The layers whose weights could take over what a batch norm does to a tensor.

#include <optional>
#include <string>
#include <vector>

#include "model/graph_builder.h"
#include "transform/weight_layout.h"

namespace quantloupe {

/// Conv, ConvTranspose, Gemm or MatMul.
bool isFoldHost(const Node& node);
/// The layout of such a layer's weight; of a MatMul [in, out], for matrices only.
std::optional<WeightLayout> foldLayout(const Node& node, const Dims& dims);

/// A layer that makes channels first .. first + count of the tensor.
struct FoldSource {
    NodeId host;
    std::size_t first = 0, count = 0;
    bool product = false;  ///< a MatMul, whose bias is an Add:
    NodeId shift;          ///< the Add of a constant for each channel behind it; invalid: there is none
    std::size_t shiftInput = 0;
    std::vector<float> shiftValues;   ///< [count]
    std::size_t positionsBehind = 0;  ///< axes behind that of the channels, where it is added
    bool planar = false;              ///< the Add's, or else the batch norm's, input is [N, channels]
    bool needsAdd() const { return product && !shift.valid(); }
};

/// Either the layers, in order of channels, or why not; neither: no layer makes the tensor.
struct FoldSources {
    std::vector<FoldSource> sources;
    std::string reason;
};

/// `builder` holds the graph as it stands, `makers` the node that makes each of `source`'s tensors there. The tensor and all between it and
/// the layers must have one reader each and be no graph outputs.
FoldSources findFoldSources(const Graph& source, GraphBuilder& builder, const std::vector<NodeId>& makers, TensorId tensor,
                            std::size_t axis, std::size_t channels);

}  // namespace quantloupe
