// SPDX-License-Identifier: Apache-2.0
#include "session/output_grader.h"

#include "base/error.h"
#include "base/short_text.h"
#include "session/stages/judge_samples.h"
#include "session/stages/task_judge.h"

namespace quantloupe {

OutputGrader::OutputGrader(std::shared_ptr<const SampleBatches> samples, const Graph& graph)
    : m_samples(std::move(samples)), m_input(inputSizeOf(*m_samples, graph)) {
    for (const TensorId output : graph.outputs()) m_names.push_back(graph.tensor(output).name);
}

std::shared_ptr<const OutputGrader> OutputGrader::create(std::shared_ptr<const SampleBatches> samples,
                                                         const Graph& graph) {
    const auto judge = TaskJudge::create(samples->dataset(), {});
    if (!judge || !judge->labeled()) return nullptr;
    return std::shared_ptr<const OutputGrader>(new OutputGrader(std::move(samples), graph));
}

Grade OutputGrader::grade(const std::map<std::string, ConstantPtr>& outputs,
                          const CancelToken& cancel) const {
    const std::size_t samples = m_samples->samples();
    std::vector<OutputShape> shapes;
    std::vector<std::span<const float>> values;
    for (const std::string& name : m_names) {  // in the order in which an evaluation searches a decoder
        const auto found = outputs.find(name);
        if (found == outputs.end()) continue;
        const Dims& dims = found->second->dims();
        if (dims.empty() || dims[0] != static_cast<std::int64_t>(samples))
            return {{},
                    fmt::format("the first dimension of '{}' does not contain the samples", shortName(name))};
        shapes.push_back({name, found->second->type(), Dims(dims.begin() + 1, dims.end())});
        values.push_back(found->second->floats());
    }
    const auto judge = TaskJudge::create(m_samples->dataset(), m_input);
    TaskRecords records;
    try {
        for (std::size_t s = 0; s < samples; ++s) {
            cancel.check();
            std::vector<SampleOutput> sample;
            for (std::size_t o = 0; o < values.size(); ++o) {
                const std::size_t width = values[o].size() / samples;
                sample.push_back({shapes[o].dims, values[o].subspan(s * width, width)});
            }
            judge->judge(shapes, sample, records);
        }
    } catch (const Error& error) {  // no decoder fits the outputs, or the labels of a sample are unusable
        return {{}, error.what()};
    }
    Accuracy accuracy;
    judge->measure(records, records, samples, accuracy);
    accuracy.agreement.reset();  // with itself
    const std::optional<TaskValue> rate = taskRate(accuracy);
    return {rate, rate ? std::string() : "no label can be evaluated"};
}

}  // namespace quantloupe
