// SPDX-License-Identifier: Apache-2.0
#pragma once
// Evaluates one configuration after another for a model and data, recomputing only what a change invalidates.
//
// The stages are functions (transform/prepare.h, quantize/calibrate.h, quantize/plan.h,
// runtime/program/program.h). The session caches their results by the version of their inputs, so that undo
// and A/B comparisons reuse them. Not thread-safe: only one thread at a time may call it (ui/jobs has a
// thread for it). It runs its own workers.

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analysis/user_metric.h"
#include "base/cancel.h"
#include "config/quantization_config.h"
#include "data/dataset.h"
#include "model/load_model.h"
#include "results/evaluation.h"
#include "runtime/program/program.h"
#include "transform/prepare.h"

namespace quantloupe {

class ProcessGroup;
struct Plan;
struct SessionParts;

struct SessionOptions {
    int threads = 0;               ///< worker threads; 0: one per core
    std::size_t samples = 0;       ///< number of evaluation samples, spread evenly over the data; 0: all
    std::size_t roughSamples = 0;  ///< for the first, rough accuracy; 0: a sixteenth of them, 16 to 100
    /// Bytes for everything kept between evaluations. Empty: a quarter of the machine's memory, at most half
    /// of the free memory.
    std::optional<std::size_t> memory{};
    Arithmetic arithmetic = bestArithmetic();
    /// Processes with the same session that share the passes over the samples; null: none. All of them must
    /// call the same functions with the same arguments in the same order.
    std::shared_ptr<ProcessGroup> group{};
    bool background = false;  ///< leaves threads to the other sessions of this process that need them
};

/// Current activity, for a progress bar.
struct Progress {
    std::string stage;                ///< "calibrating", "quantized network"
    std::size_t done = 0, total = 0;  ///< samples
};

/// The stage of bias correction and AdaRound, of which `done` and `total` count layers.
inline constexpr const char* kRefining = "refining layers";

/// Both are only called on the thread that runs evaluate().
struct EvaluationObserver {
    std::function<void(EvaluationPtr)> updated;  ///< gets snapshots, each more complete
    std::function<void(const Progress&)> progress;
};

/// Work that was not found in a cache, in total since the session was opened.
struct WorkDone {
    std::size_t calibrated = 0;             ///< number of calibrated tensors
    std::size_t refined = 0;                ///< number of layers with learned rounding or corrected bias
    std::size_t local = 0, cumulative = 0;  ///< number of units measured locally and cumulatively
    std::size_t computed = 0;               ///< number of tensors computed by runs of networks

    WorkDone operator-(const WorkDone& earlier) const {
        return {calibrated - earlier.calibrated, refined - earlier.refined, local - earlier.local,
                cumulative - earlier.cumulative, computed - earlier.computed};
    }
};

/// How far an evaluation goes.
enum class Depth {
    Structure,  ///< only states, reasons and costs, which need no data
    States,     ///< also the errors of the weights
    Rough,      ///< also the accuracy on the rough samples
    Accuracy,   ///< also the accuracy on all samples
    Metrics,    ///< also local and cumulative metrics of all layers
};

class Session {
  public:
    explicit Session(LoadedModel model, SessionOptions options = {});
    ~Session();
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;

    const Graph& graph() const;  ///< the source graph
    const LoadedModel& model() const;

    /// Sets the data. Without calibration data, half of the evaluation data is used for calibration (see
    /// dataNotice()).
    void setData(DatasetPtr evaluation, DatasetPtr calibration = nullptr);
    /// Uses noise instead of data (data/random_dataset.h): `samples` for evaluation and as many others for
    /// calibration; 0: the number in the options, or 32. Evaluation::randomInputs marks the results. Throws
    /// Error for unsupported inputs.
    void useRandomInputs(std::size_t samples = 0);
    bool randomInputs() const;
    bool hasData() const;  ///< true with random inputs, too
    const std::string& dataNotice() const;
    /// Returns a notice if the dimension that is assumed to contain the samples may contain something else,
    /// because the network mixes its elements; otherwise an empty string. Known after outputs() or an
    /// evaluation, whose notices contain it, too.
    const std::string& mixingNotice() const;
    /// Returns the task of the labels that evaluations use; Automatic if there are no other labels than
    /// classes.
    Task task() const;
    /// Sets a metric that evaluations compute in addition (Accuracy::userMetric) and that replaces the metric
    /// of the task in leave-one-out and tuning. Empty: none. Keeps all results that do not depend on it.
    void setMetric(std::optional<UserMetric> metric);
    bool hasMetric() const;

