// SPDX-License-Identifier: Apache-2.0
#pragma once
// The evaluation and calibration samples of a session, and the part of the network that can be evaluated on
// them. Internal to engine/session.

#include <memory>
#include <string>
#include <vector>

#include "runtime/program/sample_batches.h"
#include "session/session.h"
#include "session/stages/evaluated_part.h"
#include "session/stages/task_judge.h"

namespace quantloupe {

/// The calibration samples that a configuration uses.
struct CalibrationSamples {
    CalibrationSamples(DatasetPtr data, const Graph& source, std::size_t batch);

    SampleBatches batches;
    Version version;  ///< of the samples and of how they are batched, for tensorVersions()
};

/// Not thread-safe. Most functions require data (see require()); those that do not say so. The batch size,
/// the batches and the judge are created when they are first used, and kept until other data is set.
class SessionSamples {
  public:
    /// `source`: the graph of the file. Uses `samples`, `roughSamples` and `group` of the options.
    SessionSamples(GraphPtr source, const SessionOptions& options);

    /// Sets the data as Session::setData() does. If it cannot be used, throws Error and changes nothing.
    void set(DatasetPtr evaluation, DatasetPtr calibration);
    /// Uses noise as Session::useRandomInputs() does.
    void setRandom(std::size_t samples);

    // These need no data.
    const Graph& source() const { return *m_source; }
    bool available() const { return m_evaluation != nullptr; }
    bool random() const { return m_random; }
    /// Returns hasBinaryLabels() of the data, before a part of it was chosen.
    bool binaryLabels() const { return m_binaryLabels; }
    const std::string& notice() const { return m_notice; }  ///< Session::dataNotice()
    /// The samples in the order of work, which has the rough samples first; null without data.
    const DatasetPtr& evaluation() const { return m_evaluation; }
    const DatasetPtr& calibration() const { return m_calibration; }  ///< null without data
    /// Hash of the evaluation samples; empty without data.
    Version evaluationVersion() const { return m_evaluation ? m_evaluation->version() : Version{}; }
    /// Throws Error if there is no data.
    void require() const;

    /// Returns the evaluation samples in the order of the data.
    DatasetPtr inDataOrder() const;
    /// The position in the data of each sample in the order of work.
    const std::vector<std::size_t>& order() const { return m_order; }
    /// How many consecutive samples stay together: above 1 if the model has a fixed batch size and mixes the
    /// samples of a batch, for example if they are the steps of a sequence.
    std::size_t together() const { return m_together; }
    /// Number of rough samples, the first in the order of work.
    std::size_t rough() const { return m_rough; }

    /// Throws Error if there is no data or no part of the network can be evaluated.
    void requireEvaluable();
    /// Determines the part that is evaluated, and without data also together(), from one random sample.
    /// Without effect if the network cannot be compiled.
    void findPart();
    /// The part of the source graph that is evaluated. It is determined together with the batch size, or by
    /// findPart(); before that, it is the whole graph.
    const EvaluatedPart& part() const { return m_part; }
    bool partKnown() const { return m_batch != 0; }
    /// Session::mixingNotice().
    const std::string& mixingNotice() const { return m_mixingNotice; }

    /// The evaluation samples.
    const SampleBatches& batches();
    /// The version of batches(), for tensorVersions().
    const Version& version();
    /// One evaluation sample per batch, for networks that are evaluated in part. Throws Error if the model
    /// has a fixed batch size above 1.
    const SampleBatches& single();
    /// Null unless the task is detection or segmentation.
    TaskJudge* judge();
    /// Stays valid until a configuration requires another number of samples.
    const CalibrationSamples& calibrationFor(const QuantizationConfig& config);

  private:
    /// set() for evaluation data whose samplesTogether() is `together`.
    void set(DatasetPtr evaluation, DatasetPtr calibration, std::size_t together);
    /// Chooses the batch size and determines the evaluated part, once per dataset. The batch size is above 1
    /// only if the data flow does not mix samples (runtime/program/sample_flow.h).
    void chooseBatch();
    std::size_t samplesTogether(const DatasetPtr& data) const;
    /// Compiles the source graph, as far as it can be evaluated. `one`: ProgramSpec::one.
    std::shared_ptr<const Program> compileSource(const SampleBatches& batches,
                                                 std::shared_ptr<const Program> one = nullptr) const;

    GraphPtr m_source;
    SessionOptions m_options;
    DatasetPtr m_evaluation, m_calibration;
    std::vector<std::size_t> m_order;
    std::string m_notice;
    std::size_t m_rough = 0;
    bool m_random = false;
    bool m_binaryLabels = false;
    std::size_t m_together = 1;
    std::size_t m_batch = 0;  ///< 0: not chosen yet
    EvaluatedPart m_part;
    std::string m_mixingNotice;
    bool m_partSought = false;  ///< findPart() was called without data
    std::unique_ptr<SampleBatches> m_batches, m_single;
    Version m_version;                   ///< set together with m_batches
    std::shared_ptr<TaskJudge> m_judge;  ///< set together with m_batches
    std::unique_ptr<CalibrationSamples> m_calibrationSamples;
};

}  // namespace quantloupe
