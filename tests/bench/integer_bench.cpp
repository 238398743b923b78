// SPDX-License-Identifier: Apache-2.0
// The 8-bit matrix product with the shapes of real networks. Weights are Gaussian with the given standard
// deviation in quantization steps: 20 is typical per tensor, 40 per channel, 2 for 4 bits. Reports
// multiply-adds per second on one core.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "runtime/integer/integer_product.h"

using namespace quantloupe;

namespace {

void product(benchmark::State& state) {
    const auto depth = static_cast<std::size_t>(state.range(0)),
               columns = static_cast<std::size_t>(state.range(1));
    const auto deviation = static_cast<float>(state.range(2));
    constexpr std::size_t kRows = 48 * 16;
    std::mt19937 random(7);
    std::normal_distribution<float> gaussian(0.0f, deviation);
    std::vector<std::int8_t> weight(depth * columns);
    for (auto& w : weight)
        w = static_cast<std::int8_t>(std::clamp(std::round(gaussian(random)), -127.0f, 127.0f));
    Requantization how;
    how.offset.assign(columns, 0);
    how.factor.assign(columns, 1e-3f);
    how.low = -128, how.high = 127, how.shift = 128;
    const IntegerProduct kernel(weight, depth, columns, how);
    std::vector<std::uint8_t> rows(kRows * kernel.paddedDepth() + 64), output(kRows * columns);
    for (auto& x : rows) x = static_cast<std::uint8_t>(random());
    std::vector<std::byte> scratch(kernel.scratchBytes() + 64);
    for ([[maybe_unused]] auto _ : state) {
        for (std::size_t r = 0; r < kRows; r += IntegerProduct::kRows)
            kernel.run(rows.data() + r * kernel.paddedDepth(), kernel.paddedDepth(), IntegerProduct::kRows,
                       output.data() + r * columns, columns, scratch.data());
        benchmark::DoNotOptimize(output.data());
    }
    state.counters["GMAC/s"] = benchmark::Counter(static_cast<double>(kRows * depth * columns) * 1e-9,
                                                  benchmark::Counter::kIsIterationInvariantRate);
}

BENCHMARK(product)
    ->ArgNames({"depth", "columns", "deviation"})
    ->Args({16, 96, 20})
    ->Args({24, 144, 20})
    ->Args({96, 24, 20})
    ->Args({144, 32, 20})
    ->Args({384, 64, 20})
    ->Args({960, 320, 20})
    ->Args({960, 320, 40})
    ->Args({960, 320, 2})
    ->Args({96, 24, 2})
    ->Args({576, 64, 20})
    ->Args({2304, 256, 20})
    ->Args({2304, 256, 40})
    ->Args({4608, 512, 10});

}  // namespace

BENCHMARK_MAIN();
