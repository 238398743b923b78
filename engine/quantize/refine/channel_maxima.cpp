// SPDX-License-Identifier: Apache-2.0
#include "quantize/refine/channel_maxima.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.h"

namespace quantloupe {

ChannelMaxima measureChannelMaxima(const Prepared& prepared, const std::vector<TensorId>& tensors,
                                   const SampleBatches& batches, const RunControl& control) {
    const auto program =
        Program::compile(floatProgram(prepared.graph, batches.inputsOf(*prepared.graph), tensors));
    const auto channelsOf = [&](std::size_t t) {
        const Dims& dims = program->desc(tensors[t]).dims;
        return dims.empty() ? std::size_t(0) : static_cast<std::size_t>(dims.back());
    };
    // One result per worker, because a maximum does not depend on the order.
    std::vector<std::vector<std::vector<float>>> byWorker(static_cast<std::size_t>(control.workers.count()),
                                                          std::vector<std::vector<float>>(tensors.size()));
    for (auto& own : byWorker)
        for (std::size_t t = 0; t < tensors.size(); ++t) own[t].assign(channelsOf(t), 0.0f);
    runChunks({program}, batches, 0, batches.chunks(), control,
              [&](std::size_t chunk, std::size_t worker, std::vector<Workspace>& workspaces) {
                  std::vector<float> plain, gathered;
                  for (std::size_t t = 0; t < tensors.size(); ++t) {
                      const TensorDesc& desc = program->desc(tensors[t]);
                      const std::size_t channels = channelsOf(t);
                      if (channels == 0 || desc.count() == 0) continue;
                      const float* values = workspaces[0].floats(tensors[t]);
                      if (desc.layout != Layout::Plain) {
                          plain.resize(desc.count());
                          convertLayout(desc, values, Layout::Plain, plain.data());
                          values = plain.data();
                      }
                      const std::size_t present = batches.samplesIn(chunk);
                      const auto all = presentValues(desc, values, present, gathered);
                      const std::size_t rows = all.size() / channels;
                      const std::size_t each =
                          std::max<std::size_t>(desc.samples.perSample() ? rows / present : rows, 1);
                      std::vector<float>& widest = byWorker[worker][t];
                      for (std::size_t r = 0; r < rows; ++r)
                          for (std::size_t c = 0; c < channels; ++c) {
                              const float a = std::fabs(all[r * channels + c]);
                              if (!(a <= std::numeric_limits<float>::max()))
                                  failInput(
                                      "the tensor '{}' contains NaN or infinity for the sample '{}'; "
                                      "outliers cannot be migrated: check that sample, or leave it out",
                                      prepared.graph->tensor(tensors[t]).name,
                                      batches.dataset().sampleName(chunk * batches.batch() + r / each));
                              widest[c] = std::max(widest[c], a);
                          }
                  }
              });
    ChannelMaxima maxima;
    for (std::size_t t = 0; t < tensors.size(); ++t) {
        std::vector<float>& all = maxima[tensors[t]];
        all.assign(channelsOf(t), 0.0f);
        for (const auto& own : byWorker)
            for (std::size_t c = 0; c < all.size(); ++c) all[c] = std::max(all[c], own[t][c]);
    }
    return maxima;
}

}  // namespace quantloupe
