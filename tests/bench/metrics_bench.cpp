// SPDX-License-Identifier: Apache-2.0
// The cost of comparing two tensors that fit into the cache (32 K elements) or not (4 M). Items per second
// are elements.
#include <benchmark/benchmark.h>

#include <random>

#include "analysis/divergence.h"
#include "analysis/relative_errors.h"
#include "analysis/tensor_metrics.h"

using namespace quantloupe;

namespace {

struct Pair {
    std::vector<float> reference, tested;
    explicit Pair(std::size_t count) : reference(count), tested(count) {
        std::mt19937 random(1);
        std::normal_distribution<float> normal;
        for (std::size_t i = 0; i < count; ++i) {
            reference[i] = normal(random);
            tested[i] = reference[i] + 0.01f * normal(random);
        }
    }
};

template <typename Measure>
void run(benchmark::State& state, Measure&& measure) {
    const Pair pair(static_cast<std::size_t>(state.range(0)));
    for (auto _ : state) measure(pair.reference.data(), pair.tested.data(), pair.reference.size());
    state.SetItemsProcessed(state.iterations() * state.range(0));
}

void sums(benchmark::State& state) {
    run(state, [](const float* f, const float* q, std::size_t count) {
        DifferenceSums sums;
        sums.add(f, q, count);
        benchmark::DoNotOptimize(sums);
    });
}

void channelsLast(benchmark::State& state) {
    std::vector<DifferenceSums> channels(128);
    run(state, [&](const float* f, const float* q, std::size_t count) {
        addPerChannel({count / 128, 128, 1}, f, q, channels);
        benchmark::DoNotOptimize(channels.data());
    });
}

void channelsPlanar(benchmark::State& state) {
    std::vector<DifferenceSums> channels(128);
    run(state, [&](const float* f, const float* q, std::size_t count) {
        addPerChannel({1, 128, count / 128}, f, q, channels);
        benchmark::DoNotOptimize(channels.data());
    });
}

void relativeErrors(benchmark::State& state) {
    run(state, [](const float* f, const float* q, std::size_t count) {
        RelativeErrorSums sums;
        sums.add(f, q, count);
        benchmark::DoNotOptimize(sums);
    });
}

void divergence(benchmark::State& state) {
    run(state, [](const float* f, const float* q, std::size_t count) {
        benchmark::DoNotOptimize(klDivergence(f, q, count));
    });
}

constexpr std::int64_t kCached = 32 << 10, kLarge = 4 << 20;
BENCHMARK(sums)->Arg(kCached)->Arg(kLarge);
BENCHMARK(channelsLast)->Arg(kCached)->Arg(kLarge);
BENCHMARK(channelsPlanar)->Arg(kCached)->Arg(kLarge);
BENCHMARK(relativeErrors)->Arg(kCached)->Arg(kLarge);
BENCHMARK(divergence)->Arg(kCached)->Arg(kLarge);

}  // namespace

BENCHMARK_MAIN();
