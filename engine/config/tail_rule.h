// SPDX-License-Identifier: Apache-2.0
#pragma once
// Whether the tail of a network is small enough to stay in float without being asked for.
//
// The tail is what model/reachability.h says: for each output, the last weighted layers on the way to it and
// what follows them. In a classifier these are one or two layers. Where shapes are symbolic and the network
// has no convolutions, as language models, weights stand in for MACs: every weight is used once per token. In
// a detector they are the heads and all of the post-processing, up to half of the network.

#include <optional>
#include <string>

#include "model/graph.h"
#include "model/reachability.h"

namespace quantloupe {

constexpr std::size_t kMaxTailLayers = 3;
constexpr double kMaxTailMacs = 0.02;  ///< of the network's

struct Tail {
    NodeSet nodes;
    std::size_t layers = 0;           ///< of them, not counting those that only move values or compute shapes
    std::optional<double> macsShare;  ///< not there if the shape of a convolution is unknown
    std::string whyNot;               ///< why it is not skipped, and what to do; empty: it is
};

/// `whole`: skipped whatever it covers, as CLIKA does.
Tail tailToSkip(const Graph& source, bool whole);

}  // namespace quantloupe
