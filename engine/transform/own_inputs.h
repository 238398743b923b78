// SPDX-License-Identifier: Apache-2.0
#pragma once
// For placement weighted_inputs: a tensor can be read quantized by one layer and in float by another.

#include "transform/prepare.h"

namespace quantloupe {

/// Puts an Identity in front of every Conv, ConvTranspose, Gemm and MatMul with a constant weight and of every AveragePool, so
/// that each has an input tensor of its own to quantize. `graph`, `sourceOf`, `outputStatistics`, `layerMappings`, `junctions`, `ownInputs` and
/// `version` change; `transformed` does not. An Identity counts as part of the source layer that it stands before. Any thread.
Prepared withOwnInputs(Prepared prepared);

}  // namespace quantloupe
