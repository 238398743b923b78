// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which output of a network contains the scores of the classes.

#include <optional>
#include <span>
#include <string>

#include "model/graph.h"

namespace quantloupe {

struct OutputVector {
    std::string name;
    std::size_t width = 0;  ///< number of values per sample; 0: not one vector per sample
};

/// Returns the position of the output that top-1 and agreement are computed on: `chosen`, if it is not empty.
/// Otherwise the first one that has more than one value, if it is a vector; of several vectors, the first one
/// whose name says that it contains logits, probabilities, scores or classes. Empty if the outputs are not
/// classes. `binary`: all labels are 0 or 1, so a single value per sample can be the score of class 1. Throws
/// Error if `chosen` is none of the vectors.
std::optional<std::size_t> classOutput(std::span<const OutputVector> outputs, const std::string& chosen,
                                       bool binary = false);

/// A notice if other outputs could contain the classes, too; empty otherwise.
std::string classOutputNotice(std::span<const OutputVector> outputs, std::size_t used);

/// Returns the value above which a single score per sample means class 1: 0.5 if the output is a probability,
/// because only operators that keep values follow a Sigmoid; otherwise 0, for logits.
float binaryThreshold(const Graph& graph, TensorId output);

/// Describes the decision with this threshold.
std::string binaryNotice(const std::string& output, float threshold);

}  // namespace quantloupe
