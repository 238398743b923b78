// SPDX-License-Identifier: Apache-2.0
#include "file_watch.h"

#include <QFileInfo>

namespace quantloupe::ui {

FileWatch::FileWatch(QObject* parent) : QObject(parent) {
    m_rest.setSingleShot(true);
    m_rest.setInterval(600);
    // Not begun anew by every notice: other files of the folder may change all the time, and look() waits for rest itself.
    const auto wait = [this] {
        if (!m_rest.isActive()) m_rest.start();
    };
    connect(&m_watcher, &QFileSystemWatcher::fileChanged, this, wait);
    connect(&m_watcher, &QFileSystemWatcher::directoryChanged, this, wait);
    connect(&m_rest, &QTimer::timeout, this, &FileWatch::look);
}

void FileWatch::watch(const QString& path) {
    m_rest.stop();
    if (const QStringList old = m_watcher.files() + m_watcher.directories(); !old.isEmpty()) m_watcher.removePaths(old);
    m_path = path;
    if (path.isEmpty()) return;
    m_known = m_seen = stampOf(path);
    m_watcher.addPath(path);
    m_watcher.addPath(QFileInfo(path).absolutePath());
}

FileWatch::Stamp FileWatch::stampOf(const QString& path) {
    const QFileInfo info(path);
    if (!info.exists()) return {};
    return {info.size(), info.lastModified()};
}

void FileWatch::look() {
    const Stamp now = stampOf(m_path);
    if (now.size < 0) return;  // the folder tells when it is back
    // One that was replaced is another file to the system, and no longer watched.
    if (!m_watcher.files().contains(m_path)) m_watcher.addPath(m_path);
    if (now == m_known) return;
    if (now != m_seen) {  // still being written, perhaps
        m_seen = now;
        m_rest.start();
        return;
    }
    m_known = now;
    Q_EMIT changed();
}

}  // namespace quantloupe::ui
