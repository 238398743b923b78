// SPDX-License-Identifier: Apache-2.0
#pragma once
// Tells when a file that was read has other content. A program that writes a model replaces it or writes it in pieces,
// so the folder is watched too, and a change is told once the file has rested. GUI thread.

#include <QDateTime>
#include <QFileSystemWatcher>
#include <QObject>
#include <QTimer>

namespace quantloupe::ui {

class FileWatch : public QObject {
    Q_OBJECT
  public:
    explicit FileWatch(QObject* parent = nullptr);
    /// Watches this file instead, as it is now. Empty: none.
    void watch(const QString& path);
    void setRest(int milliseconds) { m_rest.setInterval(milliseconds); }

  Q_SIGNALS:
    /// Size or time are others than when watch() was called or this was told last. A file that is gone is waited for.
    void changed();

  private:
    struct Stamp {
        qint64 size = -1;
        QDateTime time;
        bool operator==(const Stamp&) const = default;
    };
    static Stamp stampOf(const QString& path);
    void look();

    QFileSystemWatcher m_watcher;
    QTimer m_rest;
    QString m_path;
    Stamp m_known, m_seen;
};

}  // namespace quantloupe::ui
