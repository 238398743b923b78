// SPDX-License-Identifier: Apache-2.0
#pragma once
// Convergence criterion for repeated equalization.

#include <string>
#include <vector>

#include "transform/weight_editor.h"

namespace quantloupe {

/// Quark's rule: stops after a pass whose change is at most the threshold, or after the 20th consecutive pass
/// whose change differed by at most 1e-9 from the pass before.
class AdaptiveStop {
  public:
    explicit AdaptiveStop(double threshold) : m_threshold(threshold) {}
    /// Reports the change of one more pass; returns true if that pass was the last.
    bool after(double change);

  private:
    double m_threshold, m_previous = -1;
    int m_alike = 0;
};

/// The maximum number of passes under the adaptive rule.
inline constexpr int kMaxPasses = 1000;

/// Returns the notice for the adaptive rule that was stopped after `passes` passes.
std::string notConvergedNotice(int passes);

/// Copies the weights of the editor's layers for later comparison; reuses the memory of `kept`.
void keepWeights(const WeightEditor& editor, std::vector<std::vector<float>>& kept);
/// Sum over the layers of mean |new - old|.
double changeSince(const std::vector<std::vector<float>>& before, const WeightEditor& editor);

}  // namespace quantloupe
