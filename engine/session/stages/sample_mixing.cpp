// SPDX-License-Identifier: Apache-2.0
#include "session/stages/sample_mixing.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/short_text.h"
#include "model/sample_axes.h"

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

/// Whether `together`, the output for `count` samples, contains other values than its first two samples do
/// alone. False if the sizes depend on the data.
bool differs(const Output& together, std::size_t count, const Output& first, const Output& second) {
    if (first.dims != second.dims || together.dims.size() != first.dims.size() || first.values.empty())
        return false;
    const auto [axis, single] = std::ranges::mismatch(together.dims, first.dims);
    if (axis == together.dims.end())  // one result for all samples, or a constant
        return differ(together.values, first.values) || differ(together.values, second.values);
    if (together.values.size() != count * first.values.size()) return false;
    const auto block = static_cast<std::size_t>(elementCount(Dims(single, first.dims.end())));
    for (const auto& [sample, alone] : {std::pair(0u, &first), std::pair(1u, &second)}) {
        std::vector<float> own;
        for (std::size_t at = sample * block; at < together.values.size(); at += count * block)
            own.insert(own.end(), &together.values[at], &together.values[at] + block);
        if (differ(own, alone->values)) return true;
    }
    return false;
}

}  // namespace

bool assumesSampleAxis(const Graph& source) { return assumedInput(source).valid(); }

std::string mixingNotice(const std::shared_ptr<const Program>& one, const SampleBatches& single,
                         const std::shared_ptr<const Program>& several, const SampleBatches& batches) {
    const Graph& source = one->graph();
    const auto together = outputsOf(several, batches, 0), first = outputsOf(one, single, 0),
               second = outputsOf(one, single, 1);
    for (std::size_t o = 0; o < together.size(); ++o) {
        if (!differs(together[o], batches.batch(), first[o], second[o])) continue;
        const TensorInfo& input = source.tensor(assumedInput(source));
        return fmt::format(
            "the samples are evaluated one at a time, because the network computes other values for several "
            "samples at once. If the first dimension of '{}' ({}) does not contain the samples, rename the "
            "dimension that contains them to 'batch' in the model",
            shortName(input.name), toString(*input.shape));
    }
    return {};
}

}  // namespace quantloupe
