// SPDX-License-Identifier: Apache-2.0
#pragma once
// Details of one layer: distributions of its weight, inputs and output before and after quantization, and its
// metrics per channel.

#include <string>
#include <vector>

#include "analysis/channel_ranges.h"
#include "analysis/distribution.h"
#include "session/session.h"

namespace quantloupe {

/// One tensor and its quantizer. Activations are those of the prepared float network over all evaluation
/// samples, and the same with only this layer quantized (an input after its quantizer; the output of the unit
/// run alone).
struct TensorDetails {
    std::string name;
    Distribution floating, quantized;  ///< over the same bins, which cover all finite values of both
    /// Bits of the quantizer; 0: there is none, and the following members are unset.
    int bits = 0;
    std::optional<double> scale{};  ///< empty: per channel
    int zeroPoint = 0;
    double clipLow = 0, clipHigh = 0;  ///< representable range, of all channels
    double clippedFraction = 0;        ///< of the float values, 0 to 1
    std::size_t distinctCodes = 0;     ///< number of codes that occur
    double effectiveBits = 0;          ///< log2(distinctCodes)
};

struct ChannelDetails {
    std::optional<ChannelRange> weightBefore, weightAfter;  ///< before and after the transforms
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
    /// Differences of all channels, with all metrics.
    std::optional<TensorDifference> weightDifference, local, cumulative;
    std::vector<ChannelDetails> channels;  ///< of the output: axis 1, for matrix products the last axis
};

/// Measures a layer; a skipped one as if it were quantized. Needs data; makes two passes over the evaluation
/// samples. Throws Error if there is no such layer, if it is folded or fused into another one (the message
/// names it) or cannot be quantized (with the reason); Cancelled.
LayerDetails layerDetails(Session& session, const QuantizationConfig& config, const std::string& layer,
                          std::size_t bins = 64, const CancelToken& cancel = {});

}  // namespace quantloupe
