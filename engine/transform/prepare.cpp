// SPDX-License-Identifier: Apache-2.0
// Folds moved constants and simplifies; then in AIMET's order: folds all batch norms, replaces Clips, scales
// all sets, then folds high biases over the same sets; then gives every layer its own constants; finally
// inserts the NPU's own operators. Cost: O(nodes + weights); unchanged constants are shared with the source.
#include "transform/prepare.h"

#include <algorithm>
#include <map>

#include "base/error.h"
#include "base/short_text.h"
#include "model/clip_bounds.h"
#include "model/operator_traits.h"
#include "model/quantized_model.h"
#include "transform/equalize.h"
#include "transform/fold_batch_norm.h"
#include "transform/npu_operators.h"
#include "transform/own_constants.h"
#include "transform/replace_relu6.h"
#include "transform/simplify.h"

namespace quantloupe {
namespace {

Version versionOf(const Graph& source, const TransformOptions& options, const std::vector<bool>& excluded) {
    VersionBuilder builder;
    builder.add(source.version()).add(options.simplify).add(options.foldBatchNorm);
    builder.add(options.skipFolding.size());
    for (const std::string& name : options.skipFolding) builder.add(std::string_view(name));
    builder.add(options.replaceRelu6).add(options.equalization.profile).add(options.equalization.steps);
    builder.add(options.equalization.off.size());
    for (const auto& set : options.equalization.off) {
        builder.add(set.size());
        for (const std::string& name : set) builder.add(std::string_view(name));
    }
    builder.add(options.highBiasFold);
    builder.add(options.npuOperators.averagePool)
        .add(options.npuOperators.leakyRelu)
        .add(options.npuOperators.sigmoid);
    builder.add(options.equalization.appendBias).add(options.equalization.weightThreshold);
    builder.add(options.equalization.totalLayerDiffThreshold);
    builder.add(excluded.size());
    for (const bool one : excluded) builder.add(one);
    return builder.finish();
}

void checkNames(const Graph& source, const std::vector<std::string>& names, std::string_view where) {
    for (const std::string& name : names)
        if (!source.findNode(name))
            failInput(
                "transforms.{} names the layer '{}', which the model does not have; correct or remove it",
                where, name);
}

class Preparation {
  public:
    Preparation(GraphPtr source, const TransformOptions& options, const std::vector<bool>& skipped,
                const SimplifyResult* constants, bool joined)
        : m_options(options), m_constants(constants), m_joined(joined) {
        if (options.equalization.excludeSkipped) m_excluded = skipped;
        checkNames(*source, options.skipFolding, "skip_folding");
        for (const auto& set : options.equalization.off) checkNames(*source, set, "equalization.off");
        m_result.version = VersionBuilder().add(versionOf(*source, options, m_excluded)).add(joined).finish();
        m_result.source = source;
        m_result.graph = std::move(source);
        const std::size_t nodes = m_result.graph->nodeCount();
        m_result.layerMappings.resize(nodes);
        m_statistics.resize(nodes);
        for (std::size_t i = 0; i < nodes; ++i) {
            m_result.layerMappings[i].prepared = NodeId(i);
            m_result.sourceOf.emplace_back(i);
        }
    }

    Prepared run() {
        if (const std::size_t count = quantizationOperators(*m_result.source); count > 0) {
            m_result.notices.push_back(fmt::format(
                "the model is quantized already ({}): it is evaluated as it is, and settings have no "
                "effect; to tune it, open the original float model",
                counted(count, "quantization operator")));
            m_result.outputStatistics = std::move(m_statistics);
            m_result.transformed = m_result.graph;
            return std::move(m_result);
        }
        take(m_constants != nullptr ? *m_constants : foldMovedConstants(m_result.source));
        if (m_options.simplify) {
            SimplifyResult simple = simplify(m_result.graph);
            m_result.removedNodes = simple.count;
            take(std::move(simple));
        } else if (m_joined) {
            take(joinActivations(m_result.graph));
        }
        if (m_options.foldBatchNorm) fold();
        replace();
        if (m_options.equalization.profile != EqualizationProfile::Off) {
            equalizeSets();
        } else if (m_options.highBiasFold) {
            m_result.notices.emplace_back(
                "high_bias_fold has no effect while equalization is off: it needs the equalization groups");
        }
        // Not earlier: equalization rejects weights that layers share, as AIMET does. Ids do not change.
        m_result.graph = withOwnConstants(m_result.graph);
        m_result.outputStatistics = std::move(m_statistics);
        if (m_options.npuOperators != NpuOperators{})
            m_result = withNpuOperators(std::move(m_result), m_options.npuOperators, m_excluded);
        m_result.transformed = m_result.graph;
        return std::move(m_result);
    }

  private:
    /// Replaces m_result.graph with the simplified graph that was computed from it.
    void take(SimplifyResult next) {
        const std::vector<NodeId> before = std::move(m_result.sourceOf);
        m_result.sourceOf.assign(next.graph->nodeCount(), NodeId());
        m_statistics.assign(next.graph->nodeCount(), {});
        for (std::size_t i = 0; i < next.simplified.size(); ++i) {
            const NodeId source = before[i];
            m_result.layerMappings[source.index()] = {next.simplified[i], {}, std::move(next.notes[i])};
            if (next.simplified[i].valid()) m_result.sourceOf[next.simplified[i].index()] = source;
        }
        m_result.graph = std::move(next.graph);
    }

