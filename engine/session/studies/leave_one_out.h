// SPDX-License-Identifier: Apache-2.0
#pragma once
// Leave-one-out: what each quantized layer costs in the task's metric, measured as the gain with only this
// layer in float.
//
// Every run starts from the stored activations of the baseline network and stores none itself. Only layers
// that may matter are measured on all samples: after the rough samples, a layer whose 95 % interval (exact,
// paired) lies below those of `settledBelow` other layers is not measured further; its entry says how many
// samples were used.

#include <span>
#include <string>
#include <vector>

#include "analysis/paired_comparison.h"
#include "results/task_metric.h"
#include "session/session.h"

namespace quantloupe {

struct LayerEffect {
    NodeId node;  ///< in the source graph
    std::string name;
    double value = 0;                        ///< the metric with this layer changed
    double change = 0;                       ///< gain over the baseline on the same samples
    std::optional<double> sqnrDb;            ///< of the outputs, with this layer changed
    std::optional<PairedComparison> paired;  ///< with rates: top-1, agreement, mAP or mIoU
    std::size_t samples = 0;                 ///< number of samples used
    /// The layer whose scale this one passes on. The two were measured together, and this entry repeats the
    /// other's results. Invalid: none.
    NodeId movedWith;
};

struct LayerSweep {
    TaskMetric metric = TaskMetric::Sqnr;  ///< the SQNR also of few samples without labels (meaningfulRate())
    double baseline = 0;
    std::optional<double> baselineSqnrDb;
    std::vector<LayerEffect> layers;  ///< the quantized layers, in graph order
    bool complete = false;            ///< false in intermediate snapshots
    double seconds = 0;
};

struct SweepOptions {
    std::size_t settledBelow = 10;                   ///< 0: measure every layer on all samples
    std::function<void(const LayerSweep&)> updated;  ///< after every layer, on the calling thread
    /// Returns an earlier measurement of a layer on all samples (node and name are ignored), if there is one,
    /// and gets those that are made. Both may be empty; see search/resumable_sweep.h.
    std::function<std::optional<LayerEffect>(const std::string& layer)> known{};
    std::function<void(const LayerEffect&)> measured{};
};

/// Measures the layers that the configuration quantizes. An activation is measured with its host, and an
/// operator that passes a scale on with the layer whose scale it is. Throws Error, Cancelled.
LayerSweep leaveOneOut(Session& session, const QuantizationConfig& config, const SweepOptions& options = {},
                       const CancelToken& cancel = {});

/// Whether the result of a layer does not depend on those measured before it. It does if the configuration
/// learns from data (bias correction, AdaRound): experiments take the latest refinement of each layer.
bool layersAreIndependent(const QuantizationConfig& config);
/// Whether LayerResult::leaveOneOut is known for every quantized layer.
bool leaveOneOutComplete(std::span<const LayerResult> layers);

}  // namespace quantloupe
