// SPDX-License-Identifier: Apache-2.0
#pragma once
// The notices of the last finished evaluation: what was assumed, ignored or cannot be evaluated.

#include <QTextBrowser>

#include "document/document.h"

namespace quantloupe::ui {

class NoticesPanel : public QTextBrowser {
    Q_OBJECT
  public:
    explicit NoticesPanel(Document* document, QWidget* parent = nullptr);
    const QStringList& notices() const { return m_notices; }

  Q_SIGNALS:
    void noticesChanged();

  private:
    void refresh();

    Document* m_document;
    QStringList m_notices;
};

}  // namespace quantloupe::ui
