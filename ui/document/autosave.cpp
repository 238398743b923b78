// SPDX-License-Identifier: Apache-2.0
#include "document/autosave.h"

#include <QCoreApplication>
#include <QDir>
#include <QFileInfo>
#include <QJsonDocument>
#include <QJsonObject>
#include <QLocale>
#include <QStandardPaths>
#include <QUuid>

#include "style/path_text.h"
#include "style/words.h"

namespace quantloupe::ui {

namespace {

namespace fs = std::filesystem;

constexpr int kDelayMilliseconds = 3000;
const QString kProjectKey = QStringLiteral("project");

std::unique_ptr<QLockFile> lockOf(const fs::path& file) {
    auto lock = std::make_unique<QLockFile>(QString::fromStdString(file.string() + ".lock"));
    lock->setStaleLockTime(0);  // a lock is only stale if its program has ended, whatever its age
    return lock;
}

/// The copy contains the path of its project in its view state.
void noteProject(Project& copy, const fs::path& project) {
    QJsonObject view = QJsonDocument::fromJson(QByteArray::fromStdString(copy.view)).object();
    std::error_code ignored;
    if (!project.empty()) view[kProjectKey] = pathText(fs::absolute(project, ignored));
    copy.view = QJsonDocument(view).toJson(QJsonDocument::Compact).toStdString();
}

}  // namespace

fs::path recoveryFolder() {
#if QT_VERSION >= QT_VERSION_CHECK(6, 7, 0)
    constexpr auto kPlace = QStandardPaths::StateLocation;
#else
    constexpr auto kPlace = QStandardPaths::AppLocalDataLocation;
#endif
    return fs::path(QStandardPaths::writableLocation(kPlace).toStdString()) / "recovery";
}

std::optional<RecoveryCopy> findRecovery(const fs::path& folder) {
    const QDir dir(pathText(folder));
    const QString pattern = QStringLiteral("*") + QLatin1String(kProjectSuffix);
    for (const QFileInfo& info : dir.entryInfoList({pattern}, QDir::Files, QDir::Time)) {
        RecoveryCopy copy;
        copy.file = info.absoluteFilePath().toStdString();
        copy.lock = lockOf(copy.file);
        if (!copy.lock->tryLock(0)) continue;  // belongs to an open window
        try {
            const Project project = loadProject(copy.file);
            const QJsonObject view =
                QJsonDocument::fromJson(QByteArray::fromStdString(project.view)).object();
            copy.project = view[kProjectKey].toString().toStdString();
            copy.title = QString::fromStdString(
                (copy.project.empty() ? project.model : copy.project).filename().string());
        } catch (const std::exception&) {
            continue;  // possibly from another version, which will offer it
        }
        copy.when = QLocale().toString(info.lastModified(), Words::tr("HH:mm, d MMMM"));
        return copy;
    }
    return std::nullopt;
}

void discardRecovery(RecoveryCopy& copy) {
    std::error_code ignored;
    fs::remove(copy.file, ignored);
    copy.lock.reset();
}

Autosave::Autosave(Document* document, const fs::path& folder)
    : m_document(document),
      m_file(folder / (QUuid::createUuid().toString(QUuid::WithoutBraces).toStdString() + kProjectSuffix)),
      m_thread(QStringLiteral("autosave")) {
    m_timer.setSingleShot(true);
    m_timer.setInterval(kDelayMilliseconds);
    connect(&m_timer, &QTimer::timeout, this, &Autosave::write);
    connect(document->undoStack(), &QUndoStack::cleanChanged, this, &Autosave::changed);
    connect(document, &Document::configChanged, this, &Autosave::changed);
    connect(document, &Document::dataChanged, this, &Autosave::changed);
    connect(document, &Document::historyChanged, this, &Autosave::changed);
    connect(document, &Document::projectEdited, this, &Autosave::changed);
}

Autosave::~Autosave() {
    m_thread.stop();  // discards queued tasks, possibly the removal of the file
    std::error_code ignored;
    fs::remove(m_file, ignored);
}

void Autosave::adopt(RecoveryCopy copy) {
    remove();
    m_file = std::move(copy.file);
    m_lock = std::move(copy.lock);
    changed();
}

void Autosave::changed() {
    if (!m_document->hasModel() || m_document->undoStack()->isClean())
        remove();
    else if (!m_timer.isActive())
        m_timer.start();
}

void Autosave::write() {
    const auto complain = [this](const QString& text) {
        if (!m_complained) Q_EMIT failed(text);
        m_complained = true;
    };
    if (!m_lock) {
        std::error_code error;
        fs::create_directories(m_file.parent_path(), error);
        m_lock = lockOf(m_file);
        if (!m_lock->tryLock(0)) {
            // A removal that was queued may still hold it: the next change tries again.
            const bool held = m_lock->error() == QLockFile::LockFailedError;
            m_lock.reset();
            if (held) return;
            return complain(tr("Cannot save recovery copies: the folder %1 is not writable.")
                                .arg(pathText(m_file.parent_path())));
        }
    }
    Project project = m_document->project();
    noteProject(project, m_document->projectPath());
    m_thread.post([this, complain, project = std::move(project), file = m_file] {
        QString problem;
        try {
            saveProject(project, file);
        } catch (const std::exception& error) {
            problem = tr("Cannot save recovery copies: ") + QString::fromUtf8(error.what());
        }
        m_thread.reply([this, complain, problem] {
            if (problem.isEmpty())
                Q_EMIT written();
            else
                complain(problem);
        });
    });
}

void Autosave::remove() {
    m_timer.stop();
    if (!m_lock) return;
    // Runs after pending writes; releases the lock last.
    m_thread.post([file = m_file, lock = std::shared_ptr<QLockFile>(std::move(m_lock))] {
        std::error_code ignored;
        fs::remove(file, ignored);
    });
}

}  // namespace quantloupe::ui
