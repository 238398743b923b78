// SPDX-License-Identifier: Apache-2.0
#pragma once
// User-defined metric (analysis/user_metric.h) of the float and the quantized network.

#include "analysis/user_metric.h"
#include "session/session.h"

namespace quantloupe {

struct UserMetricValues {
    double floating = 0, quantized = 0;
};

/// Runs the program on the outputs of the float and of the quantized network for all evaluation samples, in
/// the order of the data, with labels if there are any. Reuses the outputs of a preceding evaluation. Needs
/// data. Throws Error, Cancelled.
UserMetricValues measureUserMetric(Session& session, const QuantizationConfig& config,
                                   const UserMetric& metric, const CancelToken& cancel = {});

}  // namespace quantloupe
