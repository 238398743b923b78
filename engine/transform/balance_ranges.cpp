// SPDX-License-Identifier: Apache-2.0
// Equalization by coordinate descent on ranges.
//
// Terms: K[o, i] is the largest |w| over the kernel positions of a layer's weight. With factors f_in on its
// inputs and f_out on its outputs, the range of output channel o is the largest K[o, i] f_in[i] / f_out[o]
// over i; the range of an input channel is defined likewise. For each group in turn, channel by channel, r1
// is the largest range over the heads and r2 over the tails, and the factor is multiplied by sqrt(r1 / r2),
// which makes the two equal: of all factors, this one maximizes the product of the channel's relative ranges
// on both sides (Nagel et al. 2019, section 4.1; several heads and tails as in PPQ). A depthwise layer
// couples the groups on both its sides, so passes are repeated. The weights themselves are not changed, so a
// pass only reads every K and causes no rounding. Safeguards: factors are clamped; a dead channel, whose
// range is negligible compared with the largest of its layer, is not equalized, since this would inflate its
// bias, but only kept from having the largest range on the other side. Cost: passes times O(sum of K). While
// the factors change little, only the K close to the largest K of their channel are read, from a shorter list
// if they hardly change, with the same result. Limitation: the ranges of activations are not considered.
#include "transform/balance_ranges.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>

#include "transform/adaptive_stop.h"
#include "transform/scalable_layer.h"
#include "transform/weight_channels.h"

namespace quantloupe {
namespace {

constexpr double kConvergedChange = 1e-6;
constexpr std::size_t kNoGroup = static_cast<std::size_t>(-1);

/// The K that can be the largest of their channel as long as the factors of the other side do not change too
/// much.
struct Candidates {
    struct Entry {
        std::uint32_t channel, other;  ///< on this side and on the other
        float k;
    };
    double share;  ///< minimum fraction of the largest value
    std::vector<Entry> entries;
    std::vector<double> factors;  ///< of the other side, when the entries were collected; empty: not yet

    void start(const std::vector<double>& now) {
        factors = now;
        entries.clear();
    }

    /// Adds `entry` if its value is close enough to the largest of its channel.
    void offer(const Entry& entry, double value, double largest) {
        if (value > 0 && value >= share * largest) entries.push_back(entry);
    }

    /// Returns whether every other K is still smaller than the largest one, given that all values have
    /// changed by factors between `least` and `most`.
    bool cover(const std::vector<double>& now) const {
        if (factors.size() != now.size()) return false;
        double least = 1, most = 1;
        for (std::size_t i = 0; i < now.size(); ++i) {
            const double change = now[i] / factors[i];
            least = std::min(least, change);
            most = std::max(most, change);
        }
        constexpr double kRounding = 1e-9;
        return share * most < least * (1 - kRounding);
    }
};

/// The K that are read for the ranges of one side.
struct NestedCandidates {
    Candidates wide{0.6, {}, {}};
    Candidates close{0.95, {}, {}};  ///< of the entries of `wide`
};

struct LayerRanges {
    explicit LayerRanges(const WeightLayout& layout)
        : channels(layout), inputs(inputCount(layout)), outputs(outputCount(layout)) {}
    WeightChannels channels;
    std::size_t inputs, outputs;
    std::vector<float> kernelMax;  ///< [first axis, second axis]
    std::vector<float> bias;
    std::size_t before = kNoGroup, after = kNoGroup;
    NestedCandidates largestOfOutputs, largestOfInputs;
};

class Balancer {
  public:
    Balancer(const Graph& graph, const std::vector<ScaleGroup>& groups, const std::vector<bool>& enabled,
             const BalanceOptions& options)
        : m_graph(graph), m_groups(groups), m_enabled(enabled), m_options(options) {
        for (std::size_t g = 0; g < groups.size(); ++g) {
            m_result.factors.emplace_back(groups[g].channels, 1.0);
            if (!enabled[g]) continue;
            for (const NodeId id : groups[g].heads) layer(id).after = g;
            for (const NodeId id : groups[g].tails) layer(id).before = g;
        }
    }

    void settle(const std::vector<std::vector<bool>>& dead, std::vector<std::vector<double>>& factors) {
        m_dead = dead;
        m_result.factors = std::move(factors);
        settleDead();
        factors = std::move(m_result.factors);
    }

    BalanceResult run() {
        findDead();
        const int most = m_options.steps < 0 ? kMaxPasses : m_options.steps;
        m_result.converged = m_options.steps >= 0;
        for (m_result.passes = 0; m_result.passes < most; ++m_result.passes) {
            if (pass() > kConvergedChange || m_options.steps >= 0) continue;
            m_result.converged = true;
            break;
        }
        if (most > 0) settleDead();
        return std::move(m_result);
    }

  private:
    /// Returns the largest relative change of a factor.
    double pass() {
        double change = 0;
        for (std::size_t g = 0; g < m_groups.size(); ++g)
            if (m_enabled[g]) change = std::max(change, step(g));
        return change;
    }

