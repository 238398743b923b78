// SPDX-License-Identifier: Apache-2.0
#include "window/last_session.h"

#include <QFileInfo>
#include <QSettings>

#include "document/demo.h"
#include "style/path_text.h"

namespace quantloupe::ui {

namespace {

const QString kLast = QStringLiteral("session/last");  // model or project, data, calibration, configuration

QString absoluteText(const std::filesystem::path& path) {
    return path.empty() ? QString() : QFileInfo(pathText(path)).absoluteFilePath();
}

}  // namespace

LastSession::LastSession(Document* document, MessageBar* message, FileCommands* files, QObject* parent)
    : QObject(parent), m_document(document), m_message(message), m_files(files) {}

void LastSession::remember() const {
    if (!m_document->hasModel()) return;
    QStringList last{absoluteText(m_document->projectPath())};
    if (last.front().isEmpty()) {
        // The demo's configuration is a template: the start page opens it.
        if (isDemo(m_document->model()->path) && m_document->configPath().empty()) return;
        const auto& opened = m_document->data();
        last = {absoluteText(m_document->model()->path),
                opened ? absoluteText(opened->evaluationPath) : QString(),
                opened ? absoluteText(opened->calibrationPath) : QString(),
                absoluteText(m_document->configPath())};
    }
    QSettings().setValue(kLast, last);
}

void LastSession::reopen() {
    QStringList last = QSettings().value(kLast).toStringList();
    if (m_document->hasModel() || last.isEmpty() || !QFileInfo::exists(last.front())) return;
    OpenRequest request;
    last.resize(4);
    const auto existing = [&](int i) {
        return QFileInfo::exists(last[i]) ? last[i].toStdString() : std::string();
    };
    request.model = last.front().toStdString();
    request.data = existing(1);
    if (!request.data.empty()) request.calibration = existing(2);
    request.config = existing(3);
    request.ownConfig = !request.config.empty();
    if (QSettings().value(QStringLiteral("session/reopen"), false).toBool()) return m_files->open(request);
    m_message->offer(
        tr("Resume %1?").arg(QFileInfo(last.front()).fileName()), tr("Resume"),
        [this, request] { m_files->open(request); }, tr("Not Now"), [] {});
}

}  // namespace quantloupe::ui
