// SPDX-License-Identifier: Apache-2.0
#pragma once
// A quantized graph of Q/DQ pairs with its layers as operators on integers, where there is one.

#include <map>
#include <string>
#include <vector>

#include "model/graph.h"

namespace quantloupe {

struct QOperatorModel {
    GraphPtr model;
    std::map<std::string, std::size_t> made;  ///< how many of each operator: "QLinearConv"
    /// Layers that go on computing in float between Q/DQ pairs, by the reason in words.
    std::map<std::string, std::vector<std::string>> kept;
    std::vector<std::string> roundedBiases;  ///< layers whose bias was no int32 of the scale that the operator wants
};

/// `qdq` as writeQdq makes it; names, inputs, outputs and metadata stay. Any thread.
QOperatorModel toQOperators(const GraphPtr& qdq);

}  // namespace quantloupe
