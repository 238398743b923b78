// SPDX-License-Identifier: Apache-2.0
#pragma once
// The Help menu: documentation, guided tour, shortcuts, About.

#include <QMainWindow>
#include <QObject>
#include <filesystem>

#include "window/demo_tour.h"
#include "window/shortcut_commands.h"
#include "window/window_panels.h"

namespace quantloupe::ui {

class DocumentationWindow;

class HelpCommands : public QObject {
    Q_OBJECT
  public:
    /// `resources`: the folder that contains "demo". The documentation is looked for relative to the program,
    /// and then relative to this folder.
    HelpCommands(const WindowPanels& panels, DemoTour* tour, ShortcutCommands* shortcuts,
                 const std::filesystem::path& resources, QMainWindow* window);

  private:
    void showDocumentation();
    void showAbout();

    MessageBar* m_message;
    std::filesystem::path m_resources;
    QMainWindow* m_window;
    DocumentationWindow* m_documentation = nullptr;  ///< created on first use
};

}  // namespace quantloupe::ui
