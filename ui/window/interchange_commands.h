// SPDX-License-Identifier: Apache-2.0
#pragma once
// The Export menu, and the import of configurations of other tools.

#include <QMainWindow>
#include <QObject>
#include <filesystem>

#include "document/document.h"
#include "graph/graph_canvas.h"
#include "panels/summary_bar.h"
#include "window/menu_actions.h"

namespace quantloupe::ui {

class VerifyDialog;

class InterchangeCommands : public QObject {
    Q_OBJECT
  public:
    /// `canvas`: its graph can be exported as a picture. The export button of `summary` also shows the menu.
    InterchangeCommands(Document* document, GraphCanvas* canvas, SummaryBar* summary,
                        ModelActions* modelActions, QMainWindow* window);
    /// Asks for a configuration of another tool, and imports it.
    void chooseImport();
    void importFrom(const std::filesystem::path& path);

  private:
    void addVerification(QMenu* menu, ModelActions* modelActions);
    void chooseExport(std::size_t index);
    void exportSeveral();
    void verify();

    Document* m_document;
    QWidget* m_window;
    VerifyDialog* m_verify = nullptr;  ///< created on first use
};

}  // namespace quantloupe::ui
