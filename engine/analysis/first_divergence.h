// SPDX-License-Identifier: Apache-2.0
#pragma once
// For one sample: the first layer at which the quantized network leaves the float one.
//
// Errors grow along a network by themselves, so the largest error is mostly at the end and says little. What is looked
// for is a *jump*: the first layer in graph order whose relative error is above `floor` and at least `factor` times the
// largest of all layers before it. Graph order is topological, so these hold all of its ancestors: the error was not
// handed down to it. Where nothing jumps, it is *drift*, and the first layer whose error reaches `drift` is named: from
// there on half of the signal is error.
// Defaults: 5 % is what MindStudio's guidance passes as relative Euclidean distance; twice the largest error so far is
// more than a branch of equal error joining in adds (at most 1 + 1, if both point the same way).
// Weakness: on parallel branches a layer is compared with layers that do not feed it; a jump there that is smaller than
// the neighbour's error is passed over.

#include <cstddef>
#include <optional>
#include <span>

namespace quantloupe {

struct DivergenceRule {
    double floor = 0.05, factor = 2, drift = 0.5;
};

enum class DivergenceKind {
    Jump,
    Drift,
    NotFinite,  ///< the layer is the first with a NaN among its values
};

struct FirstDivergence {
    std::size_t layer = 0;  ///< index into the errors
    DivergenceKind kind = DivergenceKind::Jump;
    double error = 0;         ///< of this layer; NaN for NotFinite
    double largestBefore = 0; ///< of the layers before it; 0 for the first
};

/// `errors`: relative errors (QS) of one sample's layers against float, cumulative, in graph order. A NaN is a
/// divergence; infinity (the reference is all zero, so there is nothing to relate to) and layers without a value
/// (negative) are passed over. Empty if nothing diverges.
std::optional<FirstDivergence> findFirstDivergence(std::span<const double> errors, const DivergenceRule& rule = {});

}  // namespace quantloupe
