// SPDX-License-Identifier: Apache-2.0
#include "document/layer_reference.h"

#include <algorithm>

#include "document/document.h"

namespace quantloupe::ui {

LayerReference::LayerReference(Document* document) : m_document(document) {
    connect(document, &Document::modelChanged, this, &LayerReference::forget);
    connect(document, &Document::dataChanged, this, &LayerReference::forget);
    connect(document, &Document::metricProgramChanged, this, &LayerReference::forget);
    connect(document, &Document::evaluationFinished, this, &LayerReference::remember);
    connect(document, &Document::historyChanged, this, &LayerReference::changed);
}

void LayerReference::forget() {
    m_refused.clear();
    if (m_measured.empty()) return;
    m_measured.clear();
    Q_EMIT changed();
}

void LayerReference::remember() {
    const EvaluationPtr evaluation = m_document->evaluation();
    if (evaluation && evaluation->complete) keep(evaluation->version.hex(), evaluation);
}

void LayerReference::keep(std::string version, EvaluationPtr evaluation) {
    std::erase_if(m_measured, [&](const Measured& m) { return m.version == version; });
    m_measured.push_back({std::move(version), std::move(evaluation)});
    const std::string& baseline = m_document->history().baseline();
    if (m_measured.size() > kMost)
        m_measured.erase(m_measured.front().version == baseline ? m_measured.begin() + 1
                                                                : m_measured.begin());
    Q_EMIT changed();
}

void LayerReference::adoptBaseline(const std::string& version, EvaluationPtr evaluation) {
    if (evaluation) return keep(version, std::move(evaluation));
    m_refused = version;
    Q_EMIT changed();
}

std::optional<QuantizationConfig> LayerReference::missing() const {
    const MeasuredConfig* baseline = m_document->history().baselineEntry();
    if (!baseline || find(baseline->version) || m_refused == baseline->version) return std::nullopt;
    return baseline->config;
}

const LayerReference::Measured* LayerReference::find(const std::string& version) const {
    const auto found = std::ranges::find(m_measured, version, &Measured::version);
    return found == m_measured.end() ? nullptr : &*found;
}

const LayerReference::Measured* LayerReference::reference() const {
    if (const MeasuredConfig* baseline = m_document->history().baselineEntry())
        return find(baseline->version);
    const EvaluationPtr evaluation = m_document->evaluation();
    const std::string now = evaluation ? evaluation->version.hex() : std::string();
    for (auto measured = m_measured.rbegin(); measured != m_measured.rend(); ++measured)
        if (measured->version != now) return &*measured;
    return nullptr;
}

EvaluationPtr LayerReference::evaluation() const {
    const Measured* measured = reference();
    return measured ? measured->evaluation : nullptr;
}

const std::vector<LayerResult>* LayerReference::layers() const {
    const Measured* measured = reference();
    return measured ? &measured->evaluation->layers : nullptr;
}

const LayerResult* LayerReference::layer(NodeId node) const {
    const auto* all = layers();
    return all && node.valid() && node.index() < all->size() ? &(*all)[node.index()] : nullptr;
}

const LayerResult* LayerReference::baselineLayer(NodeId node) const {
    return m_document->history().baselineEntry() ? layer(node) : nullptr;
}

QString LayerReference::name() const {
    if (!reference()) return {};
    return m_document->history().baselineEntry() ? tr("the baseline") : tr("the previous configuration");
}

QString LayerReference::whyNone() const {
    if (reference()) return {};
    const MeasuredConfig* baseline = m_document->history().baselineEntry();
    if (!baseline) return tr("only one configuration has been evaluated so far");
    return m_refused == baseline->version
               ? tr("the baseline cannot be evaluated here: go back to it to see why")
               : tr("the baseline is being evaluated");
}

}  // namespace quantloupe::ui
