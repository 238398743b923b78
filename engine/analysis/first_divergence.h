// SPDX-License-Identifier: Apache-2.0
#pragma once
// For one sample: the first layer at which the quantized network diverges from the float network.
//
// Errors grow along a network anyway, so the largest error is mostly at the end and says little. This
// searches for a *jump*: the first layer in graph order whose relative error is above `floor` and at least
// `factor` times the largest error of all layers before it. Graph order is topological, so these include all
// of its ancestors, and the error was not inherited. If nothing jumps, there may be *drift*: the first layer
// whose error reaches `drift`, from which on half of the signal is error. Defaults: 5 % is the relative
// Euclidean distance that MindStudio's guidance accepts. Twice the largest error so far is more than a
// joining branch of equal error adds (at most 1 + 1, if both point in the same direction). Weakness: on
// parallel branches a layer is compared with layers that are not its ancestors, so a jump that is smaller
// than the error of the other branch is missed.

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
    double error = 0;          ///< of this layer; NaN for NotFinite
    double largestBefore = 0;  ///< of the layers before it; 0 for the first
};

/// Finds the first divergence; empty if there is none. `errors` are the cumulative relative errors (QS) of
/// one sample's layers against float, in graph order. A NaN is a divergence; infinity (the reference is all
/// zero) and layers without a value (negative) are ignored.
std::optional<FirstDivergence> findFirstDivergence(std::span<const double> errors,
                                                   const DivergenceRule& rule = {});

}  // namespace quantloupe
