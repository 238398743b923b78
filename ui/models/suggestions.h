// SPDX-License-Identifier: Apache-2.0
#pragma once
// Edits that may improve accuracy. Each one is evaluated before it is suggested: every listed edit improved
// the accuracy on these images with this configuration.

#include <QString>
#include <optional>
#include <vector>

#include "base/cancel.h"
#include "commands/config_edits.h"
#include "session/session.h"

namespace quantloupe::ui {

struct Suggestion {
    ConfigEdit edit;
    QString title, why;
    double gain = 0;       ///< see EvaluationGain::value
    bool certain = false;  ///< the gain is not within noise
    QString verdict;       ///< "+2.4 points, 13 samples fixed, 1 broken: a real gain"
};

/// Returns the candidates: transforms and schemes that are off, and the most sensitive layers.
std::vector<Suggestion> candidateEdits(const QuantizationConfig& config,
                                       const std::vector<LayerResult>& layers);

/// Evaluates the candidate and `config`, from which it was made, on all evaluation samples. Empty if it does
/// not improve the metric (gainMetric()), or is not possible with this network. Throws Error, Cancelled.
std::optional<Suggestion> measureSuggestion(Session& session, const QuantizationConfig& config,
                                            Suggestion candidate, const CancelToken& cancel);

}  // namespace quantloupe::ui
