// SPDX-License-Identifier: Apache-2.0
#include "window/reload_offer.h"

#include <QFileInfo>

namespace quantloupe::ui {

ReloadOffer::ReloadOffer(Document* document, MessageBar* message, QObject* parent)
    : QObject(parent), m_document(document), m_message(message), m_watch(new FileWatch(this)) {
    connect(document, &Document::modelChanged, this, &ReloadOffer::watch);
    connect(m_watch, &FileWatch::changed, this, &ReloadOffer::offer);
}

void ReloadOffer::watch() {
    QStringList files{QString::fromStdString(m_document->model()->path.string())};
    for (const auto& path : m_document->model()->dataFiles) files << QString::fromStdString(path.string());
    files << QString::fromStdString(m_document->preprocessFile().string());
    m_watch->watch(files);
}

void ReloadOffer::offer(const QString& changed) {
    if (!m_document->hasModel()) return;
    const QString name = QFileInfo(changed).fileName();
    const QString reload = tr("Reload"), later = tr("Not Now");
    if (changed == QString::fromStdString(m_document->preprocessFile().string())) {
        if (m_document->hasOwnPreprocess()) return;  // the settings of the window have priority
        m_message->offer(
            tr("The preprocessing file %1 has changed on disk. Reload it to convert images "
               "with the new settings.")
                .arg(name),
            reload, [this] { m_document->setPreprocess(std::nullopt); }, later, [] {});
        return;
    }
    m_message->offer(
        changed == QString::fromStdString(m_document->model()->path.string())
            ? tr("The model %1 has changed on disk. Reloading it keeps your tuning.").arg(name)
            : tr("The weights in %1 have changed on disk. Reloading the model keeps your tuning.").arg(name),
        reload, [this] { m_document->reload(); }, later, [] {});
}

}  // namespace quantloupe::ui
