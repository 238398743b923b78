// SPDX-License-Identifier: Apache-2.0
#include "document/recent_files.h"

#include <QFileInfo>
#include <QSettings>

namespace quantloupe::ui {

namespace {
const QString kKey = QStringLiteral("recent/models");
constexpr int kMost = 8;
}  // namespace

QStringList recentModels() {
    QStringList paths = QSettings().value(kKey).toStringList();
    paths.removeIf([](const QString& path) { return !QFileInfo::exists(path); });
    return paths;
}

void rememberModel(const QString& path) {
    const QString absolute = QFileInfo(path).absoluteFilePath();
    QStringList paths = QSettings().value(kKey).toStringList();
    paths.removeAll(absolute);
    paths.prepend(absolute);
    while (paths.size() > kMost) paths.removeLast();
    QSettings().setValue(kKey, paths);
}

void forgetModels() { QSettings().remove(kKey); }

}  // namespace quantloupe::ui
