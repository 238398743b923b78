// SPDX-License-Identifier: Apache-2.0
#pragma once
// Everything about one layer: how its weight, inputs and output are spread and what their quantizers make of them, and
// its metrics channel by channel.

#include <string>
#include <vector>

#include "analysis/channel_ranges.h"
#include "analysis/distribution.h"
#include "session/session.h"

namespace quantloupe {

/// One tensor and its quantizer. Activations: those of the prepared float network over all evaluation samples, and
/// what this layer alone makes of them (an input through its quantizer; the output of the unit run alone).
struct TensorDetails {
    std::string name;
    Distribution floating, quantized;  ///< over the same bins, which hold all finite values of both
    int bits = 0;                      ///< of the quantizer; 0: there is none, and what follows says nothing
    std::optional<double> scale{};     ///< empty: one for each channel
    int zeroPoint = 0;
    double clipLow = 0, clipHigh = 0;  ///< what the quantizer can represent; with a scale a channel: the widest
    double clippedFraction = 0;        ///< of the float values, 0 to 1
    std::size_t distinctCodes = 0;     ///< that occur: of the weight's codes, or of the float values' codes
    double effectiveBits = 0;          ///< log2 of them
};

struct ChannelDetails {
    std::optional<ChannelRange> weightBefore, weightAfter;  ///< the transforms
    std::optional<double> weightScale;
    std::optional<TensorDifference> weight, local, cumulative;
};

struct LayerDetails {
    NodeId node;  ///< in the source graph
    std::string name, op;
    LayerState state = LayerState::Float;
    std::string reason;
    std::optional<TensorDetails> weight;
    std::vector<TensorDetails> inputs;
    TensorDetails output;
    std::optional<TensorDifference> weightDifference, local, cumulative;  ///< of all channels, with all formulas
    std::vector<ChannelDetails> channels;  ///< of the output: axis 1, of a matrix product the last
};

/// Skipped layers as if quantized. Needs data; two passes over the evaluation samples. Throws Error: no such layer, one
/// that is folded or fused into another (the text names it), one that cannot be quantized (with the reason). Cancelled.
LayerDetails layerDetails(Session& session, const QuantizationConfig& config, const std::string& layer,
                          std::size_t bins = 64, const CancelToken& cancel = {});

}  // namespace quantloupe
