// SPDX-License-Identifier: Apache-2.0
#pragma once
// Offers to reload the model or the preprocessing when another program has changed their files.

#include <QObject>

#include "document/document.h"
#include "document/file_watch.h"
#include "panels/message_bar.h"

namespace quantloupe::ui {

class ReloadOffer : public QObject {
    Q_OBJECT
  public:
    ReloadOffer(Document* document, MessageBar* message, QObject* parent);
    /// Watches the files of the model in their current state; call this after the program itself has written
    /// one of them.
    void watch();

  private:
    void offer(const QString& changed);

    Document* m_document;
    MessageBar* m_message;
    FileWatch* m_watch;
};

}  // namespace quantloupe::ui
