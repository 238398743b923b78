// SPDX-License-Identifier: Apache-2.0
// Equalization over every junction where it is exact.
//
// Junctions: transform/scale_groups.h. Factors: transform/balance_ranges.h; they are computed from ranges
// alone, so each weight is multiplied and rounded only once, and a layer without an enabled junction stays
// bit-identical. Cost: O(weights) in addition to the balancing. Limitation: only the weights are equalized;
// that a wider activation range increases its quantization error is not considered.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "transform/balance_ranges.h"
#include "transform/equalize_profiles.h"
#include "transform/scalable_layer.h"
#include "transform/scale_groups.h"
#include "transform/weight_channels.h"

namespace quantloupe {
namespace {

/// Returns the heads, then the tails that are not heads: the order in which equalization.off lists them.
std::vector<NodeId> membersOf(const ScaleGroup& group) {
    std::vector<NodeId> members = group.heads;
    for (const NodeId id : group.tails)
        if (std::find(group.heads.begin(), group.heads.end(), id) == group.heads.end()) members.push_back(id);
    return members;
}

class QuantloupeRun {
  public:
    QuantloupeRun(WeightEditor& weights, const EqualizationOptions& options,
                  std::vector<std::string>& notices)
        : m_weights(weights), m_graph(weights.graph()), m_options(options), m_notices(notices) {}

    ProfileResult run(const std::vector<bool>& excluded) {
        ScaleGroups found = findScaleGroups(m_graph, excluded);
        const std::vector<bool> enabled = switchedOn(found.groups);
        if (found.groups.empty()) m_notices.push_back(whyNoGroups(found));
        const BalanceResult balance =
            balanceRanges(m_graph, found.groups, enabled, {m_options.steps, m_options.appendBias});
        if (!balance.converged)
            m_notices.push_back(
                fmt::format("equalization did not converge within {} passes", balance.passes));
        reportDeadChannels(found.groups, balance);
        ProfileResult result;
        for (std::size_t g = 0; g < found.groups.size(); ++g) {
            const ScaleGroup& group = found.groups[g];
            Junction junction;
            junction.heads = group.heads;
            junction.tails = group.tails;
            junction.tensors = group.tensors;
            junction.enabled = enabled[g];
            for (const double f : balance.factors[g]) junction.factors.push_back(static_cast<float>(f));
            if (enabled[g]) scale(group, junction.factors);
            EqualizedSet set;
            set.set = {membersOf(group), {group.activation}};
            set.enabled = enabled[g];
            set.factors = {junction.factors};
            set.plain = group.plain;
            result.sets.push_back(std::move(set));
            result.junctions.push_back(std::move(junction));
        }
        applyFactors();
        return result;
    }

  private:
    std::vector<bool> switchedOn(const std::vector<ScaleGroup>& groups) {
        std::vector<bool> used(m_options.off.size(), false), enabled;
        for (const ScaleGroup& group : groups) {
            std::vector<std::string> names;
            for (const NodeId id : membersOf(group)) names.push_back(m_graph.node(id).name);
            bool on = true;
            for (std::size_t i = 0; i < used.size(); ++i) {
                if (m_options.off[i] != names) continue;
                on = false;
                used[i] = true;
            }
            enabled.push_back(on);
        }
        reportUnusedOff(m_options.off, used, m_notices);
        return enabled;
    }

    void reportDeadChannels(const std::vector<ScaleGroup>& groups, const BalanceResult& balance) {
        for (std::size_t g = 0; g < groups.size(); ++g)
            if (balance.deadChannels[g] > 0)
                m_notices.push_back(fmt::format(
                    "{} of {} channels of {} are dead and scaled only as far as the other channels require",
                    balance.deadChannels[g], groups[g].channels, namesOf(m_graph, groups[g].heads)));
    }

    void scale(const ScaleGroup& group, const std::vector<float>& factors) {
        for (const NodeId id : group.heads) m_kept[id.index()].first = factors;
        for (const NodeId id : group.tails) m_kept[id.index()].second = factors;
        for (const auto& [node, input] : group.shifts) {
            const Constant& shift = *m_graph.constantOf(m_graph.node(node).input(input));
            std::vector<float> values(shift.floats().begin(), shift.floats().end());
            for (std::size_t c = 0; c < values.size(); ++c)
                values[c] =
                    static_cast<float>(static_cast<double>(values[c]) / static_cast<double>(factors[c]));
            m_weights.setConstant(m_graph.node(node).input(input),
                                  Constant::fromFloats(shift.dims(), std::move(values)));
        }
    }

    void applyFactors() {
        for (const auto& [index, factors] : m_kept) {
            const auto& [after, before] = factors;
            EditedLayer& layer = m_weights.layer(NodeId(index));
            const WeightChannels channels(layer.layout);
            const std::size_t cells = channels.first() * channels.second();
            const std::size_t kernel = cells == 0 ? 0 : layer.weight.size() / cells;
            float* at = layer.weight.data();
            for (std::size_t a = 0; a < channels.first(); ++a)
                for (std::size_t b = 0; b < channels.second(); ++b) {
                    double factor = 1;
                    if (!before.empty()) factor *= static_cast<double>(before[channels.input(a, b)]);
                    if (!after.empty()) factor /= static_cast<double>(after[channels.output(a, b)]);
                    for (std::size_t k = 0; k < kernel; ++k, ++at)
                        *at = static_cast<float>(static_cast<double>(*at) * factor);
                }
            for (std::size_t c = 0; !after.empty() && c < layer.bias.size(); ++c)
                layer.bias[c] =
                    static_cast<float>(static_cast<double>(layer.bias[c]) / static_cast<double>(after[c]));
        }
    }

    WeightEditor& m_weights;
    const Graph& m_graph;
    const EqualizationOptions& m_options;
    std::vector<std::string>& m_notices;
    /// Factors of the outputs and of the inputs, by node.
    std::map<std::size_t, std::pair<std::vector<float>, std::vector<float>>> m_kept;
};

}  // namespace

ProfileResult equalizeEverywhere(WeightEditor& weights, const EqualizationOptions& options,
                                 const std::vector<bool>& excluded, std::vector<std::string>& notices) {
    return QuantloupeRun(weights, options, notices).run(excluded);
}

}  // namespace quantloupe
