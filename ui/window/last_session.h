// SPDX-License-Identifier: Apache-2.0
#pragma once
// Remembers which files a window had open, and opens them again at the next start.

#include <QObject>

#include "document/document.h"
#include "panels/message_bar.h"
#include "window/file_commands.h"

namespace quantloupe::ui {

class LastSession : public QObject {
    Q_OBJECT
  public:
    LastSession(Document* document, MessageBar* message, FileCommands* files, QObject* parent);
    /// Stores what reopen() opens at the next start. A project contains everything else itself.
    void remember() const;
    /// Offers to reopen the last session, or reopens it at once if the user has chosen so. Only if no model
    /// is open.
    void reopen();

  private:
    Document* m_document;
    MessageBar* m_message;
    FileCommands* m_files;
};

}  // namespace quantloupe::ui
