// SPDX-License-Identifier: Apache-2.0
#pragma once
// Decides whether the tail of a network is small enough to stay in float by default.
//
// The tail consists of the last weighted layers before each output and everything after them
// (model/reachability.h). In a classifier these are one or two layers; in a detector they are the heads and
// the whole post-processing, up to half of the network. If shapes are symbolic and the network has no
// convolutions, as in language models, the number of weights is used instead of MACs: every weight is used
// once per token.

#include <optional>
#include <string>

#include "model/graph.h"
#include "model/reachability.h"

namespace quantloupe {

constexpr std::size_t kMaxTailLayers = 3;
constexpr double kMaxTailMacs = 0.02;  ///< fraction of the network's MACs

struct Tail {
    NodeSet nodes;
    /// Number of nodes in the tail that do more than move values or compute shapes.
    std::size_t layers = 0;
    /// Fraction of the MACs or, if they depend on shapes that are unknown, of the weights; empty if the shape
    /// of a convolution is unknown, or if there are none of them.
    std::optional<double> share;
    bool ofWeights = false;  ///< `share` is that of the weights
    std::string whyNot;      ///< why the tail is not skipped, and what to do; empty if it is skipped
};

/// Finds the tail. With `whole` it is skipped however large it is, as CLIKA does.
Tail tailToSkip(const Graph& source, bool whole);

}  // namespace quantloupe
