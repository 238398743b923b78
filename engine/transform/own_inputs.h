// SPDX-License-Identifier: Apache-2.0
#pragma once
// Separate input tensors for layers, so that one layer can read a tensor quantized while another layer reads
// it in float or in another precision.

#include "transform/prepare.h"

namespace quantloupe {

/// A tensor that some layers read through an additional Identity.
struct OwnInput {
    TensorId tensor;
    std::vector<NodeId> readers;  ///< not empty
    std::string name;             ///< of the Identity and its output, made unique
};

/// The result of withOwnInputs().
struct WithOwnInputs {
    Prepared prepared;
    std::vector<NodeId> identities;  ///< one per OwnInput
    std::vector<TensorId> tensors;   ///< maps tensors of the original graph to tensors of the new graph
};

/// Returns the tensor that layers read through this own input; other tensors as they are.
TensorId sharedTensor(const Prepared& prepared, TensorId tensor);

/// Inserts the Identities. Changes `graph`, `sourceOf`, `outputStatistics`, `layerMappings`, `junctions`,
/// `unevaluated` and `ownInputs`, but not `transformed` and `version`. An Identity belongs to the source
/// layer of its first reader. Any thread.
WithOwnInputs withOwnInputs(Prepared prepared, const std::vector<OwnInput>& inputs);

/// Inserts an Identity before every Conv, ConvTranspose, Gemm and MatMul with a constant weight and before
/// every AveragePool, so that each has its own input tensor to quantize, and changes `version`. Any thread.
Prepared withOwnInputs(Prepared prepared);

}  // namespace quantloupe
