// SPDX-License-Identifier: Apache-2.0
// Equalization as in AMD Quark.
//
// Terms: a pass applies all patterns in order (transform/quark_patterns.h) and then repeats the first one;
// steps counts passes. After each pass, d is the sum over all layers of mean |new - old|: a pass with d at
// most total_layer_diff_threshold is the last, whatever the number of steps, and so is the 20th consecutive
// pass with the same d. A triple is scaled as in AIMET, a pair as in Quark (transform/quark_pair.h). Source:
// Quark 0.11.2, determined by measurement; the weights equal Quark's. Cost: passes times O(weights).
// Limitation: on nearly dead channels, rounding keeps d above the threshold for hundreds of passes. Unlike
// Quark, this implementation avoids factors of up to 1e16 for dead channels.
#include <fmt/format.h>

#include <map>

#include "transform/adaptive_stop.h"
#include "transform/balance_ranges.h"
#include "transform/cross_layer_scaling.h"
#include "transform/dead_channels.h"
#include "transform/equalize_profiles.h"
#include "transform/quark_pair.h"
#include "transform/quark_patterns.h"
#include "transform/scalable_layer.h"

namespace quantloupe {
namespace {

using Edge = std::pair<NodeId, NodeId>;

class QuarkRun {
  public:
    QuarkRun(WeightEditor& weights, const EqualizationOptions& options)
        : m_weights(weights), m_options(options) {}

    std::vector<EqualizedSet> run(const std::vector<LayerSet>& patterns, std::vector<std::string>& notices) {
        for (const LayerSet& pattern : patterns) addJunctions(pattern);
        switchOff(notices);
        for (const LayerSet& pattern : patterns)
            if (enabled(pattern)) m_patterns.push_back(&pattern);
        if (!m_patterns.empty()) {
            passes(notices);
            restoreDead(notices);
        }
        return std::move(m_junctions);
    }

  private:
    EqualizedSet& junction(const LayerSet& pattern, std::size_t j) {
        return m_junctions[m_index.at({pattern.layers[j], pattern.layers[j + 1]})];
    }

    void addJunctions(const LayerSet& pattern) {
        for (std::size_t j = 0; j + 1 < pattern.layers.size(); ++j) {
            const Edge edge{pattern.layers[j], pattern.layers[j + 1]};
            if (!m_index.emplace(edge, m_junctions.size()).second) continue;
            EqualizedSet set;
            set.set = {{edge.first, edge.second}, {pattern.activationBetween[j]}};
            set.factors.emplace_back(
                static_cast<std::size_t>(layoutOf(m_weights.graph(), edge.first)->outputs()), 1.0f);
            m_junctions.push_back(std::move(set));
        }
    }

    /// Disables the junctions between the consecutive layers of each entry of options.off, in pairs and
    /// triples.
    void switchOff(std::vector<std::string>& notices) {
        std::vector<bool> used(m_options.off.size(), false);
        const Graph& graph = m_weights.graph();
        for (std::size_t i = 0; i < used.size(); ++i)
            for (EqualizedSet& set : m_junctions)
                for (std::size_t n = 0; n + 1 < m_options.off[i].size(); ++n) {
                    if (graph.node(set.set.layers[0]).name != m_options.off[i][n]) continue;
                    if (graph.node(set.set.layers[1]).name != m_options.off[i][n + 1]) continue;
                    set.enabled = false;
                    used[i] = true;
                }
        reportUnusedOff(m_options.off, used, notices);
    }

    bool enabled(const LayerSet& pattern) {
        for (std::size_t j = 0; j + 1 < pattern.layers.size(); ++j)
            if (!junction(pattern, j).enabled) return false;
        return true;
    }

    void apply(const LayerSet& pattern) {
        if (pattern.layers.size() == 3) {
            const auto factors = scaleSet(m_weights, pattern);
            for (std::size_t j = 0; j < 2; ++j)
                for (std::size_t c = 0; c < factors[j].size(); ++c)
                    junction(pattern, j).factors[0][c] *= factors[j][c];
            return;
        }
        const auto s = scaleQuarkPair(m_weights.layer(pattern.layers[0]), m_weights.layer(pattern.layers[1]),
                                      {m_options.appendBias, m_options.weightThreshold});
        for (std::size_t c = 0; c < s.size(); ++c) junction(pattern, 0).factors[0][c] /= s[c];
    }

