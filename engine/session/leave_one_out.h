// SPDX-License-Identifier: Apache-2.0
#pragma once
// What each quantized layer costs in the task's metric: leave-one-out (this one layer in float, what is regained) and
// leave-one-in (this one alone quantized, what is lost).
//
// Every run starts from the activations that the session keeps of the network it departs from, and keeps none of its own. Only
// what may matter is measured on all samples: after the rough samples, a layer whose 95 % interval (exact, paired) lies below
// that of `settledBelow` other layers is settled; its entry says on how many samples it was judged.

#include <string>
#include <vector>

#include "analysis/paired_comparison.h"
#include "session/session.h"

namespace quantloupe {

struct LayerEffect {
    NodeId node;  ///< in the source graph
    std::string name;
    double value = 0;  ///< of the metric, with the change
    double change = 0;  ///< value - baseline on the same samples
    std::optional<double> sqnrDb;  ///< of the outputs, with the change
    std::optional<PairedComparison> paired;  ///< where the outputs are classes
    std::size_t samples = 0;  ///< that it was judged on
    /// The layer whose scale this one passes on: the two were measured together, and this entry repeats that one's. Invalid: none.
    NodeId movedWith;
};

struct LayerSweep {
    std::string metric;  ///< "top1" with labels, "agreement" without, "sqnr_db" where the outputs are no classes
    double baseline = 0;
    std::optional<double> baselineSqnrDb;
    std::vector<LayerEffect> layers;  ///< the quantized ones, in graph order
    bool complete = false;            ///< false in the snapshots on the way
    double seconds = 0;
};

struct SweepOptions {
    std::size_t settledBelow = 10;  ///< 0: every layer on all samples
    std::function<void(const LayerSweep&)> updated;  ///< after every layer, on the calling thread
};

/// Throws Error, Cancelled. The layers are those that the configuration quantizes, an activation with its host, and
/// operators that pass a scale on together with the layer whose scale it is.
LayerSweep leaveOneOut(Session& session, const QuantizationConfig& config, const SweepOptions& options = {},
                       const CancelToken& cancel = {});
LayerSweep leaveOneIn(Session& session, const QuantizationConfig& config, const SweepOptions& options = {},
                      const CancelToken& cancel = {});

/// The metric of an evaluation, and what it is called.
double taskMetric(const Accuracy& accuracy, std::string* name = nullptr);
/// Two evaluations on the same samples; empty unless both have classes for the same number of them.
std::optional<PairedComparison> compareEvaluations(const Evaluation& before, const Evaluation& after);

}  // namespace quantloupe