    void fold() {
        FoldResult folded = foldBatchNorms(m_result.graph, m_options.skipFolding);
        const std::vector<NodeId> before = std::move(m_result.sourceOf);
        m_result.graph = folded.graph;
        m_result.foldedBatchNorms = folded.count;
        m_result.sourceOf.assign(folded.graph->nodeCount(), NodeId());
        m_statistics.assign(folded.graph->nodeCount(), {});
        std::map<std::string, std::vector<NodeId>> noted;  // layers by their note
        for (std::size_t i = 0; i < m_result.layerMappings.size(); ++i) {
            LayerMapping& mapping = m_result.layerMappings[i];
            if (!mapping.prepared.valid()) continue;
            const std::size_t was = mapping.prepared.index();
            const NodeId host = folded.foldedInto[was];
            mapping = {folded.prepared[was], host.valid() ? before[host.index()] : NodeId(),
                       std::move(folded.notes[was])};
            if (!mapping.note.empty()) noted[mapping.note].push_back(NodeId(i));
            if (!mapping.prepared.valid()) continue;
            m_result.sourceOf[mapping.prepared.index()] = NodeId(i);
            m_statistics[mapping.prepared.index()] = std::move(folded.statistics[was]);
        }
        std::vector<std::pair<NodeId, std::string>> notices;  // in graph order
        for (const auto& [note, nodes] : noted) {
            const std::string& first = m_result.source->node(nodes.front()).name;
            const std::string others =
                nodes.size() == 1 ? "" : " and " + counted(nodes.size() - 1, "other layer");
            notices.emplace_back(nodes.front(), fmt::format("'{}'{} {}", first, others, note));
        }
        std::ranges::sort(notices);
        for (auto& [node, text] : notices) m_result.notices.push_back(std::move(text));
    }

    void replace() {
        const bool tell = m_options.replaceRelu6 == ReplaceRelu6::None &&
                          m_options.equalization.profile != EqualizationProfile::Off;
        if (tell) {
            const auto could = findRelu6(*m_result.graph, ReplaceRelu6::Between);
            if (!could.empty())
                m_result.notices.push_back(
                    fmt::format("equalization stops at {} Clip(0, 6) between convolutions; "
                                "replace_relu6 \"between\" replaces them by Relu",
                                could.size()));
        }
        if (m_options.replaceRelu6 == ReplaceRelu6::None) return;
        const auto clips = findRelu6(*m_result.graph, m_options.replaceRelu6);
        for (std::size_t i = 0; i < m_result.graph->nodeCount(); ++i) noteKeptClip(NodeId(i));
        for (const NodeId id : clips) mappingOf(id).note = "Clip(0, 6) became Relu";
        m_result.replacedClips = clips.size();
        const std::size_t kept = clipsThatAimetLeaves(*m_result.graph, clips);
        if (kept > 0 && m_options.equalization.profile == EqualizationProfile::Aimet)
            m_result.notices.push_back(
                fmt::format("{} of {} Clip(0, 6) that became Relu have their bounds as initializers, as "
                            "onnxsim writes them: AIMET itself recognizes "
                            "only Constant nodes, keeps these Clips, and equalizes fewer layers",
                            kept, clips.size()));
        m_result.graph = replaceByRelu(m_result.graph, clips);
    }

    /// Notes why a Clip is kept. Replaced Clips get another note later.
    void noteKeptClip(NodeId id) {
        const Node& node = m_result.graph->node(id);
        if (!isOp(node, "Clip")) return;
        const auto bounds = clipBounds(*m_result.graph, node);
        if (!bounds) {
            mappingOf(id).note = "stays a Clip: its bounds are computed at run time";
        } else if (bounds->low != 0 || bounds->high != 6) {
            mappingOf(id).note =
                fmt::format("stays a Clip: its bounds are {:g} and {:g}", bounds->low, bounds->high);
        } else {
            mappingOf(id).note = "stays a Clip: not between two convolutions";
        }
    }

    void equalizeSets() {
        std::vector<bool> excluded;
        if (!m_excluded.empty())
            for (const NodeId source : m_result.sourceOf) excluded.push_back(m_excluded[source.index()]);
        EqualizeResult equalized = equalize(m_result.graph, m_options.equalization, m_options.highBiasFold,
                                            m_statistics, excluded, m_result.notices);
        m_result.graph = equalized.graph;
        m_result.foldedHighBias = equalized.foldedHighBias;
        m_statistics = std::move(equalized.statistics);
        for (EqualizedSet& set : equalized.sets) {
            EqualizationSet sourceSet;
            for (const NodeId id : set.set.layers) sourceSet.layers.push_back(m_result.sourceOf[id.index()]);
            sourceSet.factors = std::move(set.factors);
            sourceSet.activationBetween = std::move(set.set.activationBetween);
            sourceSet.enabled = set.enabled;
            m_result.sets.push_back(std::move(sourceSet));
        }
        for (Junction& junction : equalized.junctions) {
            for (NodeId& id : junction.heads) id = m_result.sourceOf[id.index()];
            for (NodeId& id : junction.tails) id = m_result.sourceOf[id.index()];
        }
        m_result.junctions = std::move(equalized.junctions);
    }

    LayerMapping& mappingOf(NodeId prepared) {
        return m_result.layerMappings[m_result.sourceOf[prepared.index()].index()];
    }

    const TransformOptions& m_options;
    const SimplifyResult* m_constants;
    bool m_joined;
    Prepared m_result;
    std::vector<bool> m_excluded;                ///< one flag per source node; empty: none
    std::vector<OutputStatistics> m_statistics;  ///< one per node of m_result.graph
};

}  // namespace

Prepared prepare(GraphPtr source, const TransformOptions& options, const std::vector<bool>& skipped,
                 const SimplifyResult* constants, bool joined) {
    return Preparation(std::move(source), options, skipped, constants, joined).run();
}

}  // namespace quantloupe