    void passes(std::vector<std::string>& notices) {
        for (const LayerSet* pattern : m_patterns)
            for (const NodeId id : pattern->layers) m_weights.layer(id);
        AdaptiveStop stop(m_options.totalLayerDiffThreshold);
        std::vector<std::vector<float>> before;
        for (int pass = 0; m_options.steps < 0 || pass < m_options.steps; ++pass) {
            if (pass == kMaxPasses) {
                notices.push_back(notConvergedNotice(pass));
                return;
            }
            keepWeights(m_weights, before);
            for (const LayerSet* pattern : m_patterns) apply(*pattern);
            apply(*m_patterns.front());
            if (stop.after(changeSince(before, m_weights))) return;
        }
    }

    /// Returns the dead channels to which Quark gives extreme factors, which would inflate their biases by as
    /// much. In a triple, a channel of the depthwise layer is extreme on both sides if it is on one, because
    /// the triple scales both by the negligible range.
    std::vector<std::vector<bool>> extremeChannels() const {
        std::vector<std::vector<bool>> dead;
        for (const EqualizedSet& set : m_junctions)
            dead.push_back(deadChannels(m_weights.graph(), set.set.layers[0], set.set.layers[1]));
        shareInTriples(dead);
        for (std::size_t j = 0; j < dead.size(); ++j)
            for (std::size_t c = 0; c < dead[j].size(); ++c)
                dead[j][c] = dead[j][c] && isExtreme(m_junctions[j].factors[0][c]);
        shareInTriples(dead);
        return dead;
    }

    void shareInTriples(std::vector<std::vector<bool>>& flags) const {
        for (const LayerSet* pattern : m_patterns) {
            if (pattern->layers.size() < 3) continue;
            std::vector<bool>& first = flags[m_index.at({pattern->layers[0], pattern->layers[1]})];
            std::vector<bool>& second = flags[m_index.at({pattern->layers[1], pattern->layers[2]})];
            for (std::size_t c = 0; c < first.size(); ++c) first[c] = second[c] = first[c] || second[c];
        }
    }

    void restoreDead(std::vector<std::string>& notices) {
        const auto dead = extremeChannels();
        std::vector<ScaleGroup> groups;
        std::vector<std::vector<double>> factors;
        std::size_t count = 0;
        for (std::size_t j = 0; j < m_junctions.size(); ++j) {
            const std::vector<float>& own = m_junctions[j].factors[0];
            ScaleGroup& group = groups.emplace_back();
            group.heads = {m_junctions[j].set.layers[0]};
            group.tails = {m_junctions[j].set.layers[1]};
            group.channels = own.size();
            factors.emplace_back(own.begin(), own.end());
            for (std::size_t c = 0; c < own.size(); ++c) {
                if (!dead[j][c]) continue;
                factors[j][c] = 1;
                ++count;
            }
        }
        if (count == 0) return;
        settleDeadChannels(m_weights.graph(), groups, dead, factors);
        std::map<NodeId, LayerFactors> layers;
        for (std::size_t j = 0; j < m_junctions.size(); ++j) {
            std::vector<float>& own = m_junctions[j].factors[0];
            for (std::size_t c = 0; c < own.size(); ++c)
                if (dead[j][c]) own[c] = static_cast<float>(factors[j][c]);
            LayerFactors& head = layers[m_junctions[j].set.layers[0]];
            LayerFactors& tail = layers[m_junctions[j].set.layers[1]];
            head.after = tail.before = own;
            head.restoreAfter = tail.restoreBefore = dead[j];
        }
        restoreChannels(m_weights, layers);
        notices.push_back(fmt::format(
            "{} dead channel{} scaled only as far as the other channels require: Quark itself gives them "
            "factors beyond 1e4, and biases that no quantizer can represent",
            count, count == 1 ? " is" : "s are"));
    }

    WeightEditor& m_weights;
    const EqualizationOptions& m_options;
    std::vector<const LayerSet*> m_patterns;  ///< the patterns that are applied
    std::vector<EqualizedSet> m_junctions;
    std::map<Edge, std::size_t> m_index;
};

}  // namespace

std::vector<EqualizedSet> scaleAsQuark(WeightEditor& weights, const EqualizationOptions& options,
                                       const std::vector<bool>& excluded, std::vector<std::string>& notices) {
    return QuarkRun(weights, options).run(findQuarkPatterns(weights.graph(), excluded, notices), notices);
}

}  // namespace quantloupe
