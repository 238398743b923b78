// SPDX-License-Identifier: Apache-2.0
// Divides the memory budget among the caches of a session. Each cache has a share and drops its least
// recently used entries. Activations, which never fit completely, get the rest. Everything that the last
// evaluation used is kept, so even with a budget of 0 the session keeps what one evaluation needs.
#include <malloc.h>

#include <algorithm>
#include <unordered_set>

#include "base/recycled_limits.h"
#include "session/session_impl.h"

namespace quantloupe {
namespace {

/// Number of networks whose packed weights one evaluation needs: float, transformed and quantized.
constexpr std::size_t kKernelsOfOneEvaluation = 3;
/// Limits of the working memory that programs reuse.
constexpr std::size_t kLeastRecycled = std::size_t{32} << 20, kMaxRecycled = std::size_t{192} << 20;

std::size_t bytesOfConstants(const Graph& graph, std::unordered_set<const Constant*>& seen) {
    std::size_t bytes = 0;
    for (const TensorInfo& tensor : graph.tensors())
        if (tensor.constant && seen.insert(tensor.constant.get()).second)
            bytes += tensor.constant->bytes().size();
    return bytes;
}

std::size_t bytesOfStructure(const Graph& graph) {
    constexpr std::size_t kNode = 512, kTensor = 256;
    return graph.nodeCount() * kNode + graph.tensorCount() * kTensor;
}

/// Entries for the same tensor share a distribution, whose memory is counted once.
using Distributions = std::unordered_set<const ValueDistribution*>;

std::size_t bytesOf(const TensorStatistics& statistics, Distributions& seen) {
    std::size_t bytes = sizeof(statistics) + statistics.votes.size() * sizeof(PositionVotes);
    const auto& d = statistics.distribution;
    if (d && seen.insert(d.get()).second)
        bytes += sizeof(*d) +
                 (ValueDistribution::kSymmetricBins + ValueDistribution::kRangeBins) * sizeof(std::uint64_t) +
                 (d->largest.capacity() + d->smallest.capacity() + d->samples.capacity()) * sizeof(float);
    return bytes;
}

std::size_t bytesOf(const CalibratedGraph& graph, Distributions& seen) {
    std::size_t bytes = graph.contents.size() * sizeof(Version);
    for (const auto& [tensor, statistics] : graph.statistics) bytes += bytesOf(statistics, seen) + 64;
    return bytes;
}

std::size_t bytesOf(const NetworkOutputs& outputs) {
    return outputs.values.capacity() * sizeof(float) + outputs.records.bytes();
}

std::size_t bytesOf(const ChannelMaxima& maxima) {
    std::size_t bytes = 0;
    for (const auto& [tensor, channels] : maxima) bytes += 64 + channels.size() * sizeof(float);
    return bytes;
}

std::size_t bytesOf(const Evaluation& evaluation) {
    constexpr std::size_t kLayerTexts = 256;
    return sizeof(evaluation) + evaluation.layers.size() * (sizeof(LayerResult) + kLayerTexts) +
           evaluation.samples * 3 * sizeof(std::int32_t);
}

/// Gives blocks of 1 MiB or more their own pages, which are returned to the system when they are freed.
/// Otherwise glibc takes larger and larger blocks from the heap, and the process grows although the memory in
/// use does not.
void keepLargeBlocksApart() {
    static const bool done = mallopt(M_MMAP_THRESHOLD, 1 << 20) != 0;
    static_cast<void>(done);
}

}  // namespace

/// With `budget`, shrinks each cache to its share of it. Returns the bytes of all caches except activations.
std::size_t Session::Impl::visitCaches(std::optional<std::size_t> budget) {
    std::size_t all = 0;
    const auto visit = [&](auto& cache, std::size_t divisor, auto... size) {
        all += budget ? cache.shrink(*budget / divisor, size...) : cache.bytes(size...);
    };
    std::unordered_set<const Constant*> source;
    const std::size_t weights = bytesOfConstants(*model.graph, source);
    if (constants) all += bytesOfConstants(*constants->graph, source);
    if (budget) limitRecycledBytes(std::clamp(*budget / 8, kLeastRecycled, kMaxRecycled));
    all += recycledBytes();
    visit(prepared, 8, [&](const auto& known) {
        std::unordered_set<const Constant*> seen = source;
        return bytesOfConstants(*known->graph, seen) + bytesOfConstants(*known->transformed, seen) +
               2 * bytesOfStructure(*known->graph);
    });
    if (budget) kernels->setMost(std::max(*budget / 4, kKernelsOfOneEvaluation * weights));
    all += kernels->bytes();
    all += quantizers.shrink(budget ? *budget / 16 : SIZE_MAX);
    all += refinements.shrink(budget ? *budget / 32 : SIZE_MAX);
    Distributions seen;
    visit(tensorRanges, 8, [&](const TensorStatistics& known) { return bytesOf(known, seen); });
    visit(ranges, 16, [&](const CalibratedGraph& known) { return bytesOf(known, seen); });
    visit(channelMaxima, 64, [](const ChannelMaxima& known) { return bytesOf(known); });
    visit(outputs, 16, [](const auto& known) { return bytesOf(*known); });
    visit(shapes, 64, [](const auto& known) { return known->density.size() * 192; });
    visit(sweeps, 64, [](const auto& known) { return known.size() * (sizeof(LayerEffect) + 128); });
    visit(thresholdBases, 64, [](const EvaluationPtr& known) { return bytesOf(*known); });
    visit(weightDifferences, 64);
    visit(weightRangeRatios, 64);
    visit(local, 64);
    visit(cumulative, 64);
    return all;
}

void Session::Impl::limitCaches() {
    keepLargeBlocksApart();
    const std::size_t others = visitCaches(memoryBudget);
    activations.setBudget(memoryBudget - std::min(memoryBudget, others));
    // Returns small freed blocks between larger ones to the system from time to time.
    constexpr int kEvaluationsBetween = 16;
    if (++evaluationsSinceTrim >= kEvaluationsBetween) {
        malloc_trim(0);
        evaluationsSinceTrim = 0;
    }
}

std::size_t Session::Impl::cacheBytes() { return visitCaches(std::nullopt) + activations.bytes(); }

}  // namespace quantloupe
