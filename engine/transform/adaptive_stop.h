// SPDX-License-Identifier: Apache-2.0
#pragma once
// When repeated equalization has come to rest.

#include <vector>

#include "transform/weight_editor.h"

namespace quantloupe {

/// Quark's rule: a pass whose change is at most the threshold is the last one; so is the 20th in a row whose change
/// stayed within 1e-9 of the one before.
class AdaptiveStop {
  public:
    explicit AdaptiveStop(double threshold) : m_threshold(threshold) {}
    /// Tells the change of one more pass; true: it was the last.
    bool after(double change);

  private:
    double m_threshold, m_previous = -1;
    int m_alike = 0;
};

/// How many passes the adaptive rule may take before it is stopped from outside.
inline constexpr int kMostPasses = 1000;

/// Copies the weights of the editor's layers, to compare with later; what `kept` has allocated before is used again.
void keepWeights(const WeightEditor& editor, std::vector<std::vector<float>>& kept);
/// Sum over the layers of mean |new - old|.
double changeSince(const std::vector<std::vector<float>>& before, const WeightEditor& editor);

}  // namespace quantloupe
