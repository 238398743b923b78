// SPDX-License-Identifier: Apache-2.0
#include "window/help_commands.h"

#include <QApplication>
#include <QMessageBox>

#include "dialogs/documentation_window.h"
#include "document/demo.h"
#include "widgets/basics.h"
#include "window/menu_actions.h"

namespace quantloupe::ui {

namespace {

void assignDocumentation(const WindowPanels& panels) {
    setDocumentation(panels.graph, "graph.md");
    setDocumentation(panels.table, "window.md#filtering-the-layer-table");
    setDocumentation(panels.work, "window.md#tabs-below-the-graph");
    setDocumentation(panels.inspector, "window.md#inspector-right");
    setDocumentation(panels.history, "window.md#history");
    setDocumentation(panels.improve, "window.md#improve-accuracy");
    setDocumentation(panels.improve->amct(), "window.md#amct-workflow");
    setDocumentation(panels.summary, "window.md#summary-bar-top");
}

}  // namespace

HelpCommands::HelpCommands(const WindowPanels& panels, DemoTour* tour, ShortcutCommands* shortcuts,
                           const std::filesystem::path& resources, QMainWindow* window)
    : QObject(window), m_message(panels.message), m_resources(resources), m_window(window) {
    QMenu* help = window->menuBar()->addMenu(tr("&Help"));
    addCommand(help, tr("&Documentation"), keySequence("Shift+F1"),
               tr("Opens the page about the part of the window that has the focus"),
               [this] { showDocumentation(); });
    addCommand(help, tr("Guided &Tour"), {}, tr("Five steps with the demo"), [tour] {
        tour->start();
    })->setEnabled(findDemo(resources).has_value());
    help->addSeparator();
    shortcuts->addTo(help);
    addCommand(help, tr("&About Quantloupe"), {}, {}, [this] { showAbout(); });
    assignDocumentation(panels);
}

void HelpCommands::showDocumentation() {
    const auto folder = findDocumentation(
        m_resources.empty() ? m_resources : m_resources.parent_path() / "doc" / "quantloupe" / "docs");
    if (!folder)
        return m_message->show(MessageKind::Error,
                               tr("The documentation is not installed: there is no folder "
                                  "../share/doc/quantloupe/docs relative to the program."));
    const QString page = documentationOf(QApplication::focusWidget());
    if (!m_documentation) m_documentation = new DocumentationWindow(*folder, m_window);
    m_documentation->open(page);
    bringToFront(m_documentation);
}

void HelpCommands::showAbout() {
    QMessageBox::about(m_window, tr("About Quantloupe"),
                       tr("<b>Quantloupe %1</b><br>A loupe for quantized networks.<br><br>Apache License 2.0")
                           .arg(QApplication::applicationVersion()));
}

}  // namespace quantloupe::ui
