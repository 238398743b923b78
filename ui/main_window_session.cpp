// SPDX-License-Identifier: Apache-2.0
// What goes beyond the work on one model: other windows, the layout from one start to the next, files that change behind
// our back, and a word on the desktop when something long has ended.
#include <QApplication>
#include <QSettings>

#include "main_window.h"
#include "notification.h"

namespace quantloupe::ui {

void MainWindow::keepLayout() {
    m_keepsLayout = true;
    m_layout->restore();
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

void MainWindow::watchFile() { m_watch.watch(QString::fromStdString(m_document.model()->path.string())); }

void MainWindow::offerReload() {
    if (!m_document.hasModel()) return;
    m_message->offer(
        tr("The model %1 has changed on disk. Reloading it carries the tuning over.")
            .arg(QString::fromStdString(m_document.model()->path.filename().string())),
        tr("Reload"), [this] { m_document.reload(); }, tr("Not now"), [] {});
}

void MainWindow::tellWhenAway(double seconds) {
    if (seconds < m_longSeconds || QApplication::activeWindow() ||
        !QSettings().value(QStringLiteral("notify"), true).toBool())
        return;
    const Headline headline = headlineOf(m_document.evaluation().get(), m_document.data().has_value());
    const QString text = tr("%1 is evaluated after %2 s: %3")
                             .arg(m_document.title())
                             .arg(seconds, 0, 'f', 0)
                             .arg(headline.value);
    notifyDesktop(this, tr("Quantloupe"), text);
    Q_EMIT notified(text);
}

}  // namespace quantloupe::ui
