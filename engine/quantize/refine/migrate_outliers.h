// SPDX-License-Identifier: Apache-2.0
#pragma once
// Outlier migration (SmoothQuant): makes activations with a few wide channels easier to quantize and the
// weights a little harder, without changing the float function.

#include <vector>

#include "config/quantization_config.h"
#include "quantize/refine/channel_maxima.h"

namespace quantloupe {

/// Returns the tensors of prepared.graph that are inputs of a Gemm or MatMul whose weight can absorb the
/// factors. May be called from any thread.
std::vector<TensorId> migratableTensors(const Prepared& prepared);

/// Divides channel c of each tensor in `maxima` by s = max|x_c|^strength / max|w_c|^(1 - strength) and
/// multiplies the weights of its readers by s. The division is folded into the LayerNormalization or the Mul
/// by a constant that produces the tensor, if there is one; otherwise a Mul is inserted. A tensor that would
/// already be quantized before that Mul under `placement` is left unchanged, with a notice. `prepared` must
/// not have placement identities yet; its graph, transformed, sourceOf, outputStatistics, layerMappings,
/// migrations, notices and version change. `strength` is above 0 and at most 1. May be called from any
/// thread.
Prepared migrateOutliers(Prepared prepared, const ChannelMaxima& maxima, double strength,
                         Placement placement);

}  // namespace quantloupe
