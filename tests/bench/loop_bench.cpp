// SPDX-License-Identifier: Apache-2.0
// The loop's speed on the bundled demo, 256 images: a full evaluation, one skip near the end, undo, layer metrics; and the layout.
// Run on a quiet machine: build/release/tests/loop_bench --benchmark_repetitions=5 --benchmark_report_aggregates_only
#include <benchmark/benchmark.h>

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

const char* const kNearTheEnd = "/features/features.17/conv/conv.2/Conv";

void coldEvaluation(benchmark::State& state) {
    const auto session = open();
    session->evaluate(test::demoConfig(), Depth::Accuracy);  // the images are decoded now
    for (auto _ : state) {
        session->clearCache();
        benchmark::DoNotOptimize(session->evaluate(test::demoConfig(), Depth::Accuracy));
    }
}

/// One layer skipped near the end: until the accuracy on all 256 images stands.
void skipNearTheEnd(benchmark::State& state) {
    const auto session = open();
    for (auto _ : state) {
        state.PauseTiming();
        session->clearCache();
        session->evaluate(test::demoConfig(), Depth::Accuracy);
        state.ResumeTiming();
        benchmark::DoNotOptimize(session->evaluate(skipping(kNearTheEnd), Depth::Accuracy));
    }
}

void undo(benchmark::State& state) {
    const auto session = open();
    session->evaluate(test::demoConfig(), Depth::Accuracy);
    session->evaluate(skipping(kNearTheEnd), Depth::Accuracy);
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

void floatForward(benchmark::State& state) {
    const auto session = open();
    session->outputs(std::nullopt);
    for (auto _ : state) benchmark::DoNotOptimize(session->outputs(std::nullopt));
    state.counters["images"] =
        benchmark::Counter(256.0 * double(state.iterations()), benchmark::Counter::kIsRate);
}

void layout(benchmark::State& state) {
    const LoadedModel model = loadModel(test::demoFolder() / "mobilenetv2_cifar10.onnx");
    for (auto _ : state) benchmark::DoNotOptimize(layoutPicture(*model.graph));
}

BENCHMARK(coldEvaluation)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(skipNearTheEnd)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(undo)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(metricsOfAllLayers)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(floatForward)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(layout)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace

BENCHMARK_MAIN();
