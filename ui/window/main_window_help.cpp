// SPDX-License-Identifier: Apache-2.0 The Help menu: documentation, tour, About.
#include <QApplication>
#include <QMenuBar>
#include <QMessageBox>
#include <QUndoStack>

#include "dialogs/documentation_window.h"
#include "document/demo.h"
#include "window/main_window.h"
#include "window/tour.h"

namespace quantloupe::ui {

void MainWindow::buildHelpMenu() {
    QMenu* help = menuBar()->addMenu(tr("&Help"));
    addAction(help, tr("&Documentation"), QKeySequence(QStringLiteral("Shift+F1")),
              tr("Opens the page about the part of the window that has the focus"),
              [this] { showDocumentation(); });
    addAction(help, tr("Guided &Tour"), {}, tr("Five steps with the demo"), [this] {
        startTour();
    })->setEnabled(m_hasDemo);
    help->addSeparator();
    buildCommands(help);
    addAction(help, tr("&About Quantloupe"), {}, {}, [this] { showAbout(); });
    setDocumentation(m_graph, "graph.md");
    setDocumentation(m_table, "window.md#filtering-the-layer-table");
    setDocumentation(m_work, "window.md#tabs-below-the-graph");
    setDocumentation(m_inspector, "window.md#inspector-right");
    setDocumentation(m_history, "window.md#history");
    setDocumentation(m_improve, "window.md#improve-accuracy");
    setDocumentation(amctPanel(), "window.md#amct-workflow");
    setDocumentation(m_summary, "window.md#summary-bar-top");
}

void MainWindow::showDocumentation() {
    const auto folder = findDocumentation(
        m_resources.empty() ? m_resources : m_resources.parent_path() / "doc" / "quantloupe" / "docs");
    if (!folder)
        return m_message->show(MessageKind::Error,
                               tr("The documentation is not installed: there is no folder "
                                  "../share/doc/quantloupe/docs relative to the program."));
    const QString page = documentationOf(QApplication::focusWidget());
    if (!m_documentation) m_documentation = new DocumentationWindow(*folder, this);
    m_documentation->open(page);
    m_documentation->show();
    m_documentation->raise();
    m_documentation->activateWindow();
}

/// Starts the tour with the demo, which is opened first.
void MainWindow::startTour() {
    const auto demo = findDemo(m_resources);
    if (!demo) return;
    // The texts of the tour describe the demo as it is when it is opened.
    const bool open = m_document.model() && m_document.model()->path == demo->model;
    if (open && m_document.undoStack()->index() == 0) return runTour();
    if (!mayDiscard()) return;
    m_tourWaits = openDemo();
}

void MainWindow::runTour() {
    for (QWidget* panel :
         {static_cast<QWidget*>(m_tuning), static_cast<QWidget*>(m_inspector), static_cast<QWidget*>(m_work)})
        panel->show();
    m_work->showTab(WorkTabs::Layers);
    if (!m_tour) m_tour = new Tour(this);
    m_tour->start(
        {{tr("The graph"),
          tr("Each box is a layer. Quantized layers are green, layers in float yellow, inputs and outputs "
             "blue. The darker its magenta field, the more quantizing this layer alone changes its output; "
             "zoom in to see the number."),
          m_graph},
         {tr("What quantization costs"),
          tr("With 4-bit weights, the demo loses a quarter of its accuracy. This bar shows the accuracy of "
             "the float and of the quantized network after every change."),
          m_summary},
         {tr("The worst layers first"),
          tr("The table lists the layers that can be quantized, the most sensitive one first; it is selected "
             "now. The filter finds layers by name, operator or number, and fades all others in the graph."),
          m_work, [this] { selectMostSensitive(); }},
         {tr("Keep a layer in float"),
          tr("Press Space in the graph or the table, or click Keep in Float here. The layer turns yellow at "
             "once, and the new accuracy follows. Ctrl+Z takes it back."),
          m_inspector},
         {tr("Improve and export"),
          tr("Improve Accuracy\u2026 finds good changes for you, for example the cheapest layers to keep in "
             "float. Export\u2026 writes the quantized model, or a configuration for another tool."),
          m_summary}});
}

void MainWindow::showAbout() {
    QMessageBox::about(this, tr("About Quantloupe"),
                       tr("<b>Quantloupe %1</b><br>A loupe for quantized networks.<br><br>Apache License 2.0")
                           .arg(QApplication::applicationVersion()));
}

}  // namespace quantloupe::ui
