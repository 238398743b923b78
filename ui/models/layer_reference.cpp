// SPDX-License-Identifier: Apache-2.0
#include "models/layer_reference.h"

#include <algorithm>

namespace quantloupe::ui {

LayerReference::LayerReference(Document* document, QObject* parent) : QObject(parent), m_document(document) {
    connect(document, &Document::modelChanged, this, [this] {
        m_measured.clear();
        Q_EMIT changed();
    });
    connect(document, &Document::evaluationFinished, this, &LayerReference::remember);
    connect(document, &Document::historyChanged, this, &LayerReference::changed);
}

void LayerReference::remember() {
    const EvaluationPtr evaluation = m_document->evaluation();
    if (!evaluation || !evaluation->complete) return;
    if (m_graph != m_document->graph()) m_measured.clear();
    m_graph = m_document->graph();
    std::string version = evaluation->version.hex();
    std::erase_if(m_measured, [&](const Measured& m) { return m.version == version; });
    m_measured.push_back({std::move(version), evaluation});
    const std::string& baseline = m_document->history().baseline();
    if (m_measured.size() > kMost)
        m_measured.erase(m_measured.front().version == baseline ? m_measured.begin() + 1 : m_measured.begin());
    Q_EMIT changed();
}

const LayerReference::Measured* LayerReference::find(const std::string& version) const {
    const auto found = std::ranges::find(m_measured, version, &Measured::version);
    return found == m_measured.end() ? nullptr : &*found;
}

const LayerReference::Measured* LayerReference::reference() const {
    if (const MeasuredConfig* baseline = m_document->history().baselineEntry()) return find(baseline->version);
    const EvaluationPtr evaluation = m_document->evaluation();
    const std::string now = evaluation ? evaluation->version.hex() : std::string();
    for (auto measured = m_measured.rbegin(); measured != m_measured.rend(); ++measured)
        if (measured->version != now) return &*measured;
    return nullptr;
}

const std::vector<LayerResult>* LayerReference::layers() const {
    const Measured* measured = reference();
    return measured ? &measured->evaluation->layers : nullptr;
}

QString LayerReference::name() const {
    if (!reference()) return {};
    return m_document->history().baselineEntry() ? tr("the baseline") : tr("the configuration before");
}

}  // namespace quantloupe::ui
