// SPDX-License-Identifier: Apache-2.0
#include "window/reload_offer.h"

#include <QFileInfo>

#include "style/path_text.h"

namespace quantloupe::ui {

ReloadOffer::ReloadOffer(Document* document, MessageBar* message, QObject* parent)
    : QObject(parent), m_document(document), m_message(message), m_watch(new FileWatch(this)) {
    connect(document, &Document::modelChanged, this, &ReloadOffer::watch);
    connect(m_watch, &FileWatch::changed, this, &ReloadOffer::offer);
}

void ReloadOffer::watch() {
    QStringList files{pathText(m_document->model()->path)};
    for (const auto& path : m_document->model()->dataFiles) files << pathText(path);
    files << pathText(m_document->preprocessFile());
    m_watch->watch(files);
}

void ReloadOffer::offer(const QString& changed) {
    if (!m_document->hasModel()) return;
    const QString name = QFileInfo(changed).fileName();
    const QString reload = tr("Reload"), later = tr("Not Now");
    if (changed == pathText(m_document->preprocessFile())) {
        if (m_document->hasOwnPreprocess()) return;  // the settings of the window have priority
        m_message->offer(
            tr("The preprocessing file %1 has changed on disk. Reload it to convert images "
               "with the new settings.")
                .arg(name),
            reload, [this] { m_document->setPreprocess(std::nullopt); }, later, [] {});
        return;
    }
    m_message->offer(
        changed == pathText(m_document->model()->path)
            ? tr("The model %1 has changed on disk. Reloading it keeps your tuning.").arg(name)
            : tr("The weights in %1 have changed on disk. Reloading the model keeps your tuning.").arg(name),
        reload, [this] { m_document->reload(); }, later, [] {});
}

}  // namespace quantloupe::ui
