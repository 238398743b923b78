// SPDX-License-Identifier: Apache-2.0
#pragma once
// Results of a configuration, as shown by the window, the command line and the exports.

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
    Skipped,  ///< could be quantized, but a skip rule keeps it in float
    Float,    ///< cannot be quantized; the reason says why
    Folded,   ///< folded into another layer (host)
    Fused,    ///< activation computed in another layer's unit (host)
};
/// Returns "quantized", "skipped", "float", "folded" or "fused".
std::string_view layerStateName(LayerState state);

/// Difference of a tensor from its float reference over all evaluated samples. Formulas:
/// analysis/tensor_metrics.h, relative_errors.h, divergence.h.
struct TensorDifference {
    double qs = 0;      ///< relative L2; infinite if the reference is all zero and the tensor is not
    double cosine = 1;  ///< NaN if exactly one of the two is all zero, see note
    double sqnrDb = 0;  ///< infinite if there is no difference
    /// Statistics of the difference, in the tensor's unit.
    double maxAbsolute = 0, meanAbsolute = 0, rootMeanSquare = 0;
    double relativeEuclidean = 0;  ///< qs, but 0 if the reference's norm is below float's epsilon
    /// As in CLIKA 24.x: grows with the size of the tensor and the number of samples.
    double absoluteL2 = 0;
    double referenceMean = 0, referenceDeviation = 0, testedMean = 0, testedDeviation = 0;
    std::optional<double> accumulatedRelative = {}, maxRelative = {}, meanRelative = {};  ///< only on request
    std::optional<double> klDivergence = {};                                              ///< only on request
    std::string note = {};  ///< which of these values is set by convention; mostly empty
};

struct LayerResult {
    NodeId node;  ///< in the source graph
    std::string name;
    std::string op;
    LayerState state = LayerState::Float;
    bool io = false;           ///< reads a graph input or produces a graph output
    std::string reason;        ///< why the layer is in this state; mostly empty for quantized layers
    std::string host;          ///< Folded, Fused: the layer that it was folded or fused into
    bool quantizable = false;  ///< Quantized or Skipped
    /// The precision that the layer computes with: float32 unless it is quantized or in float16; the
    /// precision of the host if the layer was folded or fused.
    Precision precision = {};
    // If the layer is skipped, weight and local are measured as if it were quantized.
    std::optional<TensorDifference> weight;      ///< only the weight quantized; needs no data
    std::optional<TensorDifference> local;       ///< float input, only this unit quantized
    std::optional<TensorDifference> cumulative;  ///< whole quantized network against whole float network
    /// Ratio of the largest to the smallest channel magnitude (output channels) of the weight, after the
    /// transforms. Channels of zeros are ignored.
    std::optional<double> weightRangeRatio = {};
    /// Bits of the weight and of the output, even if the layer is skipped; 0: there is none.
    int weightBits = 0, activationBits = 0;
    std::optional<double> leaveOneOut;  ///< gain of the task's metric with only this layer in float
    std::uint64_t macs = 0;             ///< per sample
    std::string macsReason = {};        ///< why `macs` is unknown; empty if it is known
    std::uint64_t parameters = 0;
    /// Without those that an earlier layer reads, too. The sum over all layers is the network's.
    std::uint64_t ownParameters = 0;
    std::string module = {};  ///< the module of the network's code that contains the layer (layer_names.h)
};

/// The reason of quantized layers that have no scale of their own.
inline constexpr std::string_view kPassesScale = "passes on the scale of its input";
/// Whether the layer is quantized and has no scale of its own.
inline bool passesScale(const LayerResult& layer) {
    return layer.state == LayerState::Quantized && layer.reason == kPassesScale;
}

/// 95 % Wilson score interval of a rate (0 to 1).
struct RateInterval {
    double low = 0, high = 1;
};

/// Difference of one output from that of the float network.
struct OutputDifference {
    std::string name;
    double sqnrDb = 0, maxAbsDiff = 0;
};

