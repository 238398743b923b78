// SPDX-License-Identifier: Apache-2.0
#pragma once
// Activations with a few wide channels become easier to quantize, weights a little harder: the same float function.

#include <vector>

#include "config/quantization_config.h"
#include "quantize/refine/channel_maxima.h"

namespace quantloupe {

/// Tensors of prepared.graph that a Gemm or MatMul reads whose weights could take factors. Any thread.
std::vector<TensorId> migratableTensors(const Prepared& prepared);

/// Divides channel c of each tensor in `maxima` by s = max|x_c|^strength / max|w_c|^(1 - strength) and multiplies its readers' weights by
/// s: in the LayerNormalization or the Mul by a constant that makes the tensor, else by a Mul of its own. Left alone, with a notice, is
/// a tensor that is quantized already before it is read, as `placement` has it. `prepared` has no identities for placement yet; its
/// graph, transformed, sourceOf, outputStatistics, layerMappings, migrations, notices and version change. `strength`: above 0, to 1. Any thread.
Prepared migrateOutliers(Prepared prepared, const ChannelMaxima& maxima, double strength, Placement placement);

}  // namespace quantloupe
