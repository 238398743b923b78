// SPDX-License-Identifier: Apache-2.0
// Session::Impl::judgeSamples: decodes the outputs of each sample and compares them with its labels.
#include "session/stages/judge_samples.h"

#include "base/error.h"
#include "session/session_impl.h"

namespace quantloupe {
namespace {

/// Returns the values as float; empty for unsupported types.
std::vector<float> floatsOf(const Constant& constant) {
    std::vector<float> values;
    if (constant.type() == DataType::Float32)
        values.assign(constant.floats().begin(), constant.floats().end());
    else if (constant.type() == DataType::Int64)
        for (const std::int64_t value : constant.toInt64s()) values.push_back(static_cast<float>(value));
    return values;
}

}  // namespace

ProgramSpec wholeNetwork(ProgramSpec spec, const SampleBatches& samples) {
    spec.inputs = samples.inputsOf(*spec.graph);
    spec.observed.assign(spec.graph->outputs().begin(), spec.graph->outputs().end());
    return spec;
}

InputSize inputSizeOf(const SampleBatches& batches, const Graph& graph) {
    for (const auto& [input, desc] : batches.inputsOf(graph)) {
        if (desc.dims.size() != 4) continue;
        constexpr std::int64_t kMostChannels = 4;
        const bool channelsFirst = desc.dims[1] <= kMostChannels;
        return {static_cast<int>(desc.dims[channelsFirst ? 3 : 2]),
                static_cast<int>(desc.dims[channelsFirst ? 2 : 1])};
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

void Session::Impl::judgeSamples(NetworkOutputs& results, std::size_t samples, const ProgramSpec& spec,
                                 const CancelToken& cancel) {
    if (!judge || !judge->labeled() || results.records.scores.size() >= samples) return;
    const Graph& source = *model.graph;
    if (part.whole()) {
        while (results.records.scores.size() < samples) {
            cancel.check();
            const SampleOutputs sample = sampleOutputs(results, source, results.records.scores.size());
            judge->judge(sample.shapes, sample.values, results.records);
        }
        return;
    }
    const SampleBatches& single = openSingleSamples();
    runBySample(wholeNetwork(spec, single), single, results.records.scores.size(), samples, cancel,
                [&](std::size_t, const std::vector<ConstantPtr>& values) {
                    const SampleValues sample = wholeOutputs(source, values);
                    judge->judge(sample.shapes, sample.values, results.records);
                });
}

const SampleBatches& Session::Impl::openSingleSamples() {
    if (!singleSamples) singleSamples = std::make_unique<SampleBatches>(evaluationData, *model.graph, 1);
    if (singleSamples->batch() != 1)
        fail(ErrorKind::Unsupported,
             "the outputs depend on the data of each image, but the model has a fixed batch size of {}",
             singleSamples->batch());
    return *singleSamples;
}

void Session::Impl::keepScores(const NetworkOutputs& floating, const NetworkOutputs& quantized,
                               std::size_t samples, Evaluation& result) const {
    const auto& names = evaluationData->classNames();
    if (!names.empty()) result.classNames = std::make_shared<const std::vector<std::string>>(names);
    if (!judge || !judge->labeled()) return;
    result.floatScores = std::make_shared<const TaskScores>(judge->scores(floating.records, samples));
    result.scores = std::make_shared<const TaskScores>(judge->scores(quantized.records, samples));
}

NetworkOutputs Session::Impl::emptyOutputs() const {
    NetworkOutputs empty;
    empty.task = part.whole();
    empty.integers = judge != nullptr;
    empty.classes = !empty.integers;
    return empty;
}

}  // namespace quantloupe
