// SPDX-License-Identifier: Apache-2.0
#pragma once
// The window: panels around the graph, menus, drag and drop. It connects the parts; the logic is in the
// document.

#include <QDockWidget>
#include <QMainWindow>
#include <QMenu>
#include <QSplitter>
#include <QStackedWidget>
#include <filesystem>

#include "commands/shortcut_keys.h"
#include "document/autosave.h"
#include "document/document.h"
#include "document/file_watch.h"
#include "graph/bookmarks.h"
#include "graph/graph_gestures.h"
#include "graph/graph_view.h"
#include "graph/group_folding.h"
#include "graph/selection_history.h"
#include "panels/history_panel.h"
#include "panels/improve_panel.h"
#include "panels/inspector.h"
#include "panels/layer_table.h"
#include "panels/message_bar.h"
#include "panels/start_page.h"
#include "panels/status_line.h"
#include "panels/summary_bar.h"
#include "panels/tuning_panel.h"
#include "panels/work_tabs.h"
#include "window/window_layout.h"

namespace quantloupe::ui {

class DocumentationWindow;
class LatencyDialog;
class PreprocessDialog;
class TaskDialog;
class Tour;
class VerifyDialog;

class MainWindow : public QMainWindow {
    Q_OBJECT
  public:
    /// `resources`: the folder that contains "demo", for the case that ../share/quantloupe relative to the
    /// program does not.
    explicit MainWindow(const std::filesystem::path& resources = {}, QWidget* parent = nullptr);
    ~MainWindow() override;

    Document* document() { return &m_document; }
    MessageBar* messageBar() const { return m_message; }
    GraphView* graphView() const { return m_graph; }
    GraphGestures* gestures() const { return m_gestures; }
    Bookmarks* bookmarks() const { return m_bookmarks; }
    LayerTable* layerTable() const { return m_table; }
    HistoryPanel* historyPanel() const { return m_history; }
    ImprovePanel* improvePanel() const { return m_improve; }
    AmctPanel* amctPanel() const { return m_improve->amct(); }
    void showImprove(ImprovePanel::Page page);
    WorkTabs* workTabs() const { return m_work; }
    Inspector* inspector() const { return m_inspector; }
    Autosave* autosave() const { return m_autosave.get(); }  ///< null without enableRecovery()
    FileWatch* fileWatch() { return &m_watch; }
    ShortcutKeys* shortcutKeys() { return &m_keys; }
    QList<QAction*> allActions() const;  ///< all actions in the menus, in menu order

    void open(const OpenRequest& request);
    /// Returns false if the demo files do not exist. Files named in `instead` replace those of the demo.
    bool openDemo(const OpenRequest& instead = {});
    /// Makes the window look the same in every run with the same input: no durations, notes stay, and nothing
    /// is measured in the background. Call it before opening a model.
    void makeReproducible();
    /// Selects the most sensitive layer and makes it visible.
    void selectMostSensitive();
    /// Starts saving recovery copies in the folder, and offers those left by a crash.
    void enableRecovery(const std::filesystem::path& folder);
    /// Opens a model, a project, data or a configuration, depending on the file, like a file that is dropped
    /// onto the window.
    void openDropped(const QString& path);
    void setAskBeforeClosing(bool ask) { m_askBeforeClosing = ask; }
    /// Restores the layout of the window that was closed last, and saves the layout of this window when it is
    /// closed.
    void keepLayout();
    /// Offers to reopen the last session, or reopens it at once if the user has chosen so. Only if there are
    /// no recovery copies to offer first, and only in an empty window.
    void reopenLast();
    /// Opens another, empty window. It deletes itself when it is closed.
    MainWindow* openAnother();
    /// Longer evaluations show a desktop notification when they finish while no window of the application has
    /// the focus.
    void setLongSeconds(double seconds) { m_longSeconds = seconds; }

  Q_SIGNALS:
    void notified(QString text);

