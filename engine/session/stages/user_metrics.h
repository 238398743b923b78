// SPDX-License-Identifier: Apache-2.0
#pragma once
// User-defined metric (analysis/user_metric.h) of the float and the quantized network.

#include "analysis/user_metric.h"
#include "session/session.h"

namespace quantloupe {

struct NetworkOutputs;
struct SessionParts;

struct UserMetricValues {
    double floating = 0, quantized = 0;
};

/// Returns the metric that the session computed in this evaluation; empty if there is none yet.
std::optional<UserMetricValues> userMetricOf(const Evaluation& evaluation);

/// Computes the metric of the float and of the quantized network on all evaluation samples, in the order of
/// the data, with labels if there are any. Needs data. Throws Error, Cancelled.
UserMetricValues measureUserMetric(Session& session, const QuantizationConfig& config,
                                   const UserMetric& metric, const CancelToken& cancel = {});

/// A session's metric and its input for all evaluation samples, in the order of the data, without outputs.
struct SessionMetricInput {
    UserMetric metric;
    MetricInput input;
};
/// Returns nothing if the session has no metric. Needs data.
std::optional<SessionMetricInput> metricInput(Session& session);

/// If the session has a user-defined metric, computes it for both networks on the samples of the evaluation's
/// accuracies and stores it in the outputs. Runs a network again only if a graph output is missing in its
/// outputs. Internal to engine/session.
void addUserMetric(SessionParts& parts, NetworkOutputs& floating, NetworkOutputs& quantized,
                   Evaluation& evaluation, const CancelToken& cancel);

}  // namespace quantloupe
