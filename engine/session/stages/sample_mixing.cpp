// SPDX-License-Identifier: Apache-2.0
#include "session/stages/sample_mixing.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/short_text.h"
#include "model/sample_axes.h"
#include "runtime/program/sample_batches.h"

namespace quantloupe {
namespace {

/// The first input whose first dimension is only assumed to contain the samples; invalid if there is none.
TensorId assumedInput(const Graph& source) {
    const SampleAxes axes = sampleAxes(source);
    for (std::size_t i = 0; i < axes.size(); ++i) {
        const auto& shape = source.tensor(source.inputs()[i]).shape;
        const bool sequence = shape && (shape->size() == 2 || shape->size() == 3);
        if (axes[i] == 0 && sequence && !shape->front().known() && !batchDimension(*shape))
            return source.inputs()[i];
    }
    return {};
}

struct Output {
    Dims dims;
    std::vector<float> values;  ///< empty if it is not float32, or not computed
};

std::vector<Output> outputsOf(const std::shared_ptr<const Program>& program, const SampleBatches& batches,
                              std::size_t chunk) {
    const Graph& graph = program->graph();
    Workspace workspace(program);
    const auto values = batches.load(chunk);
    for (std::size_t i = 0; i < values.size(); ++i) workspace.bind(graph.inputs()[i], values[i].data());
    workspace.run();
    std::vector<Output> outputs;
    for (const TensorId output : graph.outputs()) {
        Output& made = outputs.emplace_back();
        const NodeId producer = graph.tensor(output).producer;
        if (producer.valid() && program->unavailable().contains(producer)) continue;
        const TensorDesc& desc = program->desc(output);
        made.dims = desc.dims;
        if (desc.type != DataType::Float32) continue;
        made.values.resize(desc.count());
        convertLayout(desc, workspace.data(output), Layout::Plain, made.values.data());
    }
    return outputs;
}

/// Whether the values differ by more than rounding of sums in another order. Values that are not finite are
/// ignored.
bool differ(const std::vector<float>& values, const std::vector<float>& expected) {
    constexpr double kRounding = 1e-3;
    double largest = 0, difference = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
        const double a = values[i], b = expected[i];
        if (!std::isfinite(a) || !std::isfinite(b)) continue;
        largest = std::max(largest, std::abs(b));
        difference = std::max(difference, std::abs(a - b));
    }
    return difference > kRounding * largest;
}

/// Whether `pair` contains other values than the two samples do. False if the sizes depend on the data.
bool differs(const Output& pair, const Output& first, const Output& second) {
    if (first.dims != second.dims || pair.dims.size() != first.dims.size() || first.values.empty())
        return false;
    const auto [axis, single] = std::ranges::mismatch(pair.dims, first.dims);
    if (axis == pair.dims.end())  // one result for all samples, or a constant
        return differ(pair.values, first.values) || differ(pair.values, second.values);
    if (pair.values.size() != 2 * first.values.size()) return false;
    const auto block = elementCount(Dims(single, first.dims.end()));
    std::vector<float> expected;
    for (auto a = first.values.begin(), b = second.values.begin(); a != first.values.end();
         a += block, b += block) {
        expected.insert(expected.end(), a, a + block);
        expected.insert(expected.end(), b, b + block);
    }
    return differ(pair.values, expected);
}

}  // namespace

bool assumesSampleAxis(const Graph& source) { return assumedInput(source).valid(); }

std::string mixingNotice(const Graph& source, const DatasetPtr& data,
                         const std::function<std::shared_ptr<const Program>(const SampleBatches&)>& compile) {
    const TensorId input = assumedInput(source);
    const DatasetPtr two = subset(data, {0, 1});
    const SampleBatches alone(two, source, 1), together(two, source, 2);
    const auto program = compile(alone);
    const auto pair = outputsOf(compile(together), together, 0), first = outputsOf(program, alone, 0),
               second = outputsOf(program, alone, 1);
    for (std::size_t o = 0; o < pair.size(); ++o)
        if (differs(pair[o], first[o], second[o]))
            return fmt::format(
                "the samples are evaluated one at a time, because the network computes other values for two "
                "samples at once. If the first dimension of '{}' ({}) does not contain the samples, give the "
                "dimension that does the name 'batch' in the model",
                shortName(source.tensor(input).name), toString(*source.tensor(input).shape));
    return {};
}

}  // namespace quantloupe
