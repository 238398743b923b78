// SPDX-License-Identifier: Apache-2.0
#include "window/recovery.h"

#include <utility>

namespace quantloupe::ui {

Recovery::Recovery(Document* document, MessageBar* message, FileCommands* files, QObject* parent)
    : QObject(parent), m_document(document), m_message(message), m_files(files) {
    connect(files, &FileCommands::opening, this, [this](bool recovered) { m_recovering = recovered; });
    connect(document, &Document::modelChanged, this, [this] {
        if (m_recovering && m_copy && m_autosave) m_autosave->adopt(*std::exchange(m_copy, std::nullopt));
        m_recovering = false;
        offer();
    });
    // A reload replaces the copy that was being opened, which remains available.
    connect(document, &Document::reloading, this, [this] { m_recovering = false; });
    connect(document, &Document::failed, this, [this](const Failure& failure) {
        if (failure.during == Failure::During::Loading) m_recovering = false;
    });
}

void Recovery::enable(const std::filesystem::path& folder) {
    m_autosave = std::make_unique<Autosave>(m_document, folder);
    m_autosave->setParent(this);
    connect(m_autosave.get(), &Autosave::failed, m_message,
            [this](const QString& text) { m_message->show(MessageKind::Error, text); });
    m_copy = findRecovery(folder);
    offer();
}

std::filesystem::path Recovery::folder() const {
    return m_autosave ? m_autosave->file().parent_path() : std::filesystem::path();
}

void Recovery::offer() {
    if (!m_copy) return;
    m_message->offer(
        tr("Quantloupe ended unexpectedly. There are unsaved changes to %1 from %2.")
            .arg(m_copy->title, m_copy->when),
        tr("Recover"), [this] { recover(); }, tr("Discard"),
        [this] {
            discardRecovery(*m_copy);
            m_copy.reset();
        });
}

void Recovery::recover() {
    if (!m_copy) return;
    if (!m_files->mayDiscard()) return offer();
    OpenRequest request{m_copy->file, {}, {}, {}};
    request.recoveredFor = m_copy->project;
    m_files->open(request);
}

}  // namespace quantloupe::ui
