// SPDX-License-Identifier: Apache-2.0
#pragma once
// From a configuration to a plan: prepares the network, calibrates its tensors, resolves and refines the
// quantizers. Each step reuses its results of earlier configurations. Internal to engine/session.

#include <optional>
#include <unordered_set>
#include <vector>

#include "base/result_cache.h"
#include "quantize/plan.h"
#include "quantize/refine/migrate_outliers.h"
#include "quantize/refine/refine_layers.h"
#include "session/network_runner.h"

namespace quantloupe {

/// The ranges of a prepared graph's tensors.
struct CalibratedGraph {
    Statistics statistics;
    std::vector<Version> contents;  ///< one per tensor: version of its values over the calibration samples
};

/// All configurations must be those of withThresholdsMeasured() (session/studies/threshold_rules.h): the
/// pipeline runs no evaluations. Not thread-safe. All functions throw Error and Cancelled.
class Pipeline {
  public:
    /// Uses `arithmetic` of the options. The arguments must outlive the pipeline.
    Pipeline(GraphPtr source, const SessionOptions& options, SessionSamples& samples, NetworkRunner& runner);

    /// Returns the network after the transforms, with the conversions that precisions need
    /// (quantize/conversions.h). Migration of outliers needs calibration data; without it, a notice says so.
    std::shared_ptr<const Prepared> prepare(const QuantizationConfig& measured, const RunControl& control);

    /// Returns the ranges of the tensors, calibrating those that are not known yet. `config` has its
    /// precisions resolved (withPrecisionsResolved()). The reference is valid until the next call.
    const Statistics& statistics(const Prepared& prepared, const UnitList& units,
                                 const QuantizationConfig& config, const RunControl& control);

    /// Returns the plan for these units, refined as configured; arguments as for statistics(). With
    /// `experiment`, reuses the latest refinement of each layer, so that trying a change does not learn every
    /// layer again. Progress counts layers.
    Plan resolve(const std::shared_ptr<const Prepared>& prepared, const UnitList& units,
                 const Statistics& ranges, const QuantizationConfig& config, const RunControl& control,
                 bool experiment);

    /// Runs all steps.
    std::shared_ptr<const Plan> plan(const QuantizationConfig& measured, const RunControl& control);

    QuantizerCache& quantizers() { return m_quantizers; }
    std::size_t tensorsCalibrated() const { return m_calibrated; }        ///< that were not known, in total
    std::size_t layersRefined() const { return m_refinements.computed; }  ///< likewise

    void clear();
    /// `source`: the constants of the source graph, which are not counted.
    void visitCaches(CacheVisitor& visitor, std::unordered_set<const Constant*> source);

  private:
    std::shared_ptr<const Prepared> converted(std::shared_ptr<const Prepared> made,
                                              const QuantizationConfig& measured);
    /// Migrates outliers into weights, or adds a notice that says why not.
    Prepared migrate(Prepared made, const QuantizationConfig& config, const RunControl& control);
    Plan refined(const std::shared_ptr<const Prepared>& prepared, const UnitList& units,
                 const Statistics& ranges, const QuantizationConfig& config, const RunControl& control,
                 bool experiment);

    GraphPtr m_source;
    Arithmetic m_arithmetic;
    SessionSamples& m_samples;
    NetworkRunner& m_runner;

    /// Result of foldMovedConstants() for the source; all prepared networks share its tensors.
    std::optional<SimplifyResult> m_constants;
    ResultCache<std::shared_ptr<const Prepared>> m_prepared{8};
    ResultCache<CalibratedGraph> m_ranges{8};  ///< by graph
    /// By content, so that after a change only downstream tensors are calibrated again.
    ResultCache<TensorStatistics> m_tensorRanges{4000};
    ResultCache<ChannelMaxima> m_channelMaxima{8};
    std::size_t m_calibrated = 0;
    QuantizerCache m_quantizers;
    RefinementCache m_refinements;
};

}  // namespace quantloupe
