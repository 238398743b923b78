// SPDX-License-Identifier: Apache-2.0
#pragma once
// Converts a graph with Q/DQ pairs to integer operators where they exist.

#include <map>
#include <string>
#include <vector>

#include "model/graph.h"

namespace quantloupe {

struct QOperatorModel {
    GraphPtr model;
    std::map<std::string, std::size_t> made;  ///< number of nodes per new operator, such as "QLinearConv"
    /// Layers that stay in float between Q/DQ pairs, by reason.
    std::map<std::string, std::vector<std::string>> kept;
    /// layers whose bias had to be rounded to int32 in the scale of the operator
    std::vector<std::string> roundedBiases;
};

/// `qdq` is a graph from writeQdq. Names, inputs, outputs and metadata are kept. Any thread.
QOperatorModel toQOperators(const GraphPtr& qdq);

}  // namespace quantloupe
