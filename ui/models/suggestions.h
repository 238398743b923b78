// SPDX-License-Identifier: Apache-2.0
#pragma once
// Edits that may improve accuracy. Each one is evaluated before it is suggested: every listed edit improved
// the accuracy on these images with this configuration.

#include <QString>
#include <vector>

#include "base/cancel.h"
#include "commands/config_edits.h"
#include "session/session.h"

namespace quantloupe::ui {

struct Suggestion {
    ConfigEdit edit;
    QString title, why;
    double gain = 0;  ///< accuracy gain as a fraction; without classes, gain of the output SQNR in dB
    bool inDecibels = false;
    bool certain = false;  ///< the gain is not within noise
    QString verdict;       ///< "+2.4 points, 13 samples fixed, 1 broken: a real gain"
};

/// Returns the candidates: transforms and schemes that are off, and the most sensitive layers.
std::vector<Suggestion> candidateEdits(const QuantizationConfig& config,
                                       const std::vector<LayerResult>& layers);

/// Evaluates each candidate on all evaluation samples and returns those that improve accuracy, best first.
/// `beforeEach` is called on the calling thread with the index of each candidate before its evaluation.
/// Throws Error, Cancelled.
std::vector<Suggestion> measureSuggestions(Session& session, const QuantizationConfig& config,
                                           std::vector<Suggestion> candidates,
                                           const std::function<void(std::size_t)>& beforeEach,
                                           const CancelToken& cancel);

}  // namespace quantloupe::ui
