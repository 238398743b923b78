// SPDX-License-Identifier: Apache-2.0
#pragma once
// Separate input tensors for placement weighted_inputs, so that one layer can read a tensor quantized and
// another layer in float.

#include "transform/prepare.h"

namespace quantloupe {

/// Inserts an Identity before every Conv, ConvTranspose, Gemm and MatMul with a constant weight and before
/// every AveragePool, so that each has its own input tensor to quantize. Changes `graph`, `sourceOf`,
/// `outputStatistics`, `layerMappings`, `junctions`, `ownInputs` and `version`, but not `transformed`. An
/// Identity belongs to the source layer that it precedes. Any thread.
Prepared withOwnInputs(Prepared prepared);

}  // namespace quantloupe
