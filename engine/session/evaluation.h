// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the session knows about a configuration: the values that window, command line and exports show.

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/version.h"
#include "config/quantization_config.h"
#include "model/graph.h"
#include "model/reachability.h"

namespace quantloupe {

enum class LayerState {
    Quantized,
    Skipped,  ///< could be quantized; a rule keeps it in float
    Float,    ///< cannot be quantized; the reason says why
    Folded,   ///< into another layer (host)
    Fused,    ///< an activation running inside another layer's unit (host)
};
/// "quantized", "skipped", "float", "folded", "fused".
std::string_view layerStateName(LayerState state);

/// Difference of a tensor from its float reference over all evaluated samples. Formulas: analysis/tensor_metrics.h,
/// relative_errors.h, divergence.h.
struct TensorDifference {
    double qs = 0;      ///< relative L2, infinite where the reference is all zero and the tensor is not
    double cosine = 1;  ///< NaN where exactly one of the two is all zero: see note
    double sqnrDb = 0;  ///< infinite where there is no difference
    double maxAbsolute = 0, meanAbsolute = 0, rootMeanSquare = 0;  ///< of the difference, in the tensor's unit
    double relativeEuclidean = 0;  ///< qs, but 0 where the reference's norm is below float's epsilon
    double absoluteL2 = 0;         ///< CLIKA 24.x's scale: grows with the tensor and the samples
    double referenceMean = 0, referenceDeviation = 0, testedMean = 0, testedDeviation = 0;
    std::optional<double> accumulatedRelative = {}, maxRelative = {}, meanRelative = {};  ///< where asked for
    std::optional<double> klDivergence = {};  ///< where asked for
    std::string note = {};                    ///< why a number above is a convention; mostly empty
};

struct LayerResult {
    NodeId node;  ///< in the source graph
    std::string name;
    std::string op;
    LayerState state = LayerState::Float;
    bool io = false;  ///< reads a graph input or makes a graph output
    std::string reason;  ///< why it is in this state; empty for plainly quantized layers
    std::string host;    ///< Folded, Fused: the layer it went into
    bool quantizable = false;  ///< Quantized or Skipped
    std::optional<TensorDifference> weight;      ///< the quantized weight alone, which needs no data; skipped: as if quantized
    std::optional<TensorDifference> local;       ///< float input, only this unit quantized; skipped: as if quantized
    std::optional<TensorDifference> cumulative;  ///< whole quantized network against whole float network
    /// Largest over smallest magnitude of the weight's output channels, after the transforms; channels of zeros do not count.
    std::optional<double> weightRangeRatio = {};
    int weightBits = 0, activationBits = 0;  ///< of the weight and the output; skipped: as if quantized; 0: there is none
    std::optional<double> leaveOneOut;           ///< of the task's metric: regained with this layer alone in float
    std::uint64_t macs = 0;        ///< of one sample
    std::string macsReason = {};   ///< why `macs` is not known; empty if it is
    std::uint64_t parameters = 0;
};

/// Where a rate (0 to 1) lies, 95 % Wilson score interval.
struct RateInterval {
    double low = 0, high = 1;
};

struct Accuracy {
    std::size_t samples = 0;
    std::optional<double> top1, top5;  ///< with labels
    std::optional<RateInterval> top1Interval;
    std::optional<double> agreement;  ///< with the float model's top-1
    std::optional<double> sqnrDb;     ///< of the outputs, against the float model's; infinite = no difference
    std::optional<double> maxAbsDiff;
    /// Where the first output is an image (rank 4): its mean squared error against the float model's, and the PSNR with
    /// the span of the float model's values as peak (analysis/task_metrics.h).
    std::optional<double> mse, psnrDb;
};

/// Change from the configuration before.
struct ExpectedEffect {
    bool ofSqnr = false;  ///< of the outputs' SQNR, in dB; otherwise of the task's metric, as a fraction
    double median = 0;
    double low = 0, high = 0;  ///< 80 % interval
};

/// The accuracy after one more thing was done to the network.
struct AccuracyStep {
    std::string name;  ///< "equalized"
    Accuracy accuracy;
};

struct StateCounts {
    std::size_t quantized = 0, skipped = 0, floating = 0, folded = 0, fused = 0;
};

struct StageSeconds {
    double load = 0, transform = 0, calibrate = 0, floating = 0, quantized = 0, metrics = 0, total = 0;
};

/// One configuration's results so far. Snapshots grow: states first, then a rough accuracy, then the full one,
/// then the metrics of the layers; `complete` marks the last. A field that is not yet known is empty.
struct Evaluation {
    Version version;  ///< of model, data and configuration
    QuantizationConfig config;
    bool complete = false;
    bool rough = false;  ///< accuracies are of the first samples only
    bool randomInputs = false;  ///< nobody gave data: ranges and metrics are of noise, and must be shown as such
    std::optional<Accuracy> floating, prepared, quantized;
    /// Where the outputs are classes, one a sample that `quantized` is of, in the session's order of work: the quantized
    /// network's class, and the wanted one (the label, or without labels the float model's class).
    std::shared_ptr<const std::vector<std::int32_t>> classes, wanted;
    std::shared_ptr<const std::vector<std::int32_t>> floatClasses;  ///< the float model's, of the same samples
    /// What this edit was expected to do, from the sensitivities; empty unless it may be believed: of the task's metric, or, where
    /// only that is predictable, of the outputs' SQNR.
    std::optional<ExpectedEffect> expected;
    StateCounts counts;
    std::vector<NodeSet> covered;  ///< SkipDecisions::covered: nodes of each rule; then, if it is skipped, the tail's
    std::vector<LayerResult> layers;  ///< one a source node, in graph order
    std::size_t foldedBatchNorms = 0, replacedClips = 0, equalizationSets = 0, migratedInputs = 0;
    std::vector<std::string> notices;
    /// One of the notices: which nodes are not evaluated and why, and what the accuracy is computed on instead of the
    /// outputs. Empty if the whole network is evaluated.
    std::string unevaluated;
    std::size_t samples = 0;             ///< that the full evaluation uses
    std::size_t calibrationSamples = 0;
    StageSeconds seconds;
};
using EvaluationPtr = std::shared_ptr<const Evaluation>;

}  // namespace quantloupe
