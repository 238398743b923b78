// SPDX-License-Identifier: Apache-2.0
#pragma once
// The scales of all quantized layers.

#include <optional>
#include <vector>

#include "session/session.h"

namespace quantloupe {

struct LayerScale {
    NodeId node;  ///< in the source graph
    /// Scales of the weight; lowest and highest differ if it is quantized per channel. Empty: there is no
    /// weight.
    std::optional<float> lowestWeight, highestWeight;
    std::size_t weightScales = 0;  ///< 1: per tensor
    std::optional<float> output;   ///< empty: the output is not quantized
    int outputZeroPoint = 0;
};

/// Returns the scales of the layers that are quantized, in graph order. Runs no inference after an evaluation
/// of the same configuration. Throws Error without data, Cancelled.
std::vector<LayerScale> layerScales(Session& session, const QuantizationConfig& config,
                                    const CancelToken& cancel = {});

}  // namespace quantloupe
