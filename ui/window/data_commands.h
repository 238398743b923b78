// SPDX-License-Identifier: Apache-2.0
#pragma once
// Opens evaluation and calibration data, and shows the dialogs that describe them: preprocessing and labels.

#include <QObject>

#include "document/document.h"
#include "panels/data_section.h"
#include "panels/message_bar.h"
#include "window/menu_actions.h"

namespace quantloupe::ui {

class PreprocessDialog;
class TaskDialog;

class DataCommands : public QObject {
    Q_OBJECT
  public:
    /// `window`: parent of the dialogs.
    DataCommands(Document* document, MessageBar* message, ModelActions* modelActions, QWidget* window);
    /// Appends the commands for data to the File menu.
    void addTo(QMenu* file);

    void chooseData(DataForm form);
    void chooseCalibration(DataForm form);
    void showPreprocess();
    void showLabels();

  Q_SIGNALS:
    void preprocessSaved();

  private:
    QString askForPath(const QString& title, DataForm form);

    Document* m_document;
    MessageBar* m_message;
    ModelActions* m_modelActions;
    QWidget* m_window;
    PreprocessDialog* m_preprocess = nullptr;  ///< created on first use
    TaskDialog* m_labels = nullptr;            ///< created on first use
    int m_failure = 0;                         ///< MessageBar::shownMessage() of the last error of data
};

}  // namespace quantloupe::ui
