// SPDX-License-Identifier: Apache-2.0
#include "quantize/calibrate.h"

#include <cmath>

#include "base/error.h"
#include "base/short_text.h"
#include "quantize/calibration/position_votes.h"
#include "runtime/simd.h"

namespace quantloupe {
namespace {

QUANTLOUPE_SIMD void minMax(const float* values, std::size_t count, float* low, float* high, float* nanSum) {
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
    *nanSum = sums[0];
}

/// Returns the values of each sample of a chunk, without padding, or all values at once if the tensor does
/// not depend on the samples. `storage` receives copies if the values of a sample are not contiguous.
std::vector<std::span<const float>> samplesOf(const TensorDesc& desc, const float* values,
                                              const SampleBatches& batches, std::size_t chunk,
                                              std::vector<float>& storage) {
    if (desc.count() == 0) return {};
    const std::size_t present = batches.samplesIn(chunk);
    const auto all = presentValues(desc, values, present, storage);
    if (!desc.samples.perSample()) return {all};
    const std::size_t each = all.size() / present;
    std::vector<std::span<const float>> samples;
    for (std::size_t s = 0; s < present; ++s) samples.push_back(all.subspan(s * each, each));
    return samples;
}

std::string producerOf(const Prepared& prepared, TensorId tensor) {
    const NodeId producer = prepared.graph->tensor(tensor).producer;
    if (!producer.valid()) return "an input of the model";
    return fmt::format("the output of '{}'", prepared.graph->node(producer).name);
}

struct SampleRange {
    float min = 0, max = 0;
};

/// Number of chunks whose ranges are collected before they are added to the history in order.
constexpr std::size_t kChunksAtOnce = 1024;

std::shared_ptr<const Program> observing(const Prepared& prepared, const std::vector<TensorId>& tensors,
                                         const SampleBatches& batches) {
    return Program::compile(floatProgram(prepared.graph, batches.inputsOf(*prepared.graph), tensors));
}

/// Runs all chunks, kChunksAtOnce at a time, and reports the total progress. With a group and `share`, every
/// process runs its part of a round in a call of `share`, which completes the round.
void runInRounds(const std::shared_ptr<const Program>& program, const SampleBatches& batches,
                 const RunControl& control,
                 const std::function<void(std::size_t, std::vector<Workspace>&)>& use,
                 const std::function<void(std::size_t, std::size_t, const std::function<void()>&)>& share,
                 const std::function<void(std::size_t, std::size_t)>& finished) {
    const bool shared = control.group != nullptr && share;
    BoundProgram own(program);
    if (shared) own.shard = shardOf(control.group);
    for (std::size_t begin = 0; begin < batches.chunks(); begin += kChunksAtOnce) {
        const std::size_t end = std::min(begin + kChunksAtOnce, batches.chunks());
        RunControl part{control.workers, control.cancel, {}};
        if (control.progress)
            part.progress = [&](std::size_t done, std::size_t) {
                control.progress(begin * batches.batch() + done, batches.samples());
            };
        const auto run = [&] {
            runChunks({own}, batches, begin, end, part,
                      [&](std::size_t chunk, std::size_t, std::vector<Workspace>& workspaces) {
                          use(chunk, workspaces);
                      });
        };
        if (shared)
            share(begin, end, run);
        else
            run();
        if (finished) finished(begin, end);
    }
}

}  // namespace

Statistics calibrateRanges(const Prepared& prepared, const std::vector<TensorId>& tensors,
                           const SampleBatches& batches, const RunControl& control) {
    const auto program = observing(prepared, tensors, batches);
    std::vector<TensorStatistics> all(tensors.size());
    // The ranges of a chunk: those of the first tensor's samples, then of the second's, and so on.
    const auto rangesIn = [&](std::size_t chunk, std::size_t t) -> std::size_t {
        const TensorDesc& desc = program->desc(tensors[t]);
        return desc.count() == 0 ? 0 : desc.samples.perSample() ? batches.samplesIn(chunk) : 1;
    };
    std::vector<std::vector<SampleRange>> perChunk(std::min(kChunksAtOnce, batches.chunks()));
    const auto rangesOf = [&](std::size_t chunk) -> std::vector<SampleRange>& {
        std::size_t count = 0;
        for (std::size_t t = 0; t < tensors.size(); ++t) count += rangesIn(chunk, t);
        perChunk[chunk % kChunksAtOnce].resize(count);
        return perChunk[chunk % kChunksAtOnce];
    };
    const auto observe = [&](std::size_t chunk, std::vector<Workspace>& workspaces) {
        SampleRange* ranges = rangesOf(chunk).data();
        std::vector<float> storage;
        for (std::size_t t = 0; t < tensors.size(); ++t) {
            const auto samples = samplesOf(program->desc(tensors[t]), workspaces[0].floats(tensors[t]),
                                           batches, chunk, storage);
            for (std::size_t s = 0; s < samples.size(); ++s) {
                SampleRange range;
                float nanSum = 0;
                if (!samples[s].empty())
                    minMax(samples[s].data(), samples[s].size(), &range.min, &range.max, &nanSum);
                *ranges++ = std::isnan(nanSum) ? SampleRange{nanSum, nanSum} : range;
            }
        }
    };
    const auto share = [&](std::size_t begin, std::size_t end, const std::function<void()>& run) {
        shareChunks(*control.group, "calibration", begin, end, run,
                    [&](std::size_t chunk) { return std::as_writable_bytes(std::span(rangesOf(chunk))); });
    };
    runInRounds(program, batches, control, observe, share, [&](std::size_t begin, std::size_t end) {
        for (std::size_t chunk = begin; chunk < end; ++chunk) {
            const SampleRange* next = rangesOf(chunk).data();
            for (std::size_t t = 0; t < tensors.size(); ++t)
                for (std::size_t s = 0; s < rangesIn(chunk, t); ++s) {
                    const SampleRange& range = *next++;
                    TensorStatistics& known = all[t];
                    if (std::isnan(range.min)) {
                        if (known.notFinite.empty())
                            known.notFinite = batches.dataset().sampleName(chunk * batches.batch() + s);
                        continue;
                    }
                    const bool first = known.history.samples() == 0;
                    known.min = first ? range.min : std::min(known.min, range.min);
                    known.max = first ? range.max : std::max(known.max, range.max);
                    if (known.firstMin == 0 && known.firstMax == 0) {
                        known.firstMin = range.min;
                        known.firstMax = range.max;
                    }
                    known.history.add(range.min, range.max);
                }
        }
    });
    Statistics statistics;
    for (std::size_t t = 0; t < tensors.size(); ++t) {
        const TensorDesc& desc = program->desc(tensors[t]);
        all[t].count =
            desc.count() / (desc.samples.perSample() ? batches.batch() : 1) * all[t].history.samples();
        statistics[tensors[t]] = std::move(all[t]);
    }
    return statistics;
}

void requireFinite(const Prepared& prepared, const UnitList& units, const Statistics& statistics,
                   const std::unordered_map<TensorId, TensorId>& rangeOf) {
    TensorId tensor;
    std::vector<std::string> layers;
    for (const Unit& unit : units.units) {
        if (!unit.quantized || unit.float16) continue;
        std::vector<TensorId> read = unit.inputs;
        if (unit.quantizesOutput) read.push_back(unit.output);
        for (TensorId& candidate : read)
            if (const auto other = rangeOf.find(candidate); other != rangeOf.end()) candidate = other->second;
        const auto bad = std::ranges::find_if(read, [&](TensorId candidate) {
            const auto found = statistics.find(candidate);
            return found != statistics.end() && !found->second.notFinite.empty();
        });
        if (bad == read.end()) continue;
        if (layers.empty()) tensor = *bad;
        layers.push_back(fmt::format("'{}'", prepared.graph->node(unit.layer).name));
    }
    if (layers.empty()) return;
    failInput(
        "the tensor '{}' ({}) contains NaN or infinity for the sample '{}', so it has no scale: keep {} in "
        "float, check that sample, or leave it out, or give masks of the network a finite value",
        prepared.graph->tensor(tensor).name, producerOf(prepared, tensor), statistics.at(tensor).notFinite,
        shortList(layers, 10));
}

void addMissingDistributions(const Prepared& prepared, const std::vector<TensorId>& candidates,
                             const StatisticsNeeds& needs, const SampleBatches& batches,
                             const RunControl& control, Statistics& statistics) {
    std::vector<TensorId> tensors;
    for (const TensorId tensor : candidates) {
        const TensorStatistics& known = statistics.at(tensor);
        if (!known.notFinite.empty()) continue;
        bool missing = needs.distribution && !known.distribution;
        for (const int bits : needs.voteBits) missing = missing || !known.votes.contains(bits);
        if (missing) tensors.push_back(tensor);
    }
    if (tensors.empty()) return;

    const auto program = observing(prepared, tensors, batches);
    std::vector<std::unique_ptr<DistributionGatherer>> gatherers;
    std::vector<VoteCounter> votes(tensors.size());
    for (const TensorId tensor : tensors) {
        const TensorStatistics& known = statistics.at(tensor);
        gatherers.push_back(needs.distribution && !known.distribution
                                ? std::make_unique<DistributionGatherer>(known.min, known.max, known.firstMin,
                                                                         known.firstMax, known.count)
                                : nullptr);
    }
    const auto observe = [&](std::size_t chunk, std::vector<Workspace>& workspaces) {
        std::vector<float> storage;
        for (std::size_t i = 0; i < tensors.size(); ++i) {
            // Workers start with different tensors, so that they rarely wait for each other.
            const std::size_t t = (i + chunk) % tensors.size();
            for (const auto values : samplesOf(program->desc(tensors[t]), workspaces[0].floats(tensors[t]),
                                               batches, chunk, storage)) {
                if (gatherers[t]) gatherers[t]->add(values);
                for (const int bits : needs.voteBits) votes[t].add(bits, values);
            }
        }
    };
    runInRounds(program, batches, control, observe, {}, {});
    for (std::size_t t = 0; t < tensors.size(); ++t) {
        TensorStatistics& known = statistics.at(tensors[t]);
        if (gatherers[t])
            known.distribution = std::make_shared<const ValueDistribution>(gatherers[t]->finish());
        for (const int bits : needs.voteBits) known.votes[bits] = votes[t].of(bits);
    }
}

}  // namespace quantloupe
