// SPDX-License-Identifier: Apache-2.0
#pragma once
// State that a Session keeps from one evaluation to the next. Internal to engine/session.

#include "base/result_cache.h"
#include "model/layer_cost.h"
#include "quantize/plan.h"
#include "quantize/refine/migrate_outliers.h"
#include "quantize/refine/refine_layers.h"
#include "session/session.h"
#include "session/stages/evaluated_part.h"
#include "session/stages/evaluation_passes.h"
#include "session/studies/effect_model.h"

namespace quantloupe {

/// The ranges of a prepared graph's tensors.
struct CalibratedGraph {
    Statistics statistics;
    std::vector<Version> contents;  ///< one per tensor: version of its values over the calibration samples
};

/// Total work that was not found in a cache, for tests.
struct WorkDone {
    std::size_t calibrated = 0;             ///< number of calibrated tensors
    std::size_t local = 0, cumulative = 0;  ///< number of units measured locally and cumulatively
    std::size_t computed = 0;               ///< number of tensors computed by runs of networks
};

struct Session::Impl {
    Impl(Session& session, LoadedModel loaded, SessionOptions sessionOptions);

    std::shared_ptr<const Prepared> prepare(const QuantizationConfig& config);
    /// Requires that threshold rules are measured (session/studies/threshold_rules.h).
    std::shared_ptr<const Prepared> prepareMeasured(const QuantizationConfig& measured,
                                                    const RunControl& control);
    /// Returns the network with the conversions that precisions need (quantize/conversions.h).
    std::shared_ptr<const Prepared> converted(std::shared_ptr<const Prepared> made,
                                              const QuantizationConfig& measured);
    /// Migrates outliers into weights, or adds a notice that says why not.
    Prepared migrate(Prepared made, const QuantizationConfig& config, const RunControl& control);
    void openCalibration(const QuantizationConfig& config);
    /// Integer arithmetic rounds as ONNX does, so the rounding of other tools is simulated in float.
    Arithmetic arithmeticFor(const QuantizationConfig& config) const {
        return config.quantization.rounding == TieRounding::HalfEven ? options.arithmetic
                                                                     : Arithmetic::Simulation;
    }
    /// Returns the version of the calibration samples, for tensorVersions().
    Version calibrationVersion() const;
    /// Returns the ranges of the tensors, calibrating those that are not known yet.
    const Statistics& statistics(const Prepared& prepared, const UnitList& units,
                                 const QuantizationConfig& config, const RunControl& control);
    /// Returns the plan for these units, refined as configured. With `experiment`, reuses the latest
    /// refinement of each layer, so that trying a change does not learn every layer again. Progress counts
    /// layers.
    Plan resolve(const std::shared_ptr<const Prepared>& prepared, const UnitList& units,
                 const Statistics& ranges, const QuantizationConfig& config, const RunControl& control,
                 bool experiment);
    std::shared_ptr<const Plan> plan(const QuantizationConfig& config, const RunControl& control);
    /// Returns the options for resuming `graph` on the evaluation samples. For passes that every process of
    /// the group runs on all samples: with a group, there are no stored activations to resume from.
    ResumeOptions resumeOptions(const GraphPtr& graph);
    /// Returns the options for passes that are shared with the group: runOutputs(), measureUnits() and others
    /// that exchange their results (shareChunks in base/process_group.h).
    ResumeOptions sharedResumeOptions(const GraphPtr& graph);
    RunControl sharedControl(const CancelToken& cancel) const {
        return {workers, cancel, {}, options.group.get()};
    }
    /// Returns the outputs of all evaluation samples, from the cache if complete; of the source network if
    /// `plan` is null.
    std::shared_ptr<const NetworkOutputs> completeOutputs(const std::shared_ptr<const Plan>& plan,
                                                          const RunControl& control);
    /// Chooses the batch size and determines which part of the network can be evaluated, once per dataset.
    /// The batch size is above 1 only if the data flow does not mix samples (runtime/program/sample_flow.h).
    void chooseBatch();
    /// Returns the shapes of the source graph with every symbolic input dimension set to 1; none if that does
    /// not compile.
    const MeasuredShapes& shapesOfOnes();
    /// Chooses the batch and decodes the first sample, once.
    void openBatches();
    /// Compares the samples up to `samples` that are not in the records yet with their labels. If the network
    /// is evaluated in part, runs the whole network of `spec` on them. Does nothing unless the data has
    /// labels for detection or segmentation.
    void judgeSamples(NetworkOutputs& outputs, std::size_t samples, const ProgramSpec& spec,
                      const CancelToken& cancel);
    const SampleBatches& openSingleSamples();
    /// Stores the results of the first `samples` records by class and by sample in `result`.
    void keepScores(const NetworkOutputs& floating, const NetworkOutputs& quantized, std::size_t samples,
                    Evaluation& result) const;
    /// Returns empty outputs that are set up to store the values that the task needs.
    NetworkOutputs emptyOutputs() const;
    /// Drops the least recently used results so that the rest fits into the budget. The caller must not hold
    /// references into a cache.
    void limitCaches();
    std::size_t cacheBytes();
    std::size_t visitCaches(std::optional<std::size_t> budget);
    /// Call in a catch (...) block: rethrows the exception with the model's name.
    [[noreturn]] void rethrowWithModel() const;
    void requireData() const;
    /// Throws Error if there is no data or no part of the network can be evaluated.
    void requireEvaluable();
    void clear();