    /// Runs after the live channels, whose final ranges determine how far a dead channel has to shrink.
    void settleDead() {
        constexpr int kPasses = 50;
        m_onlyDead = true;
        for (int done = 0; done < kPasses && pass() > kConvergedChange; ++done) {
        }
    }

    LayerRanges& layer(NodeId id) {
        const auto found = m_layers.find(id);
        if (found != m_layers.end()) return found->second;
        const auto layout = layoutOf(m_graph, id);
        LayerRanges ranges(*layout);
        const auto weight = m_graph.constantOf(m_graph.node(id).input(1))->floats();
        const std::size_t cells = ranges.channels.first() * ranges.channels.second();
        const std::size_t kernel = cells == 0 ? 0 : weight.size() / cells;
        ranges.kernelMax.assign(cells, 0.0f);
        for (std::size_t i = 0; i < cells; ++i)
            for (std::size_t k = 0; k < kernel; ++k)
                ranges.kernelMax[i] = std::max(ranges.kernelMax[i], std::fabs(weight[i * kernel + k]));
        if (const Constant* bias = m_graph.constantOf(m_graph.node(id).input(2)))
            ranges.bias.assign(bias->floats().begin(), bias->floats().end());
        return m_layers.emplace(id, std::move(ranges)).first->second;
    }

    double factor(std::size_t group, std::size_t channel) const {
        return group == kNoGroup ? 1.0 : m_result.factors[group][channel];
    }

    /// Returns the factors of a group, [count]; all 1 without a group.
    std::vector<double> factorsOf(std::size_t group, std::size_t count) const {
        return group == kNoGroup ? std::vector<double>(count, 1.0) : m_result.factors[group];
    }

    void raiseOutputs(LayerRanges& layer, std::vector<double>& ranges) const {
        std::vector<double> own(ranges.size(), 0.0);
        const WeightChannels& at = layer.channels;
        raiseLargest(layer, layer.largestOfOutputs, at.outputFirst(), factorsOf(layer.before, layer.inputs),
                     own, [](double k, double f) { return k * f; });
        if (m_options.appendBias)
            for (std::size_t o = 0; o < layer.bias.size(); ++o)
                own[o] = std::max(own[o], std::fabs(static_cast<double>(layer.bias[o])) / 2);
        for (std::size_t o = 0; o < own.size(); ++o)
            ranges[o] = std::max(ranges[o], own[o] / factor(layer.after, o));
    }

    void raiseInputs(LayerRanges& layer, std::vector<double>& ranges) const {
        std::vector<double> own(ranges.size(), 0.0);
        const WeightChannels& at = layer.channels;
        raiseLargest(layer, layer.largestOfInputs, !at.outputFirst(), factorsOf(layer.after, layer.outputs),
                     own, [](double k, double f) { return k / f; });
        for (std::size_t i = 0; i < own.size(); ++i)
            ranges[i] = std::max(ranges[i], own[i] * factor(layer.before, i));
    }

    /// Like raise() with an `own` of zeros, but reads only the candidates while they cover the factors.
    template <typename Combine>
    void raiseLargest(const LayerRanges& layer, NestedCandidates& candidates, bool rowsAreOwn,
                      const std::vector<double>& factors, std::vector<double>& own, Combine combine) const {
        auto& [wide, close] = candidates;
        if (!wide.cover(factors)) {
            raise(layer, rowsAreOwn, factors, own, combine);
            if (m_options.steps == 1) return;  // the candidates would not be read often enough to pay off
            collect(layer, rowsAreOwn, factors, own, combine, wide);
            close.factors.clear();
            return;
        }
        const bool onlyClose = close.cover(factors);
        for (const auto& [channel, other, k] : onlyClose ? close.entries : wide.entries) {
            const double value = combine(static_cast<double>(k), factors[other]);
            own[channel] = own[channel] < value ? value : own[channel];
        }
        if (onlyClose) return;
        close.start(factors);
        for (const Candidates::Entry& entry : wide.entries)
            close.offer(entry, combine(static_cast<double>(entry.k), factors[entry.other]),
                        own[entry.channel]);
    }

    template <typename Combine>
    static void collect(const LayerRanges& layer, bool rowsAreOwn, const std::vector<double>& factors,
                        const std::vector<double>& own, Combine combine, Candidates& candidates) {
        candidates.start(factors);
        const WeightChannels& at = layer.channels;
        const float* k = layer.kernelMax.data();
        for (std::size_t a = 0; a < at.first(); ++a)
            for (std::size_t b = 0; b < at.second(); ++b, ++k) {
                const std::size_t second = at.otherStart(a) + b;
                const std::size_t channel = rowsAreOwn ? a : second, other = rowsAreOwn ? second : a;
                candidates.offer({static_cast<std::uint32_t>(channel), static_cast<std::uint32_t>(other), *k},
                                 combine(static_cast<double>(*k), factors[other]), own[channel]);
            }
    }