    /// Evaluates a configuration. Throws Error (an unknown operator, a rule that matches nothing, unreadable
    /// samples), Cancelled.
    EvaluationPtr evaluate(const QuantizationConfig& config, Depth depth = Depth::Metrics,
                           const EvaluationObserver& observer = {}, const CancelToken& cancel = {});

    /// Evaluates a configuration from which no further evaluation will start: uses stored activations but
    /// stores none, and does not train the effect model. Takes the latest refinement of each layer, such as
    /// its learned rounding, even if it was made for another configuration.
    EvaluationPtr experiment(const QuantizationConfig& config, Depth depth, const CancelToken& cancel = {});
    /// The same, but refines the layers as evaluate() does.
    EvaluationPtr exactExperiment(const QuantizationConfig& config, Depth depth,
                                  const CancelToken& cancel = {});
    /// Evaluates a configuration from which experiments will start: always runs the quantized network, so
    /// that its activations are stored, and does not train the effect model. As exact as evaluate().
    EvaluationPtr evaluateForSearch(const QuantizationConfig& config, Depth depth,
                                    const CancelToken& cancel = {});
    /// Measures the leave-one-out cost of each quantized layer (session/studies/leave_one_out.h) and then the
    /// effect of `edits` random edits of up to three layers, so that later evaluations have
    /// LayerResult::leaveOneOut and Evaluation::expected (not with a user's metric). Meant for idle time: it
    /// can be cancelled at any point, and results so far are kept. `observer.updated` gets the metrics of all
    /// layers with the values of leave-one-out so far, at most once a second.
    void measureInBackground(const QuantizationConfig& config, std::size_t edits = 40,
                             const EvaluationObserver& observer = {}, const CancelToken& cancel = {});
    /// Returns the accuracy on the evaluation samples after each step: float, batch norms folded, ReLU6
    /// replaced, equalized (if the configuration does that), weights quantized, activations quantized, too.
    std::vector<AccuracyStep> accuracyPath(const QuantizationConfig& config, const CancelToken& cancel = {});
    /// Returns the number of evaluation samples. Throws Error without data.
    std::size_t sampleCount() const;
    /// Returns the number of calibration samples that the configuration uses. Throws Error without data.
    std::size_t calibrationSampleCount(const QuantizationConfig& config) const;
    /// How many consecutive samples stay together if data is split or a part of it is used: above 1 only if
    /// the model has a fixed batch size and mixes the samples of a batch. Known once there is data or after
    /// findEvaluatedPart().
    std::size_t samplesTogether() const;
    /// Returns the name of an evaluation sample, in the order of Evaluation::classes.
    std::string sampleName(std::size_t sample) const;

    /// Finds out which part of the network can be evaluated, so that prepare(), and evaluate() with
    /// Depth::States, know which layers stay in float for this reason. Evaluations with data do this anyway.
    void findEvaluatedPart();
    /// Returns the network after the transforms. The result is cached.
    std::shared_ptr<const Prepared> prepare(const QuantizationConfig& config);
    /// Returns the plan with every scale and zero point. Calibrates if necessary. Throws Error without
    /// calibration data.
    std::shared_ptr<const Plan> plan(const QuantizationConfig& config, const CancelToken& cancel = {});
    /// Returns the quantized model as a QDQ graph. Calibrates if necessary.
    GraphPtr quantizedModel(const QuantizationConfig& config, const CancelToken& cancel = {});
    /// Returns the outputs of all evaluation samples, one array per graph output, as a single run over all
    /// samples would return them: the samples are in the dimension in which the network has them. Without
    /// `config`, those of the float model.
    std::vector<ConstantPtr> outputs(const std::optional<QuantizationConfig>& config,
                                     const CancelToken& cancel = {});

    /// SessionOptions::group; may be null.
    ProcessGroup* group() const;
    /// Forgets every result.
    void clearCache();
    /// Bytes of stored activations, and their limit.
    std::size_t activationBytes() const;
    std::size_t activationBudget() const;
    /// Bytes of everything kept for later evaluations, and their limit (SessionOptions::memory). A single
    /// evaluation may need more.
    std::size_t cacheBytes() const;
    std::size_t cacheBudget() const;
    /// Drops the least recently used results so that the rest fits into the limit. Every evaluation starts
    /// with this.
    void limitCaches();
    /// Bytes of weights that were packed for kernels, a part of cacheBytes().
    std::size_t packedWeightBytes() const;
    WorkDone workDone() const;

  private:
    friend SessionParts& partsOf(Session& session);  ///< session/session_parts.h, internal to engine/session
    std::unique_ptr<SessionParts> m_parts;
};

}  // namespace quantloupe
