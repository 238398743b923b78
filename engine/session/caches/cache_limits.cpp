// SPDX-License-Identifier: Apache-2.0
// Divides the memory budget among the caches of a session. Each cache has a share and drops its least
// recently used entries. Activations, which never fit completely, get the rest. Everything that the last
// evaluation used is kept, so even with a budget of 0 the session keeps what one evaluation needs.
#include <malloc.h>

#include <algorithm>
#include <unordered_set>

#include "base/recycled_limits.h"
#include "base/recycled_memory.h"
#include "session/session_parts.h"

namespace quantloupe {
namespace {

/// Number of networks whose packed weights one evaluation needs: float, transformed and quantized.
constexpr std::size_t kKernelsOfOneEvaluation = 3;
/// Limits of the working memory that programs reuse.
constexpr std::size_t kLeastRecycled = std::size_t{32} << 20, kMaxRecycled = std::size_t{512} << 20;

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
    std::size_t bytes = sizeof(statistics) + statistics.votes.size() * sizeof(PositionVotes) +
                        statistics.notFinite.capacity();
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

void Pipeline::visitCaches(CacheVisitor& visitor, std::unordered_set<const Constant*> source) {
    if (m_constants) visitor.add(bytesOfConstants(*m_constants->graph, source));
    visitor.visit(m_prepared, 8, [&](const auto& known) {
        std::unordered_set<const Constant*> seen = source;
        return bytesOfConstants(*known->graph, seen) + bytesOfConstants(*known->transformed, seen) +
               2 * bytesOfStructure(*known->graph);
    });
    const std::optional<std::size_t>& budget = visitor.budget();
    visitor.add(m_quantizers.shrink(budget ? *budget / 16 : SIZE_MAX));
    visitor.add(m_refinements.shrink(budget ? *budget / 32 : SIZE_MAX));
    Distributions seen;
    visitor.visit(m_tensorRanges, 8, [&](const TensorStatistics& known) { return bytesOf(known, seen); });
    visitor.visit(m_ranges, 16, [&](const CalibratedGraph& known) { return bytesOf(known, seen); });
    visitor.visit(m_channelMaxima, 64, [](const ChannelMaxima& known) { return bytesOf(known); });
}

void NetworkRunner::visitCaches(CacheVisitor& visitor, std::size_t weights) {
    if (const auto& budget = visitor.budget())
        m_kernels->setMost(std::max(*budget / 4, kKernelsOfOneEvaluation * weights));
    visitor.add(m_kernels->bytes());
    visitor.visit(m_shapes, 64, [](const auto& known) { return known->density.size() * 192; });
}

void EvaluationResults::visitCaches(CacheVisitor& visitor) {
    visitor.visit(outputs, 16, [](const auto& known) { return bytesOf(*known); });
    visitor.visit(sweeps, 64,
                  [](const auto& known) { return known.layers.size() * (sizeof(LayerEffect) + 128); });
    visitor.visit(thresholdBases, 64, [](const EvaluationPtr& known) { return bytesOf(*known); });
    visitor.visit(weightDifferences, 64);
    visitor.visit(weightRangeRatios, 64);
    visitor.visit(local, 64);
    visitor.visit(cumulative, 64);
}

void EvaluationResults::clear() {
    outputs.clear();
    weightDifferences.clear();
    weightRangeRatios.clear();
    local.clear();
    cumulative.clear();
    clearMetric();
}

void EvaluationResults::clearMetric() {
    sweeps.clear();
    thresholdBases.clear();
}

std::size_t SessionParts::visitCaches(std::optional<std::size_t> budget) {
    CacheVisitor visitor(budget);
    std::unordered_set<const Constant*> source;
    const std::size_t weights = bytesOfConstants(*model.graph, source);
    if (budget) limitRecycledBytes(std::clamp(*budget / 8, kLeastRecycled, kMaxRecycled));
    visitor.add(recycledBytes());
    pipeline.visitCaches(visitor, std::move(source));
    runner.visitCaches(visitor, weights);
    results.visitCaches(visitor);
    return visitor.bytes();
}

void SessionParts::limitCaches() {
    keepLargeBlocksApart();
    runner.nextEvaluation();
    const std::size_t others = visitCaches(memoryBudget);
    runner.limitActivations(memoryBudget - std::min(memoryBudget, others));
    // Returns small freed blocks between larger ones to the system from time to time.
    constexpr int kEvaluationsBetween = 16;
    if (++m_evaluationsSinceTrim >= kEvaluationsBetween) {
        malloc_trim(0);
        m_evaluationsSinceTrim = 0;
    }
}

bool SessionParts::freeMemory() {
    constexpr std::size_t kWorthKeeping = std::size_t{16} << 20;
    if (options.group || memoryBudget == 0) return false;
    memoryBudget = std::min(memoryBudget, cacheBytes()) / 4;
    if (memoryBudget < kWorthKeeping) memoryBudget = 0;
    pipeline.clear();
    runner.clear();
    results.clear();
    runner.limitActivations(memoryBudget);
    RecycledMemory::trim();
    malloc_trim(0);
    return true;
}

std::string SessionParts::memoryNotice() const {
    if (memoryBudget == m_fullBudget) return {};
    return fmt::format(
        "there is not enough memory to keep {} MiB of results between evaluations: only {} MiB are kept, so "
        "evaluations take longer",
        m_fullBudget >> 20, memoryBudget >> 20);
}

std::size_t SessionParts::cacheBytes() { return visitCaches(std::nullopt) + runner.activations().bytes(); }

}  // namespace quantloupe