    /// Sets own[channel] to the largest combine(K, factor) over the channel's K, unless it is larger already.
    /// `rowsAreOwn`: the channels of `own` run along the first axis of K and those of `factors` along the
    /// second; otherwise the reverse. Written in a form that compilers vectorize.
    template <typename Combine>
    static void raise(const LayerRanges& layer, bool rowsAreOwn, const std::vector<double>& factors,
                      std::vector<double>& own, Combine combine) {
        const WeightChannels& at = layer.channels;
        const std::size_t count = at.second();
        const float* k = layer.kernelMax.data();
        for (std::size_t a = 0; a < at.first(); ++a, k += count) {
            if (!rowsAreOwn) {
                double* to = own.data() + at.otherStart(a);
                const double f = factors[a];
                for (std::size_t b = 0; b < count; ++b) {
                    const double value = combine(static_cast<double>(k[b]), f);
                    to[b] = to[b] < value ? value : to[b];
                }
                continue;
            }
            const double* f = factors.data() + at.otherStart(a);
            constexpr std::size_t kLanes = 8;
            double best[kLanes] = {};
            std::size_t b = 0;
            for (; b + kLanes <= count; b += kLanes)
                for (std::size_t lane = 0; lane < kLanes; ++lane) {
                    const double value = combine(static_cast<double>(k[b + lane]), f[b + lane]);
                    best[lane] = best[lane] < value ? value : best[lane];
                }
            for (; b < count; ++b) best[0] = std::max(best[0], combine(static_cast<double>(k[b]), f[b]));
            for (const double value : best) own[a] = std::max(own[a], value);
        }
    }

    void rangesOf(std::size_t g, std::vector<double>& heads, std::vector<double>& tails) {
        heads.assign(m_groups[g].channels, 0.0);
        tails.assign(m_groups[g].channels, 0.0);
        for (const NodeId id : m_groups[g].heads) raiseOutputs(m_layers.at(id), heads);
        for (const NodeId id : m_groups[g].tails) raiseInputs(m_layers.at(id), tails);
    }

    /// Uses the current weights, so that the result does not depend on the order of the groups.
    void findDead() {
        std::vector<double> heads, tails;
        for (std::size_t g = 0; g < m_groups.size(); ++g) {
            m_dead.emplace_back(m_groups[g].channels, false);
            m_result.deadChannels.push_back(0);
            if (!m_enabled[g]) continue;
            rangesOf(g, heads, tails);
            const double head = heads.empty() ? 0 : *std::max_element(heads.begin(), heads.end());
            const double tail = tails.empty() ? 0 : *std::max_element(tails.begin(), tails.end());
            for (std::size_t c = 0; c < heads.size(); ++c) {
                const bool alive = heads[c] > head * m_options.dead && tails[c] > tail * m_options.dead &&
                                   std::isfinite(heads[c]) && std::isfinite(tails[c]);
                m_dead[g][c] = !alive;
                m_result.deadChannels[g] += alive ? 0 : 1;
            }
        }
    }

    /// Like pass(), for one group.
    double step(std::size_t g) {
        std::vector<double> heads, tails;
        rangesOf(g, heads, tails);
        double change = 0, head = 0, tail = 0;  // the largest over live channels
        for (std::size_t c = 0; c < heads.size(); ++c) {
            if (m_dead[g][c]) continue;
            head = std::max(head, heads[c]);
            tail = std::max(tail, tails[c]);
        }
        for (std::size_t c = 0; c < heads.size(); ++c) {
            if (m_dead[g][c] != m_onlyDead) continue;
            const double ratio =
                m_dead[g][c] ? shrinkDead(heads[c], tails[c], head, tail) : std::sqrt(heads[c] / tails[c]);
            const double before = m_result.factors[g][c];
            const double next = std::clamp(before * ratio, 1 / m_options.clamp, m_options.clamp);
            m_result.factors[g][c] = next;
            change = std::max(change, std::fabs(next / before - 1));
        }
        return change;
    }

    static double shrinkDead(double head, double tail, double liveHead, double liveTail) {
        if (!(liveHead > 0 && liveTail > 0) || !std::isfinite(head) || !std::isfinite(tail)) return 1;
        if (tail > liveTail && head < liveHead) return std::max(liveTail / tail, head / liveHead);
        if (head > liveHead && tail < liveTail)
            return tail > 0 ? std::min(head / liveHead, liveTail / tail) : head / liveHead;
        return 1;
    }

    const Graph& m_graph;
    const std::vector<ScaleGroup>& m_groups;
    const std::vector<bool>& m_enabled;
    const BalanceOptions& m_options;
    std::map<NodeId, LayerRanges> m_layers;
    std::vector<std::vector<bool>> m_dead;
    bool m_onlyDead = false;
    BalanceResult m_result;
};

}  // namespace

BalanceResult balanceRanges(const Graph& graph, const std::vector<ScaleGroup>& groups,
                            const std::vector<bool>& enabled, const BalanceOptions& options) {
    return Balancer(graph, groups, enabled, options).run();
}

void settleDeadChannels(const Graph& graph, const std::vector<ScaleGroup>& groups,
                        const std::vector<std::vector<bool>>& dead,
                        std::vector<std::vector<double>>& factors) {
    const BalanceOptions options;
    Balancer(graph, groups, std::vector<bool>(groups.size(), true), options).settle(dead, factors);
}

}  // namespace quantloupe
