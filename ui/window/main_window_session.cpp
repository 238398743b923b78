// SPDX-License-Identifier: Apache-2.0 Session features: additional windows, the window layout between
// sessions, files changed by other programs, and desktop notifications after long evaluations.
#include <QApplication>
#include <QFileInfo>
#include <QSettings>

#include "document/demo.h"
#include "models/headline.h"
#include "window/main_window.h"
#include "window/notification.h"

namespace quantloupe::ui {

namespace {

const QString kLast = QStringLiteral("session/last");  // model or project, data, calibration, configuration

QString absoluteText(const std::filesystem::path& path) {
    return path.empty() ? QString() : QFileInfo(QString::fromStdString(path.string())).absoluteFilePath();
}

}  // namespace

void MainWindow::keepLayout() {
    m_keepsLayout = true;
    m_layout->restore();
}

/// Stores what reopenLast() opens at the next start. A project contains everything else itself.
void MainWindow::rememberSession() const {
    if (!m_document.hasModel()) return;
    QStringList last{absoluteText(m_document.projectPath())};
    if (last.front().isEmpty()) {
        // The demo's configuration is a template: the start page opens it.
        if (isDemo(m_document.model()->path) && m_document.configPath().empty()) return;
        const auto& opened = m_document.data();
        last = {absoluteText(m_document.model()->path),
                opened ? absoluteText(opened->evaluationPath) : QString(),
                opened ? absoluteText(opened->calibrationPath) : QString(),
                absoluteText(m_document.configPath())};
    }
    QSettings().setValue(kLast, last);
}

void MainWindow::reopenLast() {
    QStringList last = QSettings().value(kLast).toStringList();
    if (m_recovery || m_document.hasModel() || last.isEmpty() || !QFileInfo::exists(last.front())) return;
    OpenRequest request;
    last.resize(4);
    const auto there = [&](int i) {
        return QFileInfo::exists(last[i]) ? last[i].toStdString() : std::string();
    };
    request.model = last.front().toStdString();
    request.data = there(1);
    if (!request.data.empty()) request.calibration = there(2);
    request.config = there(3);
    request.ownConfig = !request.config.empty();
    if (QSettings().value(QStringLiteral("session/reopen"), false).toBool()) return open(request);
    m_message->offer(
        tr("Resume %1?").arg(QFileInfo(last.front()).fileName()), tr("Resume"),
        [this, request] { open(request); }, tr("Not now"), [] {});
}

MainWindow* MainWindow::openAnother() {
    auto* window = new MainWindow(m_resources);
    window->setAttribute(Qt::WA_DeleteOnClose);
    window->setAskBeforeClosing(m_askBeforeClosing);
    if (m_keepsLayout) {
        m_layout->save();
        window->keepLayout();
    }
    if (m_autosave) window->enableRecovery(m_autosave->file().parent_path());
    const int step = fontMetrics().height() * 2;
    window->move(pos() + QPoint(step, step));
    window->show();
    return window;
}

void MainWindow::watchFile() {
    QStringList files{QString::fromStdString(m_document.model()->path.string())};
    for (const auto& path : m_document.model()->dataFiles) files << QString::fromStdString(path.string());
    files << QString::fromStdString(m_document.preprocessFile().string());
    m_watch.watch(files);
}

void MainWindow::offerReload(const QString& changed) {
    if (!m_document.hasModel()) return;
    const QString name = QFileInfo(changed).fileName();
    const QString reload = tr("Reload"), later = tr("Not now");
    if (changed == QString::fromStdString(m_document.preprocessFile().string())) {
        if (m_document.hasOwnPreprocess()) return;  // the settings of the window have priority
        m_message->offer(
            tr("The preprocessing file %1 has changed on disk. Reload it to convert images "
               "with the new settings.")
                .arg(name),
            reload, [this] { m_document.setPreprocess(std::nullopt); }, later, [] {});
        return;
    }
    m_message->offer(
        changed == QString::fromStdString(m_document.model()->path.string())
            ? tr("The model %1 has changed on disk. Reloading it keeps your tuning.").arg(name)
            : tr("The weights in %1 have changed on disk. Reloading the model keeps your tuning.").arg(name),
        reload, [this] { m_document.reload(); }, later, [] {});
}

void MainWindow::tellWhenAway(double seconds) {
    if (seconds < m_longSeconds || QApplication::activeWindow() ||
        !QSettings().value(QStringLiteral("notify"), true).toBool())
        return;
    const Headline headline = headlineOf(m_document.evaluation().get(), m_document.data().has_value());
    const QString text =
        tr("Evaluated %1 in %2 s: %3").arg(m_document.title()).arg(seconds, 0, 'f', 0).arg(headline.value);
    notifyDesktop(this, tr("Quantloupe"), text);
    Q_EMIT notified(text);
}

}  // namespace quantloupe::ui
