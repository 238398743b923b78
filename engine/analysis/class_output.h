// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which output of a network contains the scores of the classes.

#include <cstdint>
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
/// classes. `binary`: the labels are 0 and 1, so a single value per sample can be the score of class 1. Such
/// an output is used if there is no vector, or if its name says so while no vector has such a name or two
/// values. Throws Error if `chosen` is none of these outputs.
std::optional<std::size_t> classOutput(std::span<const OutputVector> outputs, const std::string& chosen,
                                       bool binary = false);

/// A notice if other outputs could contain the classes, too; empty otherwise. For a single score, it
/// continues binaryNotice().
std::string classOutputNotice(std::span<const OutputVector> outputs, std::size_t used, bool binary = false);

/// Returns the number of values per sample of an output with these dimensions; 0 unless they are one vector,
/// or one value, for each sample.
std::size_t vectorWidth(std::span<const std::int64_t> dims, std::size_t samples);

/// Whether TopK has sorted the last axis of an output, so that the positions of values are not classes.
bool isRanked(const Graph& graph, TensorId output);

/// Returns vectorWidth() of an output; 0 if it is ranked.
std::size_t scoreCount(const Graph& graph, TensorId output, std::span<const std::int64_t> dims,
                       std::size_t samples);

/// Returns the value above which a single score per sample means class 1: 0.5 if the output is computed by a
/// Sigmoid or Softmax, possibly followed by operators that select or keep its values (a probability);
/// otherwise 0 (a logit). `graph`: the network before any transform.
float binaryThreshold(const Graph& graph, TensorId output);

/// Describes the decision with this threshold.
std::string binaryNotice(const std::string& output, float threshold);

}  // namespace quantloupe
