// SPDX-License-Identifier: Apache-2.0
#pragma once
// The passes over the samples that make up an evaluation. Internal to engine/session.

#include <map>

#include "analysis/task_metrics.h"
#include "quantize/plan.h"
#include "session/caches/resumable_run.h"
#include "session/stages/task_judge.h"

namespace quantloupe {

struct UnitComparison;

/// The comparable outputs of a network for each sample: float32 outputs that depend on the sample. Others
/// (indices of a TopK, anchors that are equal for all samples) are left out.
struct NetworkOutputs {
    bool task = true;       ///< true: graph outputs; false: frontier of the evaluated part
    bool classes = true;    ///< false: the outputs are boxes or maps, even if they look like classes
    bool integers = false;  ///< also store integer outputs, for the metric of the task
    std::vector<std::size_t> compared;  ///< indices of the compared outputs; same size as the next three
    std::vector<std::string> names;
    std::vector<TensorDesc> descs;    ///< of one batch
    std::vector<std::size_t> widths;  ///< elements per sample
    std::size_t rowWidth = 0;
    std::string chosenScores;  ///< TaskSettings::classOutput
    /// binaryThreshold() of each graph output if the labels are 0 and 1, so that a single value per sample
    /// can be the score of class 1; otherwise empty. The same for the float and the quantized network.
    std::vector<float> thresholds;
    float threshold = 0;  ///< of `scores`
    /// Index in `compared` of the output with the scores of the classes; empty: the outputs are not classes.
    std::optional<std::size_t> scores;
    std::string scoresNotice;  ///< classOutputNotice()
    /// An integer output that is stored after the compared ones, converted to float.
    struct IntegerOutput {
        std::size_t index = 0;
        TensorDesc desc;
        std::size_t width = 0;
    };
    std::vector<IntegerOutput> others;
    std::size_t stride = 0;     ///< rowWidth and the widths of `others`
    std::vector<float> values;  ///< samples x stride
    std::size_t known = 0;      ///< number of samples computed so far, from the first
    /// Values of the session's user metric, by SessionMetric::changes and number of samples.
    std::map<std::pair<std::size_t, std::size_t>, double> userMetrics;
    bool complete(std::size_t samples) const { return known >= samples; }
    const float* row(std::size_t sample) const { return values.data() + sample * stride; }
    bool classifies() const { return scores.has_value(); }
    std::size_t classCount() const { return std::max<std::size_t>(widths[*scores], 2); }
    SampleVerdict verdict(std::size_t sample, std::optional<int> label = std::nullopt) const {
        std::size_t column = 0;
        for (std::size_t o = 0; o < *scores; ++o) column += widths[o];
        return judge(row(sample) + column, widths[*scores], label, threshold);
    }
    TaskRecords records;  ///< graded tasks: records of the samples so far
};

/// Returns the shapes and the values of a sample of a network that is evaluated as a whole, one per graph
/// output; outputs that are not stored have no values.
struct SampleOutputs {
    std::vector<OutputShape> shapes;
    std::vector<SampleOutput> values;
};
SampleOutputs sampleOutputs(const NetworkOutputs& outputs, const Graph& source, std::size_t sample);

/// Returns how an output splits into samples. If the data flow does not determine the sample dimension, which
/// happens only in models with a fixed batch size above 1, it is the first dimension if its extent is the
/// batch size.
TensorDesc outputDesc(TensorDesc desc, const SampleBatches& batches);

/// Collects the outputs of a network while it runs.
class OutputRecorder {
  public:
    /// `ends`: the observed tensors whose values are recorded. Throws Error if none of them can be compared.
    OutputRecorder(const Program& program, std::vector<TensorId> ends, const SampleBatches& batches,
                   NetworkOutputs& outputs);
    /// Copies the outputs of a chunk that has just been computed. Any thread.
    void record(std::size_t chunk, const Workspace& workspace) const;
    /// Call after all chunks before `end` have been recorded.
    void finish(std::size_t end) const;

  private:
    std::vector<TensorId> m_ends;
    const SampleBatches& m_batches;
    NetworkOutputs& m_outputs;
};
/// Runs chunks [begin, end) and appends their outputs, the tensors `ends`, to `outputs`. Shares the chunks
/// with the group of `control`. If it is cancelled, the outputs of the first chunks stay known. Throws Error
/// if none of the tensors can be compared.
void runOutputs(const BoundProgram& program, const std::vector<TensorId>& ends, const SampleBatches& batches,
                std::size_t begin, std::size_t end, const RunControl& control, NetworkOutputs& outputs);

/// Compares the first `samples` rows with the labels and with the reference. `judge` may be null.
Accuracy accuracyOf(const NetworkOutputs& outputs, const NetworkOutputs& reference, const Dataset& dataset,
                    const TaskJudge* judge, std::size_t samples);

/// Returns the predicted class of each of the first `samples` rows; empty unless an output contains classes.
std::vector<std::int32_t> classesOf(const NetworkOutputs& outputs, std::size_t samples);

/// Differences of the units' outputs from the prepared float network, over all samples.
struct UnitDifferences {
    std::vector<DifferenceSums> local, cumulative;  ///< one per requested unit, in that order
};
/// Measures the units of the comparison, whose functions it replaces. If there is a unit to measure, also
/// records the float outputs of the comparison. Shares the chunks with the group of `control`; the options of
/// the comparison must be for that.
UnitDifferences measureUnits(UnitComparison comparison, const RunControl& control);

}  // namespace quantloupe
