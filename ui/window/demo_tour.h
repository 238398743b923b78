// SPDX-License-Identifier: Apache-2.0
#pragma once
// The guided tour of the window with the demo: its steps, and opening the demo first.

#include <QObject>
#include <filesystem>

#include "document/document.h"
#include "window/file_commands.h"
#include "window/view_commands.h"
#include "window/window_panels.h"

namespace quantloupe::ui {

class Tour;

class DemoTour : public QObject {
    Q_OBJECT
  public:
    /// `resources`: see findDemo().
    DemoTour(Document* document, const WindowPanels& panels, FileCommands* files, ViewCommands* view,
             const std::filesystem::path& resources, QWidget* window);
    /// Starts the tour with the demo, which is opened first.
    void start();
    /// Returns false if the tour is not running.
    bool stop();

  private:
    void run();
    void selectMostSensitive();

    Document* m_document;
    WindowPanels m_panels;
    FileCommands* m_files;
    ViewCommands* m_view;
    std::filesystem::path m_resources;
    QWidget* m_window;
    Tour* m_tour = nullptr;  ///< created on first use
    bool m_waits = false;    ///< for the demo to be opened
};

}  // namespace quantloupe::ui