struct Accuracy {
    std::size_t samples = 0;
    std::optional<double> top1, top5;  ///< only with labels
    std::optional<RateInterval> top1Interval;
    std::optional<double> agreement;  ///< with the float model's top-1
    /// SQNR of the outputs against those of the float model; infinite: no difference.
    std::optional<double> sqnrDb;
    std::optional<double> maxAbsDiff;
    std::vector<OutputDifference> outputs = {};  ///< of each output if several are compared
    /// If the first output is an image (rank 4): its mean squared error against the float model's output, and
    /// the PSNR with the span of the float model's values as peak (analysis/task_metrics.h).
    std::optional<double> mse, psnrDb;
    /// Detection with labels: COCO's mean average precision over IoU 0.50 to 0.95, and at 0.50
    /// (analysis/coco_metrics.h).
    std::optional<double> map = {}, map50 = {};
    /// Segmentation with labels: mean intersection over union and the fraction of correct pixels
    /// (analysis/segmentation_metrics.h).
    std::optional<double> miou = {}, pixelAccuracy = {};
    /// Labels of tokens: the fraction of correct tokens, and the perplexity, which is empty if the outputs
    /// are probabilities (analysis/token_metrics.h). `agreement` is that of the labeled tokens.
    std::optional<double> tokenAccuracy = {}, perplexity = {};
    /// The user's metric (Session::setMetric), which then replaces top-1; empty: none is set.
    std::optional<double> userMetric = {};
    bool lowerIsBetter = false;  ///< of userMetric
};

/// Result of one class of a graded task (isGraded()).
struct ClassScore {
    std::size_t index = 0;
    std::uint64_t labels = 0;  ///< boxes, pixels or tokens
    double value = 0;          ///< average precision, intersection over union, or fraction of correct tokens
};

/// Results of a graded task by class and by sample.
struct TaskScores {
    std::vector<ClassScore> classes;   ///< by index
    std::vector<double> samples;       ///< the rate of the task for each sample alone; NaN: it has no labels
    std::vector<double> withoutGroup;  ///< the rate without a group of samples (group_jackknife.h)
};

/// Predicted change from the previous configuration.
struct ExpectedEffect {
    bool ofSqnr = false;  ///< change of the outputs' SQNR in dB; otherwise of the task's metric as a fraction
    double median = 0;
    double low = 0, high = 0;  ///< 80 % interval
};

/// The accuracy after one more step of preparation or quantization.
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

/// Results of one configuration so far. Each snapshot adds results: first states, then the rough accuracy,
/// then the full accuracy, then the metrics of the layers; `complete` marks the last one. Fields that are not
/// yet known are empty.
struct Evaluation {
    Version version;  ///< of model, data and configuration
    Version data;     ///< of the evaluation data and its labels; empty without data
    QuantizationConfig config;
    bool complete = false;
    bool rough = false;  ///< accuracies are of the rough samples only
    /// There is no data: ranges and metrics are of noise, and must be shown as such.
    bool randomInputs = false;
    std::optional<Accuracy> floating, prepared, quantized;
    /// If the outputs are classes, one per sample of `quantized`, in the session's order of work: the class
    /// that the quantized network predicts, and the right class (the label, or without labels the float
    /// model's class).
    std::shared_ptr<const std::vector<std::int32_t>> classes, rightClasses;
    std::shared_ptr<const std::vector<std::int32_t>> floatClasses;  ///< predicted by the float model
    /// Scores of the float and the quantized network if the data has labels of a graded task, in the
    /// session's order of work.
    std::shared_ptr<const TaskScores> floatScores, scores;
    std::shared_ptr<const std::vector<std::string>> classNames;  ///< by class index; may be null
    /// Effect of this edit as it was predicted from the sensitivities, on the task's metric or, if only that
    /// can be predicted, on the outputs' SQNR. Empty unless the prediction is trusted.
    std::optional<ExpectedEffect> expected;
    StateCounts counts;
    /// SkipDecisions::covered: nodes of each rule, then of the tail if it is skipped.
    std::vector<NodeSet> covered;
    std::vector<LayerResult> layers;  ///< one per source node, in graph order
    std::size_t foldedBatchNorms = 0, replacedClips = 0, equalizationSets = 0, migratedInputs = 0;
    std::vector<std::string> notices;
    /// One of the notices: which nodes are not evaluated and why, and on which tensors accuracy is computed
    /// instead of the outputs. Empty if the whole network is evaluated.
    std::string unevaluated;
    /// One of the notices: why class labels are not used, or how many of them the network does not have.
    /// Empty if all are used.
    std::string labelNotice;
    std::size_t samples = 0;  ///< of the full evaluation
    std::size_t calibrationSamples = 0;
    StageSeconds seconds;
};
using EvaluationPtr = std::shared_ptr<const Evaluation>;

}  // namespace quantloupe
