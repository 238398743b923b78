// SPDX-License-Identifier: Apache-2.0
#include "search/tune_numbers.h"

#include <cmath>

#include "analysis/paired_interval.h"
#include "analysis/task_metrics.h"
#include "base/error.h"
#include "results/layer_host.h"
#include "session/studies/evaluation_gain.h"

namespace quantloupe {
namespace {

std::size_t hits(const std::vector<std::int32_t>& classes, const std::vector<std::int32_t>& rightClasses) {
    std::size_t count = 0;
    for (std::size_t s = 0; s < classes.size(); ++s) count += classes[s] == rightClasses[s];
    return count;
}

}  // namespace

double dropOf(const Accuracy& floating, const Accuracy& quantized) {
    const auto finite = [](double drop) { return std::isfinite(drop) ? drop : kWorstDrop; };
    if (quantized.userMetric) return finite(metricGain(quantized, floating, TaskMetric::User));
    if (const auto drop = rateDrop(floating, quantized)) return *drop;
    if (!quantized.sqnrDb)
        failInput("the network's outputs cannot be compared with those of the float network");
    return finite(std::pow(10.0, -*quantized.sqnrDb / 20));
}

std::optional<RateInterval> dropIntervalOf(const Evaluation& evaluation) {
    if (evaluation.quantized && evaluation.quantized->userMetric) return std::nullopt;
    if (evaluation.scores) {
        const auto change = compareWithFloat(evaluation);
        if (!change) return std::nullopt;
        return RateInterval{-change->high, -change->low};
    }
    if (!evaluation.quantized || !evaluation.quantized->agreement || !evaluation.classes ||
        !evaluation.floatClasses)
        return std::nullopt;
    const auto &floating = *evaluation.floatClasses, &quantized = *evaluation.classes,
               &rightClasses = *evaluation.rightClasses;
    if (!evaluation.quantized->top1) {
        const RateInterval agreement = wilsonInterval(hits(quantized, floating), floating.size());
        return RateInterval{1 - agreement.high, 1 - agreement.low};
    }
    PairedCounts counts;
    for (std::size_t s = 0; s < rightClasses.size(); ++s) {
        const bool before = floating[s] == rightClasses[s], after = quantized[s] == rightClasses[s];
        ++(before ? after ? counts.both : counts.onlyBefore : after ? counts.onlyAfter : counts.neither);
    }
    return pairedDropInterval(counts);
}

double noiseOf(const Accuracy& accuracy) {
    if (!accuracy.sqnrDb) return 0;
    const double noise = std::pow(10.0, -*accuracy.sqnrDb / 10);  // 0 if nothing differs
    return std::isfinite(noise) ? noise : kWorstDrop;
}

std::size_t transitionsOf(const Graph& graph, const std::vector<LayerResult>& layers) {
    std::vector<bool> integer(layers.size());  // by node: whether it computes with integers
    for (std::size_t n = 0; n < layers.size(); ++n)
        integer[n] = layers[hostOf(graph, layers, n)].state == LayerState::Quantized;
    std::size_t count = 0;
    for (const TensorInfo& tensor : graph.tensors()) {
        if (tensor.constant || (tensor.type != DataType::Float32 && tensor.type != DataType::Undefined))
            continue;
        const bool from = tensor.producer.valid() && integer[tensor.producer.index()];
        bool changes = from && tensor.graphOutput;
        for (const NodeId reader : tensor.consumers) changes = changes || integer[reader.index()] != from;
        count += changes;
    }
    return count;
}

FloatShare& operator+=(FloatShare& sum, const FloatShare& more) {
    sum.layers += more.layers;
    sum.macs += more.macs;
    sum.parameters += more.parameters;
    sum.macsKnown = sum.macsKnown && more.macsKnown;
    return sum;
}

}  // namespace quantloupe
