// SPDX-License-Identifier: Apache-2.0
#pragma once
// The layers that AMCT's documentation says to keep in float first: those at the input and at the output,
// those with few parameters, and those whose output is less like the float one than a cosine of 0.99.

#include <vector>

#include "results/evaluation.h"

namespace quantloupe::ui {

inline constexpr double kAmctCosine = 0.99;

enum class SkipReason { Input, Output, FewParameters, LowCosine };

struct SkipCandidates {
    SkipReason reason = SkipReason::Input;
    std::vector<NodeId> quantized;  ///< what could be kept in float, in graph order
    std::size_t inFloat = 0;        ///< of the same kind, skipped already
    /// FewParameters: fewer than so many; LowCosine: layers whose cumulative cosine is below the limit, as
    /// AMCT's analyzer counts.
    std::uint64_t detail = 0;
};

/// One per reason, in order. `layers` are the results of an evaluation, one per node; without them there are
/// no candidates. Input and output layers are the first and the last with weights on any path. Few parameters
/// are fewer than a tenth of the median of layers with weights: AMCT gives no number. The cosine is the local
/// one, which shows where the error arises; without data there is none.
std::vector<SkipCandidates> skipCandidates(const Graph& graph, const std::vector<LayerResult>& layers);

}  // namespace quantloupe::ui
