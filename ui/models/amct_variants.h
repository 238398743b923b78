// SPDX-License-Identifier: Apache-2.0
#pragma once
// Step 4 of AMCT's tuning: other parameters for activation ranges (IFMR, HFMG) and weight scales (ARQ), and
// their results.

#include <functional>

#include "base/cancel.h"
#include "commands/config_edits.h"
#include "models/amct_workflow.h"
#include "session/session.h"

namespace quantloupe::ui {

struct AmctVariant {
    ConfigEdit edit;
    QString title;  ///< "Percentiles 0.9999"
    QString why;    ///< one sentence
};

/// Returns the variants, each of which changes one setting of the configuration.
std::vector<AmctVariant> amctVariants(const QuantizationConfig& config);

/// Evaluates the configurations one by one on all evaluation samples, independent of the normal evaluations.
/// `found` receives each result on the calling thread. A variant that cannot be evaluated has no result.
/// Throws Cancelled.
void measureVariants(Session& session, const std::vector<QuantizationConfig>& configs,
                     const std::function<void(const AmctMeasurement&)>& found, const CancelToken& cancel);

}  // namespace quantloupe::ui
