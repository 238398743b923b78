// SPDX-License-Identifier: Apache-2.0
#pragma once
// The window: panels around the graph, docks, drag and drop. It connects the panels with the commands, which
// are classes of their own in this folder; the logic is in the document.

#include <QMainWindow>
#include <QSplitter>
#include <QStackedWidget>
#include <filesystem>
#include <memory>

#include "document/document.h"
#include "window/window_layout.h"
#include "window/window_panels.h"

namespace quantloupe::ui {

class DataCommands;
class EvaluationCommands;
class FileCommands;
class InterchangeCommands;
class LastSession;
class LayerCommands;
class PanelCommands;
class Recovery;
class SettingsCommands;
class ViewCommands;

class MainWindow : public QMainWindow {
    Q_OBJECT
  public:
    /// `resources`: the folder that contains "demo", for the case that ../share/quantloupe relative to the
    /// program does not.
    explicit MainWindow(const std::filesystem::path& resources = {}, QWidget* parent = nullptr);
    ~MainWindow() override;

    Document* document() { return &m_document; }
    MessageBar* messageBar() const { return m_panels.message; }
    GraphView* graphView() const { return m_panels.graph; }
    LayerTable* layerTable() const { return m_panels.table; }
    HistoryPanel* historyPanel() const { return m_panels.history; }
    ImprovePanel* improvePanel() const { return m_panels.improve; }
    AmctPanel* amctPanel() const { return m_panels.improve->amct(); }
    WorkTabs* workTabs() const { return m_panels.work; }
    Inspector* inspector() const { return m_panels.inspector; }
    void showImprove(ImprovePanel::Page page);
    QList<QAction*> allActions() const;  ///< all actions in the menus, in menu order

    void open(const OpenRequest& request);
    /// Returns false if the demo files do not exist. Files named in `instead` replace those of the demo.
    bool openDemo(const OpenRequest& instead = {});
    /// Makes the window look the same in every run with the same input: no durations, notes stay, and nothing
    /// is evaluated in the background. Call it before opening a model.
    void makeReproducible();
    /// Selects the most sensitive layer and makes it visible.
    void selectMostSensitive();
    /// Starts saving recovery copies in the folder, and offers those left by a crash.
    void enableRecovery(const std::filesystem::path& folder);
    /// Opens a model, a project, data or a configuration, depending on the file, like a file that is dropped
    /// onto the window.
    void openDropped(const QString& path);
    void setAskBeforeClosing(bool ask);
    /// Restores the layout of the window that was closed last, and saves the layout of this window when it is
    /// closed.
    void keepLayout();
    /// Offers to reopen the last session, or reopens it at once if the user has chosen so. Only if there are
    /// no recovery copies to offer first, and only in an empty window.
    void reopenLast();
    /// Opens another, empty window. It deletes itself when it is closed.
    MainWindow* openAnother();

  protected:
    void closeEvent(QCloseEvent* event) override;
    void changeEvent(QEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void dragEnterEvent(QDragEnterEvent* event) override;
    void dropEvent(QDropEvent* event) override;

  private:
    void buildPanels();
    void arrangePanels();
    QDockWidget* buildDock(const QString& title, const QString& name, QWidget* content);
    void showDock(QDockWidget* dock);
    void makeRoom();
    void dockInspector(bool docked);
    void raiseInspector();
    void saveLayout();
    void resetLayout();
    // main_window_commands.cpp
    void buildCommands();
    void connectCommands(DataCommands* dataCommands, PanelCommands* panels, EvaluationCommands* evaluation);
    void connectPanels();

    void showModel();
    void updateTitle();
    void applyTheme();

    Document m_document;
    std::filesystem::path m_resources;
    WindowPanels m_panels;
    QStackedWidget* m_pages = nullptr;
    QSplitter *m_columns = nullptr, *m_middle = nullptr;
    QDockWidget* m_inspectorDock = nullptr;  ///< contains the inspector if there is no room for its column
    QList<int> m_columnSizes;                ///< with the inspector
    std::unique_ptr<WindowLayout> m_layout;
    bool m_keepsLayout = false, m_themeDark = false, m_themed = false;

    FileCommands* m_files = nullptr;
    ViewCommands* m_view = nullptr;
    SettingsCommands* m_settings = nullptr;
    LayerCommands* m_layers = nullptr;
    InterchangeCommands* m_interchange = nullptr;
    LastSession* m_session = nullptr;
    std::unique_ptr<Recovery> m_recovery;  ///< must not outlive the document
};

}  // namespace quantloupe::ui
