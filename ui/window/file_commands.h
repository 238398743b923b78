// SPDX-License-Identifier: Apache-2.0
#pragma once
// The File menu: opens and saves models, projects and configurations, and asks before unsaved changes are
// lost.

#include <QMainWindow>
#include <QObject>
#include <filesystem>

#include "document/document.h"
#include "panels/message_bar.h"
#include "panels/start_page.h"
#include "window/data_commands.h"
#include "window/menu_actions.h"

namespace quantloupe::ui {

class FileCommands : public QObject {
    Q_OBJECT
  public:
    /// `resources`: see findDemo(). The menu also gets the commands of `data`.
    FileCommands(Document* document, MessageBar* message, StartPage* start, DataCommands* data,
                 ModelActions* modelActions, const std::filesystem::path& resources, QMainWindow* window);

    void open(const OpenRequest& request);
    /// Returns false if the demo files do not exist. Files named in `instead` replace those of the demo.
    bool openDemo(const OpenRequest& instead = {});
    /// Opens a model, a project, data or a configuration, depending on the file.
    void openDropped(const QString& path);
    /// Returns whether the configuration can be replaced: it has no unsaved changes, or the user has saved or
    /// discarded them.
    bool mayDiscard();
    void setAskBeforeClosing(bool ask) { m_askBeforeClosing = ask; }

  Q_SIGNALS:
    void newWindowRequested();
    /// The user wants to choose a configuration of another tool.
    void importRequested();
    void fileImportRequested(const std::filesystem::path& path);
    /// `recovered`: it is a recovery copy.
    void opening(bool recovered);

  private:
    void buildMenu(QMenu* file, DataCommands* data, ModelActions* modelActions);
    bool mayCancelExports();
    QString folder() const;
    void chooseModel();
    void openPath(const QString& path);
    void setInputs();
    void chooseProject();
    std::filesystem::path chooseOutput(const QString& title, const std::filesystem::path& proposal,
                                       const QString& filter, const QString& suffix);
    bool saveProject(bool askName);
    void chooseConfig();
    bool saveConfig(bool askName);
    void updateRecent();

    Document* m_document;
    MessageBar* m_message;
    StartPage* m_start;
    std::filesystem::path m_resources;
    QMainWindow* m_window;
    QMenu* m_recent = nullptr;
    bool m_askBeforeClosing = true;
};

}  // namespace quantloupe::ui
