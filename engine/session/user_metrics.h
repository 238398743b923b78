// SPDX-License-Identifier: Apache-2.0
#pragma once
// A person's own metric (analysis/user_metric.h) of the float and of the quantized network.

#include "analysis/user_metric.h"
#include "session/session.h"

namespace quantloupe {

struct UserMetricValues {
    double floating = 0, quantized = 0;
};

/// Runs the program twice, on the outputs of all evaluation samples in the data's order, with labels where there are
/// some. The outputs of an evaluation that was just done are used again. Needs data. Throws Error, Cancelled.
UserMetricValues measureUserMetric(Session& session, const QuantizationConfig& config, const UserMetric& metric,
                                   const CancelToken& cancel = {});

}  // namespace quantloupe
