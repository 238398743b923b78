// SPDX-License-Identifier: Apache-2.0
#include "quantize/calibrate.h"

#include <cmath>

#include "base/error.h"
#include "runtime/simd.h"

namespace quantloupe {
namespace {

QUANTLOUPE_SIMD void minMax(const float* values, std::size_t count, float* low, float* high, float* poison) {
    constexpr std::size_t kLanes = 16;
    float lows[kLanes], highs[kLanes], sums[kLanes];
    for (std::size_t lane = 0; lane < kLanes; ++lane) lows[lane] = highs[lane] = values[0], sums[lane] = 0;
    std::size_t i = 0;
    for (; i + kLanes <= count; i += kLanes)
        for (std::size_t lane = 0; lane < kLanes; ++lane) {
            const float x = values[i + lane];
            lows[lane] = x < lows[lane] ? x : lows[lane];
            highs[lane] = x > highs[lane] ? x : highs[lane];
            sums[lane] += x - x;  // 0, or NaN for NaN and infinity
        }
    for (; i < count; ++i) {
        const float x = values[i];
        lows[0] = x < lows[0] ? x : lows[0];
        highs[0] = x > highs[0] ? x : highs[0];
        sums[0] += x - x;
    }
    for (std::size_t lane = 1; lane < kLanes; ++lane) {
        lows[0] = lows[lane] < lows[0] ? lows[lane] : lows[0];
        highs[0] = highs[lane] > highs[0] ? highs[lane] : highs[0];
        sums[0] += sums[lane];
    }
    *low = lows[0];
    *high = highs[0];
    *poison = sums[0];
}

}  // namespace

Statistics calibrateMinMax(const Prepared& prepared, const std::vector<TensorId>& tensors, const SampleBatches& batches,
                           const RunControl& control) {
    const auto program = Program::compile(floatProgram(prepared.graph, batches.inputsOf(*prepared.graph), tensors));
    std::vector<std::vector<TensorRange>> perChunk(batches.chunks());
    runChunks({program}, batches, 0, batches.chunks(), control,
              [&](std::size_t chunk, std::size_t, std::vector<Workspace>& workspaces) {
                  for (const TensorId tensor : tensors) {
                      TensorRange range;
                      float poison = 0;
                      const std::size_t count = program->desc(tensor).count();
                      if (count > 0)
                          minMax(workspaces[0].floats(tensor), count, &range.min, &range.max, &poison);
                      if (std::isnan(poison))
                          failInput("the tensor '{}' holds NaN or infinity for the samples from '{}' on; such a model "
                                    "cannot be calibrated",
                                    prepared.graph->tensor(tensor).name,
                                    batches.dataset().sampleName(chunk * batches.batch()));
                      perChunk[chunk].push_back(range);
                  }
              });
    Statistics statistics;
    for (std::size_t t = 0; t < tensors.size(); ++t) {
        TensorRange range = perChunk[0][t];
        for (const auto& chunk : perChunk) {
            range.min = std::min(range.min, chunk[t].min);
            range.max = std::max(range.max, chunk[t].max);
        }
        statistics[tensors[t]] = range;
    }
    return statistics;
}

}  // namespace quantloupe
