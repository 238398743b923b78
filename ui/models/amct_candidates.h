// SPDX-License-Identifier: Apache-2.0
#pragma once
// The layers that AMCT's documentation recommends to keep in float first: input layers, output layers, layers
// with few parameters, and layers whose output has a cosine similarity to the float output of less than 0.99.

#include <vector>

#include "results/evaluation.h"

namespace quantloupe::ui {

inline constexpr double kAmctCosine = 0.99;

enum class SkipReason { Input, Output, FewParameters, LowCosine };

struct SkipCandidates {
    SkipReason reason = SkipReason::Input;
    std::vector<NodeId> quantized;  ///< quantized layers, in graph order
    std::size_t inFloat = 0;        ///< number of such layers that are already skipped
    /// FewParameters: the limit; LowCosine: the number of layers whose cumulative cosine is below the limit,
    /// as counted by AMCT's analyzer.
    std::uint64_t detail = 0;
};

/// Returns one entry per reason, in order. `layers` are the results of an evaluation, one per node; without
/// them there are no candidates. Input and output layers are the first and the last weighted layers on any
/// path. "Few parameters" means fewer than a tenth of the median of the weighted layers, because AMCT gives
/// no number. The cosine is the local one, which shows where the error arises; it is not available without
/// data.
std::vector<SkipCandidates> skipCandidates(const Graph& graph, const std::vector<LayerResult>& layers);

}  // namespace quantloupe::ui
