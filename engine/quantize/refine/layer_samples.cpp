// SPDX-License-Identifier: Apache-2.0
// Each chunk writes its own rows, and each task of the products its own block of columns, so that the sums
// depend neither on the order of the chunks nor on the number of threads.
#include "quantize/refine/layer_samples.h"

#include <algorithm>

#include "runtime/ordered/matrix_product.h"

namespace quantloupe {
namespace {

constexpr std::size_t kMaxValues = std::size_t{1} << 24;
constexpr std::size_t kColumnsPerTask = 64;

/// Selects the rows: `each` positions from every one of `samples` samples.
struct RowChoice {
    std::size_t all, samples, positions, each;

    RowChoice(std::size_t sampleCount, const LayerRows& shape)
        : all(sampleCount), positions(shape.positions()) {
        const std::size_t most = std::max<std::size_t>(kMaxValues / (shape.groups() * shape.columns()), 1);
        samples = std::min(all, most);
        each = std::clamp<std::size_t>(most / samples, 1, std::max<std::size_t>(positions, 1));
    }
    std::size_t rows() const { return samples * each; }
    bool takes(std::size_t sample) const { return sample * samples / all != (sample + 1) * samples / all; }
    std::size_t firstRow(std::size_t sample) const { return sample * samples / all * each; }
    /// Each sample starts at a different position, so that all positions are covered even if only some are
    /// taken per sample.
    std::size_t position(std::size_t sample, std::size_t j) const {
        return (sample * 7919 + j * positions / each) % positions;
    }
};

}  // namespace

std::optional<LayerSamples> sampleLayer(const Graph& graph, const Unit& unit, const BoundProgram& quantized,
                                        const BoundProgram& exact, const SampleBatches& batches,
                                        const RunControl& control) {
    const TensorId input = unit.inputs[0];
    const TensorDesc desc[2] = {quantized.program->desc(input), exact.program->desc(input)};
    if (desc[0].samples.runs != 1 || static_cast<std::size_t>(desc[0].dims[0]) != batches.batch()) return {};
    const auto shapeQuantized = LayerRows::of(graph, unit, desc[0]),
               shapeExact = LayerRows::of(graph, unit, desc[1]);
    if (!shapeQuantized || !shapeExact) return {};
    LayerSamples samples{*shapeQuantized, 0, {}, {}};
    const RowChoice choice(batches.samples(), samples.shape);
    samples.rows = choice.rows();
    const std::size_t groups = samples.shape.groups(), columns = samples.shape.columns(),
                      width = groups * columns;
    samples.quantized.resize(samples.rows * width);
    samples.exact.resize(samples.rows * width);
    runChunks({quantized, exact}, batches, 0, batches.chunks(), control,
              [&](std::size_t chunk, std::size_t, std::vector<Workspace>& workspaces) {
                  std::vector<float> row(width);
                  const auto take = [&](const LayerRows& shape, const float* values, std::size_t inChunk,
                                        std::vector<float>& to) {
                      const std::size_t sample = chunk * batches.batch() + inChunk;
                      for (std::size_t j = 0; j < choice.each; ++j) {
                          shape.gather(values, inChunk, choice.position(sample, j), row.data());
                          const std::size_t at = choice.firstRow(sample) + j;
                          for (std::size_t g = 0; g < groups; ++g)
                              std::copy_n(row.data() + g * columns, columns,
                                          to.data() + (g * samples.rows + at) * columns);
                      }
                  };
                  for (std::size_t s = 0; s < batches.samplesIn(chunk); ++s) {
                      if (!choice.takes(chunk * batches.batch() + s)) continue;
                      take(*shapeQuantized, workspaces[0].floats(input), s, samples.quantized);
                      take(*shapeExact, workspaces[1].floats(input), s, samples.exact);
                  }
              });
    return samples;
}

namespace {

/// Returns the column means of a group's rows, and subtracts them from the rows if `subtract` is set.
std::vector<double> means(float* values, std::size_t rows, std::size_t columns, bool subtract) {
    std::vector<double> mean(columns, 0.0);
    for (std::size_t r = 0; r < rows; ++r)
        for (std::size_t c = 0; c < columns; ++c) mean[c] += static_cast<double>(values[r * columns + c]);
    for (double& m : mean) m /= static_cast<double>(rows);
    for (std::size_t r = 0; subtract && r < rows; ++r)
        for (std::size_t c = 0; c < columns; ++c)
            values[r * columns + c] =
                static_cast<float>(static_cast<double>(values[r * columns + c]) - mean[c]);
    return mean;
}

}  // namespace

std::vector<GroupMoments> momentsOf(LayerSamples& samples, bool centered, bool products,
                                    const RunControl& control) {
    const std::size_t groups = samples.shape.groups(), columns = samples.shape.columns(), rows = samples.rows;
    std::vector<GroupMoments> moments(groups);
    control.workers.run(
        groups,
        [&](std::size_t g, std::size_t) {
            moments[g].meanQuantized =
                means(samples.quantized.data() + g * rows * columns, rows, columns, centered);
            moments[g].meanExact = means(samples.exact.data() + g * rows * columns, rows, columns, centered);
            if (!products) return;
            moments[g].second.resize(columns * columns);
            moments[g].cross.resize(columns * columns);
        },
        control.cancel);
    if (!products) return moments;
    const std::size_t blocks = (columns + kColumnsPerTask - 1) / kColumnsPerTask;
    control.workers.run(
        groups * blocks,
        [&](std::size_t task, std::size_t) {
            const std::size_t g = task / blocks, begin = task % blocks * kColumnsPerTask;
            const std::size_t count = std::min(kColumnsPerTask, columns - begin);
            const float* quantized = samples.quantized.data() + g * rows * columns;
            const float* exact = samples.exact.data() + g * rows * columns;
            float* results[2] = {moments[g].second.data() + begin * columns,
                                 moments[g].cross.data() + begin * columns};
            multiply({quantized + begin, columns, true}, {quantized, columns, false}, count, rows, columns,
                     results[0]);
            multiply({quantized + begin, columns, true}, {exact, columns, false}, count, rows, columns,
                     results[1]);
            for (float* result : results)
                for (std::size_t i = 0; i < count * columns; ++i) result[i] /= static_cast<float>(rows);
        },
        control.cancel);
    return moments;
}

}  // namespace quantloupe
