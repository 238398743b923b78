// SPDX-License-Identifier: Apache-2.0
#pragma once
// What each quantized layer costs: the task's metric with this one layer in float.

#include <string>
#include <vector>

#include "session/session.h"

namespace quantloupe::cli {

struct LeaveOneOut {
    struct Entry {
        NodeId node;
        std::string name;
        double value = 0;  ///< of the metric with this layer in float
        double gain = 0;   ///< value - baseline
    };
    std::string metric;  ///< "top1" with labels, "agreement" without, "sqnr_db" where the outputs are no classes
    double baseline = 0;
    std::vector<Entry> layers;  ///< the quantized ones, in graph order
};

/// Evaluates the accuracy once a quantized layer. Throws Error.
LeaveOneOut leaveOneOut(Session& session, const QuantizationConfig& config,
                        const EvaluationObserver& observer = {});

}  // namespace quantloupe::cli
