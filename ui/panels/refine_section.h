// SPDX-License-Identifier: Apache-2.0
#pragma once
// Refinements that use data: outlier migration, bias correction, learned rounding. Learned rounding is slow,
// so its progress is shown with a button that stops it and removes it from the configuration.

#include <QProgressBar>

#include "panels/option_controls.h"

namespace quantloupe::ui {

class RefineSection : public QWidget {
    Q_OBJECT
  public:
    explicit RefineSection(Document* document, QWidget* parent = nullptr);

  private:
    void refresh();
    void showProgress(const QString& stage, std::size_t done, std::size_t total);
    /// Shows the progress, and the link that stops learning.
    void showRunning(bool running);
    void stop();

    Document* m_document;
    SectionHeading* m_heading;
    QLabel* m_migrated;
    QLabel *m_remark, *m_advice;
    QProgressBar* m_bar;
    QPushButton* m_stop;
};

}  // namespace quantloupe::ui