    Session& owner;
    LoadedModel model;
    SessionOptions options;
    std::optional<UserMetric> metric;
    std::size_t metricChanges = 0;  ///< identifies `metric` in cached results
    Workers workers;
    double loadSeconds = 0;

    /// Evaluation data is in the order of work: the rough samples first.
    DatasetPtr evaluationData, calibrationData;
    std::vector<std::size_t> order;  ///< original index of each evaluation sample
    std::string dataNotice;
    std::size_t roughSamples = 0;  ///< number of rough samples, the first of evaluationData
    bool randomInputs = false;
    std::size_t batch = 0;
    EvaluatedPart part;  ///< evaluated part of the source graph; the whole graph until a batch size is chosen
    std::unique_ptr<SampleBatches> evaluationBatches;
    Version samplesVersion;            ///< of evaluationBatches
    std::shared_ptr<TaskJudge> judge;  ///< null unless the task is detection or segmentation
    /// One sample per batch, for networks that are evaluated in part; opened if a judge needs it.
    std::unique_ptr<SampleBatches> singleSamples;
    std::unique_ptr<SampleBatches> calibrationBatches;
    std::size_t calibrationSamples = 0;  ///< number of samples in calibrationBatches

    /// Result of foldMovedConstants() for the model; all prepared networks share its tensors.
    std::optional<SimplifyResult> constants;
    ResultCache<std::shared_ptr<const Prepared>> prepared{8};
    ResultCache<CalibratedGraph> ranges{8};  ///< by graph
    /// By content, so that after a change only downstream tensors are calibrated again.
    ResultCache<TensorStatistics> tensorRanges{4000};
    ResultCache<ChannelMaxima> channelMaxima{8};
    WorkDone work;
    RefinementCache refinements;
    QuantizerCache quantizers;
    std::shared_ptr<KernelCache> kernels = std::make_shared<KernelCache>();
    const std::size_t memoryBudget;  ///< bytes for everything kept between evaluations
    int evaluationsSinceTrim = 0;
    ActivationStore activations;
    ActivationStore noActivations{0};
    ResultCache<std::shared_ptr<const GraphShapes>> shapes{16};  ///< by graph
    MeasuredShapes sourceShapes;  ///< of the source graph, once it is compiled for the evaluation samples
    /// Used without data: every symbolic dimension is 1. Empty: not computed yet.
    std::optional<MeasuredShapes> assumedShapes;
    ResultCache<std::shared_ptr<NetworkOutputs>> outputs{256};  ///< by program: source, prepared or plan
    EffectModel effectModel;
    MeasuredState measured;                                 ///< of the last evaluation except experiments
    ResultCache<std::map<NodeId, LayerEffect>> sweeps{64};  ///< leave-one-out, by plan
    /// Evaluations for threshold rules, by configuration (session/studies/threshold_rules.h).
    ResultCache<EvaluationPtr> thresholdBases{16};
    ResultCache<DifferenceSums> weightDifferences{20000};  ///< by version of the float and quantized weight
    ResultCache<std::optional<double>> weightRangeRatios{20000};  ///< by weight and axis
    ResultCache<DifferenceSums> local{20000};
    ResultCache<DifferenceSums> cumulative{100000};  ///< by float and quantized version of the tensor
};

}  // namespace quantloupe
