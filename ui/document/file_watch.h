// SPDX-License-Identifier: Apache-2.0
#pragma once
// Reports changes of files that were read. Because programs may replace a model or write it in pieces, the
// folders are also watched, and a change is reported after no file has changed for a while. GUI thread.

#include <QDateTime>
#include <QFileSystemWatcher>
#include <QObject>
#include <QTimer>

namespace quantloupe::ui {

class FileWatch : public QObject {
    Q_OBJECT
  public:
    explicit FileWatch(QObject* parent = nullptr);
    /// Watches these files instead, starting from their current state. A file that does not exist yet is
    /// reported when it is created. Empty: none.
    void watch(const QStringList& paths);
    void setRest(int milliseconds) { m_rest.setInterval(milliseconds); }

  Q_SIGNALS:
    /// Reports the first file of the list whose size or time has changed since watch() was called or since
    /// the last report. A deleted file is not reported until it exists again.
    void changed(QString path);

  private:
    struct Stamp {
        qint64 size = -1;
        QDateTime time;
        bool operator==(const Stamp&) const = default;
    };
    struct File {
        QString path;
        Stamp known, seen;
    };
    static Stamp stampOf(const QString& path);
    void look();

    QFileSystemWatcher m_watcher;
    QTimer m_rest;
    QList<File> m_files;
};

}  // namespace quantloupe::ui
