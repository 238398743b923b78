// SPDX-License-Identifier: Apache-2.0
// Speed of the tuning loop on the bundled demo with 256 images: a full evaluation, one skip near the end,
// undo, layer metrics, and the layout. Run on a quiet machine: build/release/tests/loop_bench
// --benchmark_repetitions=5 --benchmark_report_aggregates_only
#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <random>
#include <vector>

#include "config/presets.h"
#include "picture/picture.h"
#include "support/demo.h"

using namespace quantloupe;

namespace {

std::unique_ptr<Session> open() { return test::openDemo({2, 256, 100}); }

QuantizationConfig skipping(const char* layer) {
    QuantizationConfig config = test::demoConfig();
    SkipRule rule;
    rule.layers = {layer};
    config.rules = {rule};
    return config;
}

void coldEvaluation(benchmark::State& state) {
    const auto session = open();
    session->evaluate(test::demoConfig(), Depth::Accuracy);  // the images are decoded now
    for (auto _ : state) {
        session->clearCache();
        benchmark::DoNotOptimize(session->evaluate(test::demoConfig(), Depth::Accuracy));
    }
}

QuantizationConfig plain() {
    QuantizationConfig config = presetConfig("default");
    config.skipTail = false;
    return config;
}

double processSeconds() {
    return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;  // all threads
}

/// Keeps a different random layer in float each time, until the accuracy on all 256 images is final.
void toggle(benchmark::State& state, Depth depth) {
    const auto session = open();
    const EvaluationPtr base = session->evaluate(plain(), depth);
    std::vector<std::string> layers;
    for (const LayerResult& layer : base->layers)
        if (layer.state == LayerState::Quantized && (layer.op == "Conv" || layer.op == "Gemm"))
            layers.push_back(layer.name);
    std::shuffle(layers.begin(), layers.end(), std::mt19937(20261121));
    std::vector<double> seconds, processor;
    std::size_t next = 0;
    for (auto _ : state) {
        QuantizationConfig config = plain();
        SkipRule rule;
        rule.layers = {layers[next++ % layers.size()]};
        config.rules = {rule};
        const double before = processSeconds();
        const auto start = std::chrono::steady_clock::now();
        benchmark::DoNotOptimize(session->evaluate(config, depth));
        seconds.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
        processor.push_back(processSeconds() - before);
    }
    const auto quantile = [](std::vector<double> values, std::size_t tenths) {
        std::sort(values.begin(), values.end());
        return 1000 * values[values.size() * tenths / 10];
    };
    state.counters["median_ms"] = quantile(seconds, 5);
    state.counters["p90_ms"] = quantile(seconds, 9);
    state.counters["median_cpu_ms"] = quantile(processor, 5);
    state.counters["kept_MiB"] = static_cast<double>(session->activationBytes()) / 1048576;
}

void toggleToAccuracy(benchmark::State& state) { toggle(state, Depth::Accuracy); }
void toggleToMetrics(benchmark::State& state) { toggle(state, Depth::Metrics); }

void undo(benchmark::State& state) {
    const auto session = open();
    session->evaluate(test::demoConfig(), Depth::Accuracy);
    session->evaluate(skipping("/features/features.17/conv/conv.2/Conv"), Depth::Accuracy);
    for (auto _ : state) benchmark::DoNotOptimize(session->evaluate(test::demoConfig(), Depth::Accuracy));
}

void metricsOfAllLayers(benchmark::State& state) {
    const auto session = open();
    session->evaluate(test::demoConfig(), Depth::Accuracy);
    for (auto _ : state) {
        session->clearCache();
        benchmark::DoNotOptimize(session->evaluate(test::demoConfig(), Depth::Metrics));
    }
}

/// Session::outputs() always runs the network; programs, packed weights and the plan are reused.
void floatForward(benchmark::State& state) {
    const auto session = open();
    session->outputs(std::nullopt);
    for (auto _ : state) benchmark::DoNotOptimize(session->outputs(std::nullopt));
    state.counters["images"] =
        benchmark::Counter(256.0 * double(state.iterations()), benchmark::Counter::kIsRate);
}

/// All 256 images through the quantized network (default preset, tail included), already calibrated.
void quantizedForward(benchmark::State& state) {
    const auto session = open();
    session->outputs(plain());
    for (auto _ : state) benchmark::DoNotOptimize(session->outputs(plain()));
    state.counters["images"] =
        benchmark::Counter(256.0 * double(state.iterations()), benchmark::Counter::kIsRate);
}

void layout(benchmark::State& state) {
    const LoadedModel model = loadModel(test::demoFolder() / "mobilenetv2_cifar10.onnx");
    for (auto _ : state) benchmark::DoNotOptimize(layoutPicture(*model.graph));
}

BENCHMARK(coldEvaluation)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(toggleToAccuracy)->Unit(benchmark::kMillisecond)->UseRealTime()->Iterations(52);
BENCHMARK(toggleToMetrics)->Unit(benchmark::kMillisecond)->UseRealTime()->Iterations(52);
BENCHMARK(undo)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(metricsOfAllLayers)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(floatForward)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(quantizedForward)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(layout)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace

BENCHMARK_MAIN();
