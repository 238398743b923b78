// SPDX-License-Identifier: Apache-2.0
#include "session/stages/judge_samples.h"

#include "analysis/class_output.h"
#include "model/sample_axes.h"

namespace quantloupe {
namespace {

/// Returns the values as float; none for strings.
std::vector<float> floatsOf(const Constant& constant) {
    if (constant.type() == DataType::String) return {};
    const std::vector<double> values = constant.toDoubles();
    return {values.begin(), values.end()};
}

}  // namespace

ProgramSpec wholeNetwork(ProgramSpec spec, const SampleBatches& samples) {
    spec.inputs = samples.inputsOf(*spec.graph);
    spec.observed.assign(spec.graph->outputs().begin(), spec.graph->outputs().end());
    return spec;
}

InputSize inputSizeOf(const SampleBatches& batches, const Graph& graph) {
    for (const auto& [input, desc] : batches.inputsOf(graph)) {
        const Dims& dims = desc.dims;
        if (isOneImage(graph.tensor(input).shape))
            return {static_cast<int>(dims[2]), static_cast<int>(dims[1])};
        if (dims.size() != 4) continue;
        constexpr std::int64_t kMostChannels = 4;
        const bool channelsLast = dims[3] <= kMostChannels && dims[1] > kMostChannels;
        return {static_cast<int>(dims[channelsLast ? 2 : 3]), static_cast<int>(dims[channelsLast ? 1 : 2])};
    }
    return {};
}

SampleValues wholeOutputs(const Graph& source, const std::vector<ConstantPtr>& values) {
    SampleValues result;
    for (std::size_t o = 0; o < values.size(); ++o) {
        Dims dims = values[o]->dims();
        if (dims.size() > 2 && dims[0] == 1) dims.erase(dims.begin());
        result.shapes.push_back({source.tensor(source.outputs()[o]).name, values[o]->type(), dims});
        result.floats.push_back(floatsOf(*values[o]));
    }
    for (std::size_t o = 0; o < values.size(); ++o)
        result.values.push_back({result.shapes[o].dims, result.floats[o]});
    return result;
}

NetworkOutputs emptyOutputs(SessionSamples& samples) {
    NetworkOutputs empty;
    empty.integers = samples.judge() != nullptr;
    empty.classes = !empty.integers && (!samples.available() || mayHaveClasses(*samples.evaluation()));
    empty.task = samples.part().frontier.empty();
    if (samples.available()) {
        empty.chosenScores = chosenClassOutput(*samples.evaluation());
        const Graph& source = samples.source();
        if (samples.binaryLabels())
            for (const TensorId output : source.outputs())
                empty.thresholds.push_back(binaryThreshold(source, output));
    }
    return empty;
}

void judgeSamples(SessionSamples& samples, NetworkOutputs& outputs, std::size_t count,
                  const ProgramSpec& spec, const CancelToken& cancel) {
    TaskJudge* judge = samples.judge();
    TaskRecords& records = outputs.records;
    if (judge == nullptr || !judge->labeled() || records.scores.size() >= count) return;
    const Graph& source = samples.source();
    if (samples.part().whole()) {
        while (records.scores.size() < count) {
            cancel.check();
            const SampleOutputs sample = sampleOutputs(outputs, source, records.scores.size());
            judge->judge(sample.shapes, sample.values, records);
        }
        return;
    }
    const SampleBatches& single = samples.single();
    runBySample(wholeNetwork(spec, single), single, records.scores.size(), count, cancel,
                [&](std::size_t, const std::vector<ConstantPtr>& values) {
                    const SampleValues sample = wholeOutputs(source, values);
                    judge->judge(sample.shapes, sample.values, records);
                });
}

void addScores(SessionSamples& samples, const NetworkOutputs& floating, const NetworkOutputs& quantized,
               std::size_t count, Evaluation& result) {
    const auto& names = samples.evaluation()->classNames();
    if (!names.empty()) result.classNames = std::make_shared<const std::vector<std::string>>(names);
    const TaskJudge* judge = samples.judge();
    if (judge == nullptr || !judge->labeled()) return;
    result.floatScores = std::make_shared<const TaskScores>(judge->scores(floating.records, count));
    result.scores = std::make_shared<const TaskScores>(judge->scores(quantized.records, count));
}

}  // namespace quantloupe
