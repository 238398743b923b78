// SPDX-License-Identifier: Apache-2.0
// Rows of a group are learned together in blocks of a fixed size, so that the result does not depend on the
// threads.
#include "quantize/refine/learn_layer.h"

#include <algorithm>

#include "quantize/channel_walk.h"
#include "quantize/refine/rounding_solver.h"
#include "runtime/ordered/matrix_product.h"

namespace quantloupe {
namespace {

constexpr std::size_t kRowsPerTask = 32;
/// Fraction of the mean second moment that is added to the diagonal. It keeps codes near their weights if the
/// samples contain no information.
constexpr float kDamping = 0.01f;

/// Index of the scale of each output channel.
std::size_t scaleIndexOf(const LearnTask& task, std::size_t channel) {
    return task.nearest.scales.size() > 1 ? channel % task.nearest.scales.size() : 0;
}

void learnBlock(const LearnTask& task, std::size_t g, std::size_t begin, std::size_t count,
                std::span<const float> damped, float damping, const CancelToken& cancel,
                std::vector<std::int32_t>& codes) {
    const std::size_t columns = task.shape.columns();
    std::vector<float> exact(count * columns), target(count * columns), lowest(count), highest(count);
    for (std::size_t o = 0; o < count; ++o) {
        const std::size_t s = scaleIndexOf(task, g * task.shape.outputs() + begin + o);
        for (std::size_t k = 0; k < columns; ++k)
            exact[o * columns + k] =
                task.weight[task.shape.weightAt(g, begin + o, k)] / task.nearest.scales[s];
        lowest[o] = static_cast<float>(task.nearest.quantMin - task.nearest.zeroPoints[s]);
        highest[o] = static_cast<float>(task.nearest.quantMax - task.nearest.zeroPoints[s]);
    }
    multiply({exact.data(), columns, false}, {task.moments[g].cross.data(), columns, true}, count, columns,
             columns, target.data());
    for (std::size_t i = 0; i < target.size(); ++i) target[i] += damping * exact[i];
    const auto found = solveRounding({count, columns, damped, exact, target, lowest, highest}, cancel);
    for (std::size_t o = 0; o < count; ++o)
        for (std::size_t k = 0; k < columns; ++k)
            codes[task.shape.weightAt(g, begin + o, k)] = found[o * columns + k];
}

}  // namespace

std::vector<std::int32_t> learnCodes(const LearnTask& task, const RunControl& control) {
    const std::size_t columns = task.shape.columns(), groups = task.shape.groups();
    std::vector<std::vector<float>> damped(groups);
    std::vector<float> damping(groups);
    for (std::size_t g = 0; g < groups; ++g) {
        damped[g] = task.moments[g].second;
        double sum = 0;
        for (std::size_t k = 0; k < columns; ++k) sum += static_cast<double>(damped[g][k * columns + k]);
        damping[g] = kDamping * static_cast<float>(sum / static_cast<double>(columns));
        for (std::size_t k = 0; k < columns; ++k) damped[g][k * columns + k] += damping[g];
    }
    std::vector<std::int32_t> codes(task.weight.size());
    const std::size_t blocks = (task.shape.outputs() + kRowsPerTask - 1) / kRowsPerTask;
    control.workers.run(
        groups * blocks,
        [&](std::size_t t, std::size_t) {
            const std::size_t g = t / blocks, begin = t % blocks * kRowsPerTask;
            learnBlock(task, g, begin, std::min(kRowsPerTask, task.shape.outputs() - begin), damped[g],
                       damping[g], control.cancel, codes);
        },
        control.cancel);
    return codes;
}

std::vector<double> biasCorrections(const LearnTask& task, std::span<const float> rounded) {
    std::vector<double> lacking(task.shape.groups() * task.shape.outputs(), 0.0);
    for (std::size_t g = 0; g < task.shape.groups(); ++g)
        for (std::size_t o = 0; o < task.shape.outputs(); ++o)
            for (std::size_t k = 0; k < task.shape.columns(); ++k) {
                const std::size_t w = task.shape.weightAt(g, o, k);
                lacking[g * task.shape.outputs() + o] +=
                    static_cast<double>(task.weight[w]) * task.moments[g].meanExact[k] -
                    static_cast<double>(rounded[w]) * task.moments[g].meanQuantized[k];
            }
    return lacking;
}

std::shared_ptr<const ConstantQuantizer> withCodes(const ConstantQuantizer& nearest,
                                                   const std::vector<std::int32_t>& codes) {
    auto learned = std::make_shared<ConstantQuantizer>(nearest);
    learned->codes = CompactIntegers(codes);
    std::vector<float> values(codes.size());
    const ChannelWalk walk(nearest.dequantized->dims(), nearest.axis);
    walk.forEach(
        [&](std::size_t i, std::size_t c) { values[i] = static_cast<float>(codes[i]) * nearest.scales[c]; });
    learned->vanished =
        learned->vanished && std::all_of(codes.begin(), codes.end(), [](std::int32_t c) { return c == 0; });
    learned->dequantized = Constant::fromFloats(nearest.dequantized->dims(), std::move(values));
    return learned;
}

}  // namespace quantloupe
