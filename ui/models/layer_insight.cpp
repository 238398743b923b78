// SPDX-License-Identifier: Apache-2.0
#include "models/layer_insight.h"

#include <algorithm>

#include "base/error.h"

namespace quantloupe::ui {

namespace {

void findPartners(const Prepared& prepared, NodeId node, LayerInsight& insight) {
    for (const EqualizationSet& set : prepared.sets) {
        const auto here = std::ranges::find(set.layers, node);
        if (here == set.layers.end()) continue;
        EqualizationPartners partners;
        partners.nodes = set.layers;
        partners.enabled = set.enabled;
        for (const NodeId id : set.layers) partners.layers.push_back(prepared.source->node(id).name);
        bool any = false;
        for (const auto& factors : set.factors)
            for (const float factor : factors) {
                partners.lowest = any ? std::min<double>(partners.lowest, factor) : factor;
                partners.highest = any ? std::max<double>(partners.highest, factor) : factor;
                any = true;
            }
        const auto place = static_cast<std::size_t>(here - set.layers.begin());
        if (insight.factors.empty() && set.enabled && place < set.factors.size())
            insight.factors = set.factors[place];
        insight.partners.push_back(std::move(partners));
    }
    // A junction may have several heads; its factors apply to each of them.
    for (const Junction& junction : prepared.junctions)
        if (insight.factors.empty() && junction.enabled && std::ranges::count(junction.heads, node) > 0)
            insight.factors = junction.factors;
}

ConstantPtr weightOf(const Graph& graph, NodeId node) {
    if (!node.valid() || graph.node(node).inputs.size() < 2) return nullptr;
    const TensorId weight = graph.node(node).inputs[1];
    return weight.valid() ? graph.tensor(weight).constant : nullptr;
}

LayerInsight look(Session& session, const QuantizationConfig& config, NodeId node,
                  const CancelToken& cancel) {
    LayerInsight insight{node, config, {}, {}, {}, {}, {}, {}};
    const auto prepared = session.prepare(config);
    findPartners(*prepared, node, insight);
    insight.before = weightOf(*prepared->source, node);
    insight.after = weightOf(*prepared->graph, prepared->layerMappings[node.index()].prepared);
    try {
        insight.details = layerDetails(session, config, session.graph().node(node).name, 64, cancel);
    } catch (const Cancelled&) {
        throw;
    } catch (const std::exception& error) {
        insight.refusal = QString::fromUtf8(error.what());
    }
    return insight;
}

}  // namespace

LayerInsightModel::LayerInsightModel(Document* document, QObject* parent)
    : QObject(parent), m_document(document) {
    connect(&m_delay, &QTimer::timeout, this, &LayerInsightModel::query);
    connect(document, &Document::selectionChanged, this, &LayerInsightModel::plan);
    connect(document, &Document::evaluationFinished, this, &LayerInsightModel::plan);
    connect(document, &Document::configChanged, this, &LayerInsightModel::changed);
    connect(document, &Document::evaluationChanged, this, [this] {  // it may have been cancelled
        if (!insight()) Q_EMIT changed();
    });
    // What other work, for example an export, has cancelled is repeated afterwards.
    connect(document->job(), &EvaluationJob::queriesDropped, this, [this](bool byOtherWork) {
        m_queryAgain = std::exchange(m_querying, false) && byOtherWork;
        Q_EMIT changed();
    });
    connect(document->job(), &EvaluationJob::busyChanged, this, [this](bool busy) {
        if (!busy && std::exchange(m_queryAgain, false) && !m_document->accuracyStale()) plan();
    });
    const auto forget = [this] {
        m_insight = nullptr;
        Q_EMIT changed();
    };
    connect(document, &Document::modelChanged, this, forget);
    connect(document, &Document::dataChanged, this, [this, forget] {
        forget();
        plan();  // no evaluation follows if the new data cannot be read
    });
}

const LayerInsight* LayerInsightModel::insight() const {
    return m_insight && m_insight->node == m_document->current() ? m_insight.get() : nullptr;
}

bool LayerInsightModel::stale() const {
    return m_insight && !haveSameResults(m_insight->config, m_document->config());
}

void LayerInsightModel::setWanted(bool wanted) {
    if (wanted == m_wanted) return;
    m_wanted = wanted;
    if (wanted) plan();
}

void LayerInsightModel::plan() {
    m_document->job()->dropQuery(QuerySlot::LayerDetails);
    m_querying = m_wanted && m_document->current().valid();
    if (m_querying) m_delay.start();
    Q_EMIT changed();
}

void LayerInsightModel::query() {
    const NodeId node = m_document->current();
    const bool known = m_insight && m_insight->node == node && m_insight->config == m_document->config();
    // During an evaluation: queried again afterwards.
    if (!m_wanted || !node.valid() || m_document->selection().size() != 1 || known ||
        !m_document->evaluation() || m_document->evaluating()) {
        m_querying = false;
        Q_EMIT changed();
        return;
    }
    m_document->job()->query(QuerySlot::LayerDetails, [this, node, config = m_document->config()](
                                                          Session& session, const CancelToken& cancel) {
        auto insight = std::make_shared<const LayerInsight>(look(session, config, node, cancel));
        return [this, insight] {
            m_insight = insight;
            m_querying = false;
            Q_EMIT changed();
        };
    });
}

}  // namespace quantloupe::ui
