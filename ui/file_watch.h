// SPDX-License-Identifier: Apache-2.0
#pragma once
// Tells when files that were read have other content. A program that writes a model replaces it or writes it in pieces,
// so the folders are watched too, and a change is told once all files have rested. GUI thread.

#include <QDateTime>
#include <QFileSystemWatcher>
#include <QObject>
#include <QTimer>

namespace quantloupe::ui {

class FileWatch : public QObject {
    Q_OBJECT
  public:
    explicit FileWatch(QObject* parent = nullptr);
    /// Watches these files instead, as they are now. One that is not there yet is waited for. Empty: none.
    void watch(const QStringList& paths);
    void setRest(int milliseconds) { m_rest.setInterval(milliseconds); }

  Q_SIGNALS:
    /// Size or time are others than when watch() was called or this was told last: the first of the list that is. A file that is
    /// gone is waited for.
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
