// SPDX-License-Identifier: Apache-2.0
#pragma once
// Accuracy of networks that give scores of classes for each token or frame of a sequence: language models,
// token classification, speech recognition by frames.
//
// Over all tokens of all samples whose label is not negative (PyTorch ignores -100): the fraction whose
// largest score is that of the label, and the perplexity, e to the mean cross entropy. The cross entropy of a
// token is log(sum of exp(score)) - score of the label, in nats: scores are logits or logarithms of
// probabilities.

#include <optional>
#include <span>
#include <vector>

#include "analysis/detections.h"

namespace quantloupe {

/// How an output without the dimension of the samples contains the scores.
struct TokenLayout {
    std::size_t tokens = 0, classes = 0;
    bool classesFirst = false;  ///< C × T instead of T × C
};
/// Returns the layout if the output has two dimensions, apart from leading ones of 1, one of which is
/// `tokens`. If both are, the last one contains the classes.
std::optional<TokenLayout> tokenLayout(Dims dims, std::size_t tokens);

/// Whether the scores of each token are probabilities, which have no cross entropy as defined above.
bool areProbabilities(const SampleOutput& output, const TokenLayout& layout);

/// The tokens of one sample that have labels.
struct TokenCounts {
    std::vector<std::int32_t> labels, predicted;  ///< kNoClass if all scores are NaN
    double loss = 0;                              ///< sum of the cross entropies

    /// The number of tokens whose prediction is that of `other`: the label, or another network's prediction.
    std::size_t equal(const std::vector<std::int32_t>& other) const;
};
/// Throws Error if there are not as many labels as tokens, or if a label is not a class.
TokenCounts countTokens(const SampleOutput& output, const TokenLayout& layout,
                        std::span<const std::int32_t> labels);

/// Totals of several samples.
struct TokenTotals {
    std::size_t tokens = 0, right = 0;
    double loss = 0;

    void add(const TokenCounts& counts);
    void subtract(const TokenCounts& counts);
    /// Empty without tokens.
    std::optional<double> accuracy() const;
    std::optional<double> perplexity() const;
};

}  // namespace quantloupe
