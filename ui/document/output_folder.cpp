// SPDX-License-Identifier: Apache-2.0
#include "document/output_folder.h"

#include <QDir>
#include <QFileInfo>
#include <QSettings>
#include <QStandardPaths>

#include "document/demo.h"
#include "style/path_text.h"

namespace quantloupe::ui {

namespace {

const QString kLastOutput =
    QStringLiteral("outputFolder");  ///< of the model used last: its path, then the folder

QString text(const std::filesystem::path& path) {
    return pathText(std::filesystem::absolute(path).lexically_normal());
}

bool accepts(const QString& folder) {
    const QFileInfo info(folder);
    return info.isDir() && info.isWritable();
}

}  // namespace

std::filesystem::path outputFolder(const std::filesystem::path& model) {
    const QStringList last = QSettings().value(kLastOutput).toStringList();
    if (last.size() == 2 && last[0] == text(model) && accepts(last[1])) return last[1].toStdString();
    const QString own = text(model.has_parent_path() ? model.parent_path() : ".");
    if (accepts(own) && !isDemo(model)) return own.toStdString();
    const QString documents = QStandardPaths::writableLocation(QStandardPaths::DocumentsLocation);
    return (accepts(documents) ? documents : QDir::homePath()).toStdString();
}

std::filesystem::path proposedOutput(const std::filesystem::path& model, const std::string& extension) {
    std::filesystem::path name = model.filename();
    name.replace_extension();
    name += extension;
    return outputFolder(model) / name;
}

void rememberOutputFolder(const std::filesystem::path& model, const std::filesystem::path& folder) {
    QSettings().setValue(kLastOutput, QStringList{text(model), text(folder)});
}

}  // namespace quantloupe::ui
