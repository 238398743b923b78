// SPDX-License-Identifier: Apache-2.0
// Projects: opening and saving them, the window's view state in them, and recovery after a crash.
#include <QFileDialog>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>

#include "style/words.h"
#include "window/main_window.h"

namespace quantloupe::ui {

namespace {

QString projectFilter() { return Words::tr("Quantloupe projects (*.quantloupe)"); }

}  // namespace

void MainWindow::chooseProject() {
    const QString path =
        QFileDialog::getOpenFileName(this, tr("Open Project"), {}, projectFilter() + tr(";;All files (*)"));
    if (path.isEmpty() || !mayDiscard()) return;
    if (!isProjectFile(path.toStdString())) {
        m_message->show(MessageKind::Error, tr("The name of a project file ends with .quantloupe."));
        return;
    }
    open({path.toStdString(), {}, {}, {}});
}

bool MainWindow::saveProject(bool askName) {
    std::filesystem::path path = m_document.projectPath();
    if (askName || path.empty()) {
        std::filesystem::path proposal = path.empty() ? m_document.model()->path : path;
        proposal.replace_extension(kProjectSuffix);
        QFileDialog dialog(this, tr("Save Project"), QString::fromStdString(proposal.parent_path().string()),
                           projectFilter());
        dialog.setAcceptMode(QFileDialog::AcceptSave);
        dialog.setDefaultSuffix(QLatin1String(kProjectSuffix + 1));  // before it asks to overwrite
        dialog.selectFile(QString::fromStdString(proposal.filename().string()));
        if (dialog.exec() != QDialog::Accepted || dialog.selectedFiles().isEmpty()) return false;
        path = dialog.selectedFiles().front().toStdString();
        if (!isProjectFile(path)) {
            m_message->show(MessageKind::Error, tr("The name of a project file must end with .quantloupe."));
            return false;
        }
    }
    return m_document.saveProject(path);
}

std::string MainWindow::collectView() const {
    QJsonObject view;
    view[QStringLiteral("metric")] = metricName(m_graph->canvas()->metric());
    view[QStringLiteral("filter")] = m_table->filterLine()->text();
    view[QStringLiteral("history")] = !m_historyDock->isHidden();
    const GraphPtr graph = m_document.graph();
    QJsonArray collapsed;
    for (const std::string& name : m_document.layoutOptions().collapsed)
        collapsed.append(QString::fromStdString(name));
    if (!collapsed.isEmpty()) view[QStringLiteral("collapsed")] = collapsed;
    if (!m_bookmarks->all().empty()) view[QStringLiteral("bookmarks")] = m_bookmarks->toJson();
    QJsonArray selected;
    for (const NodeId node : m_document.selection())
        selected.append(QString::fromStdString(graph->node(node).name));
    view[QStringLiteral("selected")] = selected;
    if (m_document.current().valid())
        view[QStringLiteral("current")] = QString::fromStdString(graph->node(m_document.current()).name);
    return QJsonDocument(view).toJson(QJsonDocument::Compact).toStdString();
}

/// Ignores layers and blocks that no longer exist.
void MainWindow::restoreView(const std::string& json) {
    const QJsonObject view = QJsonDocument::fromJson(QByteArray::fromStdString(json)).object();
    for (const Metric metric : kMetrics)
        if (metricName(metric) == view[QStringLiteral("metric")].toString())
            m_graph->canvas()->setMetric(metric);
    LayoutOptions options = m_document.layoutOptions();
    for (const QJsonValue& name : view[QStringLiteral("collapsed")].toArray())
        options.collapsed.push_back(name.toString().toStdString());
    m_document.setLayoutOptions(options);
    m_bookmarks->fromJson(view[QStringLiteral("bookmarks")].toArray());
    m_table->filterLine()->setText(view[QStringLiteral("filter")].toString());
    m_historyDock->setVisible(view[QStringLiteral("history")].toBool());
    const auto find = [this](const QJsonValue& name) {
        return m_document.graph()->findNode(name.toString().toStdString()).value_or(NodeId());
    };
    std::vector<NodeId> selected;
    for (const QJsonValue& name : view[QStringLiteral("selected")].toArray())
        if (const NodeId node = find(name); node.valid()) selected.push_back(node);
    m_document.select(std::move(selected), find(view[QStringLiteral("current")]));
}

void MainWindow::enableRecovery(const std::filesystem::path& folder) {
    m_autosave = std::make_unique<Autosave>(&m_document, folder);
    connect(m_autosave.get(), &Autosave::failed, m_message,
            [this](const QString& text) { m_message->show(MessageKind::Error, text); });
    m_recovery = findRecovery(folder);
    offerRecovery();
}

void MainWindow::offerRecovery() {
    if (!m_recovery) return;
    m_message->offer(
        tr("Quantloupe ended unexpectedly. There are unsaved changes to %1 from %2.")
            .arg(m_recovery->title, m_recovery->when),
        tr("Recover"), [this] { recover(); }, tr("Discard"),
        [this] {
            discardRecovery(*m_recovery);
            m_recovery.reset();
        });
}

void MainWindow::recover() {
    if (!m_recovery) return;
    if (!mayDiscard()) return offerRecovery();
    OpenRequest request{m_recovery->file, {}, {}, {}};
    request.recoveredFor = m_recovery->project;
    open(request);
}

}  // namespace quantloupe::ui
