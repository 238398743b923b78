// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which output of a network contains the scores of the classes.

#include <optional>
#include <span>
#include <string>

namespace quantloupe {

struct OutputVector {
    std::string name;
    std::size_t width = 0;  ///< number of values per sample; 0: not one vector per sample
};

/// Returns the position of the output that top-1 and agreement are computed on: `chosen`, if it is not empty.
/// Otherwise the first one that has more than one value, if it is a vector; of several vectors, the first one
/// whose name says that it contains logits, probabilities, scores or classes. Empty if the outputs are not
/// classes. Throws Error if `chosen` is none of the vectors.
std::optional<std::size_t> classOutput(std::span<const OutputVector> outputs, const std::string& chosen);

/// A notice if other outputs could contain the classes, too; empty otherwise.
std::string classOutputNotice(std::span<const OutputVector> outputs, std::size_t used);

}  // namespace quantloupe
