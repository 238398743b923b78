// SPDX-License-Identifier: Apache-2.0
#pragma once
// Edits that may help, each measured before it is advised: what is listed did help on these images, with this configuration.

#include <QString>
#include <vector>

#include "base/cancel.h"
#include "commands/config_edits.h"
#include "session/session.h"

namespace quantloupe::ui {

struct Suggestion {
    ConfigEdit edit;
    QString title, why;
    double gain = 0;        ///< of the accuracy as a fraction; without classes of the outputs' SQNR in dB
    bool inDecibels = false;
    bool certain = false;   ///< not within noise
    QString verdict;        ///< "+2.4 points, 13 images fixed, 1 broken: a real gain"
};

/// What could be tried: transforms and schemes that are off, and the layers that suffer most.
std::vector<Suggestion> candidateEdits(const QuantizationConfig& config, const std::vector<LayerResult>& layers);

/// Measures each on all evaluation samples and returns those that gain, the best first. `told` is called on the calling thread before
/// each. Throws Error, Cancelled.
std::vector<Suggestion> measureSuggestions(Session& session, const QuantizationConfig& config, std::vector<Suggestion> candidates,
                                           const std::function<void(std::size_t)>& told, const CancelToken& cancel);

}  // namespace quantloupe::ui
