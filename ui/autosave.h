// SPDX-License-Identifier: Apache-2.0
#pragma once
// A recovery copy of what is not saved: a project file in the person's state folder, written a few seconds after a
// change, removed once there is nothing to lose. One that is left over belonged to a program that crashed.
//
// A lock beside each copy says whose it is, so several windows can run. GUI thread; the writing is done by another.

#include <QLockFile>
#include <QObject>
#include <QTimer>
#include <filesystem>
#include <memory>
#include <optional>

#include "document.h"
#include "jobs/worker_thread.h"

namespace quantloupe::ui {

/// Where the copies lie.
std::filesystem::path recoveryFolder();

/// What a crash left behind. Holds its lock: no other program offers it meanwhile.
struct RecoveryCopy {
    std::filesystem::path file;
    std::filesystem::path project;  ///< that it is of; empty: never saved
    QString title;                  ///< of the project or the model
    QString when;                   ///< "12:30, 1 May"
    std::unique_ptr<QLockFile> lock;
};
/// The newest; nothing where there is none.
std::optional<RecoveryCopy> findRecovery(const std::filesystem::path& folder);
void discardRecovery(RecoveryCopy& copy);

class Autosave : public QObject {
    Q_OBJECT
  public:
    /// The document must outlive this.
    Autosave(Document* document, const std::filesystem::path& folder);
    /// The end is a clean one: removes the copy.
    ~Autosave() override;

    void setDelay(int milliseconds) { m_timer.setInterval(milliseconds); }
    /// Goes on with a copy that was recovered, instead of a new one.
    void adopt(RecoveryCopy copy);
    const std::filesystem::path& file() const { return m_file; }

  Q_SIGNALS:
    void written();
    void failed(QString text);  ///< the first time

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
