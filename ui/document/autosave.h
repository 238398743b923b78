// SPDX-License-Identifier: Apache-2.0
#pragma once
// Keeps a recovery copy of unsaved changes: a project file in the user's state folder, which is written a few
// seconds after a change and removed when there are no unsaved changes. A leftover copy belongs to a program
// that crashed.
//
// A lock file next to each copy identifies its owner, so that several windows can run. GUI thread; another
// thread writes the files.

#include <QLockFile>
#include <QObject>
#include <QTimer>
#include <filesystem>
#include <memory>
#include <optional>

#include "document/document.h"
#include "jobs/worker_thread.h"

namespace quantloupe::ui {

/// Returns the folder of the recovery copies.
std::filesystem::path recoveryFolder();

/// A recovery copy left by a crash. Holds its lock so that no other program offers it at the same time.
struct RecoveryCopy {
    std::filesystem::path file;
    std::filesystem::path project;  ///< the project it belongs to; empty: never saved
    QString title;                  ///< of the project or the model
    QString when;                   ///< "12:30, 1 May"
    std::unique_ptr<QLockFile> lock;
};
/// Returns the newest recovery copy, or nothing if there is none.
std::optional<RecoveryCopy> findRecovery(const std::filesystem::path& folder);
void discardRecovery(RecoveryCopy& copy);

class Autosave : public QObject {
    Q_OBJECT
  public:
    /// The document must outlive this object.
    Autosave(Document* document, const std::filesystem::path& folder);
    /// Removes the copy, because the program ends normally.
    ~Autosave() override;

    void setDelay(int milliseconds) { m_timer.setInterval(milliseconds); }
    /// Continues with a recovered copy instead of a new one.
    void adopt(RecoveryCopy copy);
    const std::filesystem::path& file() const { return m_file; }

  Q_SIGNALS:
    void written();
    void failed(QString text);  ///< only for the first failure

  private:
    void changed();
    void write();
    void remove();

    Document* m_document;
    std::filesystem::path m_file;
    std::unique_ptr<QLockFile> m_lock;
    QTimer m_timer;
    bool m_complained = false;
    WorkerThread m_thread;
};

}  // namespace quantloupe::ui
