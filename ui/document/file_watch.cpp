// SPDX-License-Identifier: Apache-2.0
#include "document/file_watch.h"

#include <QFileInfo>

namespace quantloupe::ui {

FileWatch::FileWatch(QObject* parent) : QObject(parent) {
    m_rest.setSingleShot(true);
    m_rest.setInterval(600);
    // Not restarted by every notification, because other files in the folder may change all the time, and
    // look() waits until the files no longer change.
    const auto wait = [this] {
        if (!m_rest.isActive()) m_rest.start();
    };
    connect(&m_watcher, &QFileSystemWatcher::fileChanged, this, wait);
    connect(&m_watcher, &QFileSystemWatcher::directoryChanged, this, wait);
    connect(&m_rest, &QTimer::timeout, this, &FileWatch::look);
}

void FileWatch::watch(const QStringList& paths) {
    m_rest.stop();
    if (const QStringList old = m_watcher.files() + m_watcher.directories(); !old.isEmpty())
        m_watcher.removePaths(old);
    m_files.clear();
    QStringList watched;
    for (const QString& path : paths) {
        const Stamp stamp = stampOf(path);
        m_files.append({path, stamp, stamp});
        if (stamp.size >= 0) watched << path;
        if (const QString folder = QFileInfo(path).absolutePath(); !watched.contains(folder))
            watched << folder;
    }
    if (!watched.isEmpty()) m_watcher.addPaths(watched);
}

FileWatch::Stamp FileWatch::stampOf(const QString& path) {
    const QFileInfo info(path);
    if (!info.exists()) return {};
    return {info.size(), info.lastModified()};
}

void FileWatch::look() {
    bool moving = false;
    QList<File*> others;
    for (File& file : m_files) {
        const Stamp now = stampOf(file.path);
        if (now.size < 0) continue;  // the folder's notification reports when it exists again
        // A replaced file is a different file for the system and is no longer watched.
        if (!m_watcher.files().contains(file.path)) m_watcher.addPath(file.path);
        if (now == file.known) continue;
        moving = moving || now != file.seen;  // possibly still being written
        file.seen = now;
        others.append(&file);
    }
    if (moving) return m_rest.start();
    for (File* file : others) file->known = file->seen;
    if (!others.isEmpty()) Q_EMIT changed(others.front()->path);
}

}  // namespace quantloupe::ui
