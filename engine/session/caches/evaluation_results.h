// SPDX-License-Identifier: Apache-2.0
#pragma once
// Results of earlier evaluations. The key of a result contains the versions of its inputs. Internal to
// engine/session.

#include <map>
#include <memory>
#include <optional>

#include "analysis/tensor_metrics.h"
#include "base/result_cache.h"
#include "results/evaluation.h"
#include "session/caches/cache_visitor.h"
#include "session/stages/evaluation_passes.h"
#include "session/studies/leave_one_out.h"

namespace quantloupe {

/// The results of leave-one-out, or of its first part if it was cancelled.
struct MeasuredSweep {
    std::map<NodeId, LayerEffect> layers;
    bool complete = false;

    void fill(std::vector<LayerResult>& results) const {
        for (const auto& [node, effect] : layers) results[node.index()].leaveOneOut = effect.change;
    }
};

/// The caches are independent of each other, and each is used by the stage or study that its comment names.
struct EvaluationResults {
    /// By program: the source network, a prepared network or a plan (stages/network_run.h).
    ResultCache<std::shared_ptr<NetworkOutputs>> outputs{256};
    /// By version of the float and the quantized weight (stages/weight_sensitivity.h).
    ResultCache<DifferenceSums> weightDifferences{20000};
    ResultCache<std::optional<double>> weightRangeRatios{20000};  ///< by weight and axis (likewise)
    /// Metrics of units (stages/unit_metrics.h). Cumulative: by float and quantized version of the tensor.
    ResultCache<DifferenceSums> local{20000}, cumulative{100000};
    /// Leave-one-out, by plan (studies/measure_in_background.cpp).
    ResultCache<MeasuredSweep> sweeps{64};
    /// Evaluations for threshold rules, by configuration (studies/threshold_rules.h).
    ResultCache<EvaluationPtr> thresholdBases{16};

    void clear();
    /// Drops what depends on the metric of the user.
    void clearMetric();
    void visitCaches(CacheVisitor& visitor);
};

}  // namespace quantloupe
