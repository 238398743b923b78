// SPDX-License-Identifier: Apache-2.0
#pragma once
// The loop: a model, data, and one configuration after another; only what a change invalidates is done again.
//
// The stages are functions (transform/prepare.h, quantize/calibrate.h, quantize/plan.h, runtime/program.h); the session
// keeps their results under the version of what they depend on, so undo and A/B find them again.
// Not thread-safe: one thread at a time calls it (ui/jobs has one for it); its workers are inside.

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/cancel.h"
#include "config/quantization_config.h"
#include "data/dataset.h"
#include "model/load_model.h"
#include "runtime/program.h"
#include "session/evaluation.h"
#include "transform/prepare.h"

namespace quantloupe {

struct Plan;

struct SessionOptions {
    int threads = 0;            ///< workers; 0: as many as the machine has cores
    std::size_t samples = 0;    ///< evaluation samples spread evenly; 0: all
    std::size_t roughSamples = 0;  ///< of the first, rough number; 0: a sixteenth of them, 16 to 100
    std::optional<std::size_t> memory{};  ///< bytes for all that is kept between evaluations; empty: a quarter of the machine's memory, at most half of what is free
    Arithmetic arithmetic = bestArithmetic();
};

/// What is going on, for a progress bar.
struct Progress {
    std::string stage;  ///< "calibrating", "quantized network"
    std::size_t done = 0, total = 0;  ///< samples
};

/// Both may be called from the thread that runs evaluate() only.
struct EvaluationObserver {
    std::function<void(EvaluationPtr)> updated;    ///< snapshots, each more complete
    std::function<void(const Progress&)> progress;
};

/// How far an evaluation goes.
enum class Depth {
    States,    ///< states and reasons only: no data needed
    Rough,     ///< and the accuracy on the rough samples
    Accuracy,  ///< and the accuracy
    Metrics,   ///< and local and cumulative metrics of all layers
};

class Session {
  public:
    explicit Session(LoadedModel model, SessionOptions options = {});
    ~Session();
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;

    const Graph& graph() const;  ///< the source
    const LoadedModel& model() const;

    /// Without calibration data half of the data calibrates and the other half evaluates (see dataNotice()).
    void setData(DatasetPtr evaluation, DatasetPtr calibration = nullptr);
    /// Noise in place of data (data/random_dataset.h), `samples` to evaluate and as many others to calibrate; 0: those of
    /// the options, or 32. Evaluation::randomInputs marks what comes of it. Throws Error for inputs that it cannot make.
    void useRandomInputs(std::size_t samples = 0);
    bool randomInputs() const;
    bool hasData() const;  ///< random inputs count
    const std::string& dataNotice() const;

    /// Evaluates. Throws Error (an unknown operator, a rule that fits nothing, unreadable samples), Cancelled.
    EvaluationPtr evaluate(const QuantizationConfig& config, Depth depth = Depth::Metrics,
                           const EvaluationObserver& observer = {}, const CancelToken& cancel = {});

    /// An evaluation that nothing will build on: uses what is kept, keeps no activations, teaches the prediction nothing.
    EvaluationPtr experiment(const QuantizationConfig& config, Depth depth, const CancelToken& cancel = {});
    /// An evaluation that experiments will build on: runs the quantized network in any case, so that its activations are kept, and
    /// teaches the prediction nothing. As exact as evaluate().
    EvaluationPtr waypoint(const QuantizationConfig& config, Depth depth, const CancelToken& cancel = {});
    /// Measures what each quantized layer costs (session/leave_one_out.h) and then `edits` random edits of up to three layers, so
    /// that later evaluations know both: LayerResult::leaveOneOut and Evaluation::expected. For idle time: cancel it at any point,
    /// what it has measured by then is kept.
    void study(const QuantizationConfig& config, std::size_t edits = 40, const EvaluationObserver& observer = {},
               const CancelToken& cancel = {});
    /// Where the accuracy went: float, batch norms folded, ReLU6 replaced, equalized (those that the configuration does), weights
    /// quantized, activations quantized too; all on the evaluation samples.
    std::vector<AccuracyStep> accuracyPath(const QuantizationConfig& config, const CancelToken& cancel = {});
    /// Samples that are evaluated. Throws Error without data.
    std::size_t sampleCount() const;
    /// The name of an evaluation sample, in the order of Evaluation::classes.
    std::string sampleName(std::size_t sample) const;

    /// The network after the transforms. Kept.
    std::shared_ptr<const Prepared> prepare(const QuantizationConfig& config);
    /// Every scale and zero point. Calibrates if that is not done yet. Throws Error without data that calibrate.
    std::shared_ptr<const Plan> plan(const QuantizationConfig& config, const CancelToken& cancel = {});
    /// The quantized model as a QDQ graph, and what the writer wants said. Calibrates if that is not done yet.
    GraphPtr quantizedModel(const QuantizationConfig& config, const CancelToken& cancel = {});
    /// Outputs of all evaluation samples, one array for each graph output, as one run over all samples would return them:
    /// the samples are in the dimension in which the network has them. `config` empty: the float model.
    std::vector<ConstantPtr> outputs(const std::optional<QuantizationConfig>& config, const CancelToken& cancel = {});

    /// Forgets every result.
    void clearCache();
    /// Bytes of activations that are kept now, and at most.
    std::size_t activationBytes() const;
    std::size_t activationBudget() const;
    /// Bytes of everything that is kept for later evaluations, and at most: SessionOptions::memory. What one evaluation needs may exceed it.
    std::size_t cacheBytes() const;
    std::size_t cacheBudget() const;

    struct Impl;  ///< internal to engine/session
    Impl& internal() { return *m_impl; }  ///< for tests

  private:
    std::unique_ptr<Impl> m_impl;
};

}  // namespace quantloupe
