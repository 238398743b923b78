// SPDX-License-Identifier: Apache-2.0
#pragma once
// Saves recovery copies of unsaved changes, and offers those that a crash has left.

#include <QObject>
#include <filesystem>
#include <memory>
#include <optional>

#include "document/autosave.h"
#include "panels/message_bar.h"
#include "window/file_commands.h"

namespace quantloupe::ui {

class Recovery : public QObject {
    Q_OBJECT
  public:
    /// The document must outlive this object.
    Recovery(Document* document, MessageBar* message, FileCommands* files, QObject* parent);
    /// Starts saving copies in the folder, and offers those left by a crash.
    void enable(const std::filesystem::path& folder);
    /// Returns the folder of the copies; empty if enable() has not been called.
    std::filesystem::path folder() const;
    /// Whether a copy is offered and the user has not answered yet.
    bool offers() const { return m_copy.has_value(); }

  private:
    void offer();
    void recover();

    Document* m_document;
    MessageBar* m_message;
    FileCommands* m_files;
    std::unique_ptr<Autosave> m_autosave;  ///< null before enable()
    std::optional<RecoveryCopy> m_copy;
    bool m_recovering = false;  ///< the offer was accepted, and the copy is being opened
};

}  // namespace quantloupe::ui
