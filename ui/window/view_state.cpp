// SPDX-License-Identifier: Apache-2.0
#include "window/view_state.h"

#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>

namespace quantloupe::ui {

ViewState::ViewState(Document* document, GraphCanvas* canvas, LayerTable* table, Bookmarks* bookmarks,
                     QDockWidget* history, QObject* parent)
    : QObject(parent),
      m_document(document),
      m_canvas(canvas),
      m_table(table),
      m_bookmarks(bookmarks),
      m_history(history) {
    document->setViewCollector([this] { return collect(); });
    connect(document, &Document::viewLoaded, this, &ViewState::restore);
}

std::string ViewState::collect() const {
    QJsonObject view;
    view[QStringLiteral("metric")] = metricKey(m_canvas->metric());
    view[QStringLiteral("filter")] = m_table->filterLine()->text();
    view[QStringLiteral("history")] = !m_history->isHidden();
    const GraphPtr graph = m_document->graph();
    QJsonArray collapsed;
    for (const std::string& name : m_document->layoutOptions().collapsed)
        collapsed.append(QString::fromStdString(name));
    if (!collapsed.isEmpty()) view[QStringLiteral("collapsed")] = collapsed;
    if (!m_bookmarks->all().empty()) view[QStringLiteral("bookmarks")] = m_bookmarks->toJson();
    QJsonArray selected;
    for (const NodeId node : m_document->selection())
        selected.append(QString::fromStdString(graph->node(node).name));
    view[QStringLiteral("selected")] = selected;
    if (m_document->current().valid())
        view[QStringLiteral("current")] = QString::fromStdString(graph->node(m_document->current()).name);
    return QJsonDocument(view).toJson(QJsonDocument::Compact).toStdString();
}

/// Ignores layers and blocks that no longer exist.
void ViewState::restore(const std::string& json) {
    const QJsonObject view = QJsonDocument::fromJson(QByteArray::fromStdString(json)).object();
    if (const auto metric = metricOfKey(view[QStringLiteral("metric")].toString()))
        m_canvas->setMetric(*metric);
    LayoutOptions options = m_document->layoutOptions();
    const QJsonArray collapsed = view[QStringLiteral("collapsed")].toArray();
    for (const auto& name : collapsed) options.collapsed.push_back(name.toString().toStdString());
    m_document->setLayoutOptions(options);
    m_bookmarks->fromJson(view[QStringLiteral("bookmarks")].toArray());
    m_table->filterLine()->setText(view[QStringLiteral("filter")].toString());
    m_history->setVisible(view[QStringLiteral("history")].toBool());
    const auto find = [this](const QJsonValue& name) {
        return m_document->graph()->findNode(name.toString().toStdString()).value_or(NodeId());
    };
    std::vector<NodeId> selected;
    const QJsonArray names = view[QStringLiteral("selected")].toArray();
    for (const auto& name : names)
        if (const NodeId node = find(name); node.valid()) selected.push_back(node);
    m_document->select(std::move(selected), find(view[QStringLiteral("current")]));
}

}  // namespace quantloupe::ui
