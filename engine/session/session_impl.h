// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a Session keeps from one evaluation to the next. Internal to engine/session.

#include "base/result_cache.h"
#include "model/layer_cost.h"
#include "quantize/plan.h"
#include "quantize/refine/migrate_outliers.h"
#include "quantize/refine/refine_layers.h"
#include "session/effect_model.h"
#include "session/evaluated_part.h"
#include "session/evaluation_passes.h"
#include "session/session.h"

namespace quantloupe {

/// The ranges of a prepared graph's tensors.
struct CalibratedGraph {
    Statistics statistics;
    std::vector<Version> contents;  ///< one a tensor: of its values over the calibration samples
};

/// What evaluations could not take from a cache, added up: for tests.
struct WorkDone {
    std::size_t calibrated = 0;  ///< tensors
    std::size_t alone = 0, inNetwork = 0;  ///< units measured, locally and cumulatively
    std::size_t computed = 0;    ///< tensors of the networks that ran
};

struct Session::Impl {
    Impl(Session& session, LoadedModel loaded, SessionOptions wanted);

    std::shared_ptr<const Prepared> prepare(const QuantizationConfig& config);
    /// Threshold rules are measured (session/threshold_rules.h).
    std::shared_ptr<const Prepared> prepareMeasured(const QuantizationConfig& measured, const RunControl& control);
    /// With outliers migrated into weights, or a notice why not.
    Prepared migrate(Prepared made, const QuantizationConfig& config, const RunControl& control);
    void openCalibration(const QuantizationConfig& config);
    /// Integers round as ONNX says: another tool's rounding is simulated.
    Arithmetic arithmeticFor(const QuantizationConfig& config) const {
        return config.quantization.rounding == TieRounding::HalfEven ? options.arithmetic : Arithmetic::Simulation;
    }
    /// Of the calibration samples, for tensorVersions().
    Version calibrationVersion() const;
    /// The ranges of the tensors, calibrating those that are not known yet.
    const Statistics& statistics(const Prepared& prepared, const UnitList& units, const QuantizationConfig& config,
                                 const RunControl& control);
    /// The plan for these units, refined as the configuration says; `experiment`: with what refinement found last, so that a
    /// try elsewhere does not have to learn every layer anew. Progress counts layers.
    Plan resolve(const std::shared_ptr<const Prepared>& prepared, const UnitList& units, const Statistics& ranges,
                 const QuantizationConfig& config, const RunControl& control, bool experiment);
    std::shared_ptr<const Plan> plan(const QuantizationConfig& config, const RunControl& control);
    /// What the samples of the evaluation look like to `graph`.
    ResumeOptions resumeOptions(const GraphPtr& graph);
    /// Outputs of all evaluation samples, from the cache where they are complete; `plan` null: the source's.
    std::shared_ptr<const NetworkOutputs> completeOutputs(const std::shared_ptr<const Plan>& plan, const RunControl& control);
    /// Chooses how many samples run at once, and finds out which part of the network can be evaluated; once for each
    /// dataset. More than one sample at a time only where the data flow keeps them apart (runtime/sample_flow.h).
    void chooseBatch();
    /// Shapes of the source graph where every symbolic dimension of the inputs is 1; none if it cannot be compiled so.
    const MeasuredShapes& shapesOfOnes();
    /// Chooses the batch and decodes the first sample, once.
    void openBatches();
    /// Drops what was unused for longest of all that is kept, so that it fits the budget. Nothing may refer into a cache.
    void limitCaches();
    std::size_t cacheBytes();
    std::size_t visitCaches(std::optional<std::size_t> budget);
    /// In a catch (...) block: throws the exception again with the model's name.
    [[noreturn]] void rethrowWithModel() const;
    void requireData() const;
    /// Throws Error if there is no data or no part of the network can be evaluated.
    void requireEvaluable();
    void clear();

    Session& owner;
    LoadedModel model;
    SessionOptions options;
    Workers workers;
    double loadSeconds = 0;

    DatasetPtr evaluationData, calibrationData;  ///< evaluation in the order of work: the rough samples first
    std::vector<std::size_t> order;              ///< position in the original order of each evaluation sample
    std::string dataNotice;
    std::size_t roughSamples = 0;                ///< the first of evaluationData
    bool randomInputs = false;
    std::size_t batch = 0;
    EvaluatedPart part;  ///< of the source graph; everything until a batch is chosen
    std::unique_ptr<SampleBatches> evaluationBatches;
    Version samplesVersion;              ///< of evaluationBatches
    std::unique_ptr<SampleBatches> calibrationBatches;
    std::size_t calibrationSamples = 0;  ///< that calibrationBatches has

    std::optional<SimplifyResult> constants;  ///< foldMovedConstants() of the model: its tensors are shared by all that is prepared
    ResultCache<std::shared_ptr<const Prepared>> prepared{8};
    ResultCache<CalibratedGraph> ranges{8};  ///< by graph
    ResultCache<TensorStatistics> tensorRanges{4000};  ///< by content: after a change only tensors behind it are calibrated again
    ResultCache<ChannelMaxima> channelMaxima{8};
    WorkDone work;
    RefinementCache refinements;
    QuantizerCache quantizers;
    std::shared_ptr<KernelCache> kernels = std::make_shared<KernelCache>();
    const std::size_t memoryBudget;  ///< of all that is kept between evaluations
    int evaluationsSinceTrim = 0;
    ActivationStore activations;
    ResultCache<std::shared_ptr<const GraphShapes>> shapes{16};  ///< by graph
    MeasuredShapes sourceShapes;  ///< of the source graph, once it was compiled for the evaluation samples
    std::optional<MeasuredShapes> assumedShapes;  ///< without data: every symbolic dimension is 1; not there: not tried yet
    ResultCache<std::shared_ptr<NetworkOutputs>> outputs{256};  ///< by program: source, prepared or plan
    EffectModel effects;
    MeasuredState measured;                             ///< the last evaluation that was no experiment
    ResultCache<std::map<NodeId, LayerEffect>> sweeps{64};  ///< leave-one-out, by plan
    ResultCache<EvaluationPtr> thresholdBases{16};         ///< session/threshold_rules.h, by configuration
    ResultCache<DifferenceSums> weightDifferences{20000};  ///< by float and quantized weight
    ResultCache<std::optional<double>> weightRangeRatios{20000};  ///< by weight and axis
    ResultCache<DifferenceSums> local{20000};
    ResultCache<DifferenceSums> cumulative{100000};  ///< by float and quantized version of the tensor
};

}  // namespace quantloupe