  protected:
    void closeEvent(QCloseEvent* event) override;
    void changeEvent(QEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void dragEnterEvent(QDragEnterEvent* event) override;
    void dropEvent(QDropEvent* event) override;

  private:
    void buildPanels();
    void showDock(QDockWidget* dock);
    void makeRoom();
    QDockWidget* buildDock(const QString& title, const QString& name, QWidget* content);
    void buildMenus();
    void buildFileMenu();
    void buildExportMenu();
    void buildEditMenu();
    // main_window_view_menu.cpp
    void buildViewMenu();
    void fitGraph();
    void buildMetricMenu(QMenu* menu);
    void buildThemeMenu(QMenu* menu);
    void buildLayoutMenu(QMenu* menu);
    void buildBlocksMenu(QMenu* menu);
    void addPanelSwitch(QMenu* menu, const QString& text, const QString& setting, GraphView* view,
                        void (GraphView::*show)(bool));
    void buildPanelsMenu(QMenu* menu);
    void buildSettingsMenu(QMenu* menu);
    void buildLayersMenu();
    void buildPrecisionMenu();
    void buildEvaluationMenu();
    void buildContextMenu();
    void buildHelpMenu();
    // main_window_gestures.cpp
    void buildGestures();
    void buildNavigation(QMenu* view);
    void nextMatch(int step);
    void selectReachable(NodeSet (*reach)(const Graph&, std::span<const NodeId>));
    void observe();
    QAction* addAction(QMenu* menu, const QString& text, const QKeySequence& keys, const QString& tip,
                       std::function<void()> run);

    void chooseModel();
    void chooseData(DataForm form);
    void chooseCalibration(DataForm form);
    QString askForData(const QString& title, DataForm form);
    void showPreprocess();
    void showLabels();
    void chooseConfig();
    bool saveConfig(bool askName);
    void chooseExport(int index);
    // main_window_interchange.cpp
    void chooseImport();
    void importFrom(const std::filesystem::path& path);
    void exportSeveral();
    void verifyExport();
    LatencyDialog* showLatency();
    void chooseProject();
    bool saveProject(bool askName);
    std::string collectView() const;
    void restoreView(const std::string& json);
    void offerRecovery();
    void recover();
    // main_window_help.cpp
    void showAbout();
    void showDocumentation();
    void startTour();
    void runTour();
    // main_window_session.cpp
    void watchFile();
    void offerReload(const QString& changed);
    void rememberSession() const;
    void tellWhenAway(double seconds);
    // main_window_commands.cpp
    void buildCommands(QMenu* help);
    void showPalette();
    void showShortcuts();
    bool mayDiscard();

    void toggleSkip();
    void skipUntil();
    void skipDownstream();
    void skipType();
    void runEdit(const std::function<ConfigEdit()>& make);
    void walkWorst(int step);
    void previewPoint(const TunePoint* point);

    void updateActions();
    void updateTitle();
    void updateRecent();
    void applyTheme();

    Document m_document;
    FileWatch m_watch;
    ShortcutKeys m_keys;
    std::unique_ptr<WindowLayout> m_layout;
    bool m_keepsLayout = false;
    double m_longSeconds = 10;
    std::unique_ptr<Autosave> m_autosave;
    std::optional<RecoveryCopy> m_recovery;  ///< offered, but not yet answered
    bool m_recovering = false;               ///< accepted, and being opened
    std::filesystem::path m_resources;
    bool m_hasDemo = false, m_askBeforeClosing = true, m_themeDark = false, m_themed = false;

    SummaryBar* m_summary = nullptr;
    MessageBar* m_message = nullptr;
    QStackedWidget* m_pages = nullptr;
    StartPage* m_start = nullptr;
    QSplitter *m_columns = nullptr, *m_middle = nullptr;
    TuningPanel* m_tuning = nullptr;
    GraphView* m_graph = nullptr;
    GraphGestures* m_gestures = nullptr;
    GroupFolding* m_folding = nullptr;
    Bookmarks* m_bookmarks = nullptr;
    SelectionHistory* m_selections = nullptr;
    LayerTable* m_table = nullptr;
    WorkTabs* m_work = nullptr;
    Inspector* m_inspector = nullptr;
    StatusLine* m_status = nullptr;
    HistoryPanel* m_history = nullptr;
    QDockWidget* m_historyDock = nullptr;
    ImprovePanel* m_improve = nullptr;
    QDockWidget* m_improveDock = nullptr;
    std::optional<bool> m_inspectorShown;      ///< before a dock took its place
    VerifyDialog* m_verify = nullptr;          ///< made when it is asked for
    LatencyDialog* m_latency = nullptr;        ///< the same
    PreprocessDialog* m_preprocess = nullptr;  ///< the same
    TaskDialog* m_labels = nullptr;            ///< the same
    DocumentationWindow* m_documentation = nullptr;
    Tour* m_tour = nullptr;
    bool m_previewsPoint = false;
    bool m_tourWaits = false;  ///< for the demo to be opened

    QString m_dataFailure;  ///< as shown in the message bar

    QMenu *m_recentMenu = nullptr, *m_exportMenu = nullptr, *m_layersMenu = nullptr, *m_contextMenu = nullptr,
          *m_precisionMenu = nullptr;
    QAction *m_toggleAction = nullptr, *m_untilAction = nullptr, *m_downstreamAction = nullptr,
            *m_typeAction = nullptr, *m_studyAction = nullptr, *m_tailAction = nullptr,
            *m_amctAction = nullptr;
    QList<QAction*> m_needModel;
    QList<QAction*> m_precisionActions;
    QList<QAction*> m_selectActions, m_placeActions, m_copyActions;  ///< also in the context menu
};

}  // namespace quantloupe::ui
