// SPDX-License-Identifier: Apache-2.0
// Checks the architecture: which folder may include which.
#include <QDir>
#include <QDirIterator>
#include <QFile>
#include <QRegularExpression>
#include <QtTest>
#include <map>

class ArchitectureTest : public QObject {
    Q_OBJECT

  private:
    const QString m_root = QStringLiteral(QUANTLOUPE_SOURCE_DIR);

    /// "file includes header" for every include of the files below `folder`.
    std::vector<std::pair<QString, QString>> includes(const QString& folder) const {
        static const QRegularExpression pattern("^\\s*#\\s*include\\s*[<\"]([^>\"]+)[>\"]",
                                                QRegularExpression::MultilineOption);
        std::vector<std::pair<QString, QString>> found;
        QDirIterator files(m_root + "/" + folder, {"*.h", "*.cpp"}, QDir::Files,
                           QDirIterator::Subdirectories);
        while (files.hasNext()) {
            QFile file(files.next());
            if (!file.open(QFile::ReadOnly)) continue;
            auto matches = pattern.globalMatch(QString::fromUtf8(file.readAll()));
            while (matches.hasNext())
                found.emplace_back(files.fileInfo().fileName(), matches.next().captured(1));
        }
        return found;
    }

    /// Fails if a folder in `part` is not listed, or if one of its files includes another folder than
    /// allowed.
    void checkFolders(const QString& part, const std::map<QString, QStringList>& allowed) const {
        for (const QString& folder : QDir(m_root + "/" + part).entryList(QDir::Dirs | QDir::NoDotAndDotDot))
            QVERIFY2(allowed.contains(folder),
                     qPrintable(part + "/" + folder + " is not listed in this test"));
        for (const auto& [folder, below] : allowed)
            for (const auto& [file, header] : includes(part + "/" + folder)) {
                const qsizetype slash = header.indexOf('/');
                if (slash < 0 || !allowed.contains(header.left(slash))) continue;
                QVERIFY2(below.contains(header.left(slash)),
                         qPrintable(folder + "/" + file + " includes " + header));
            }
    }

  private Q_SLOTS:
    void engineDoesNotIncludeQt() {
        const auto all = includes("engine");
        QVERIFY(all.size() > 100);
        static const QRegularExpression qt("^(Q[A-Z]|Qt)");
        for (const auto& [file, header] : all)
            QVERIFY2(!qt.match(header).hasMatch(), qPrintable(file + " includes " + header));
    }

    void commandLineDoesNotIncludeQt() {
        static const QRegularExpression qt("^(Q[A-Z]|Qt)");
        for (const auto& [file, header] : includes("app/cli"))
            QVERIFY2(!qt.match(header).hasMatch(), qPrintable(file + " includes " + header));
    }

    void windowDoesNotIncludeKernels() {
        for (const auto& [file, header] : includes("ui"))
            QVERIFY2(!header.startsWith("runtime/") && !header.startsWith("quantize/"),
                     qPrintable(file + " includes " + header));
    }

    /// The parts of a session are internal to engine/session.
    void onlySessionsIncludeTheirParts() {
        std::size_t found = 0;
        for (const QString folder : {"app", "engine", "python", "tests", "ui"}) {
            QDirIterator files(m_root + "/" + folder, {"*.h", "*.cpp"}, QDir::Files,
                               QDirIterator::Subdirectories);
            while (files.hasNext()) {
                const QString path = QDir(m_root).relativeFilePath(files.next());
                if (path == "tests/engine/architecture_test.cpp") continue;
                QFile file(m_root + "/" + path);
                QVERIFY2(file.open(QFile::ReadOnly), qPrintable(path));
                const QString text = QString::fromUtf8(file.readAll());
                if (!text.contains("SessionParts") &&
                    !(text.contains("#include \"session/") && text.contains("partsOf(")))
                    continue;
                ++found;
                QVERIFY2(path.startsWith("engine/session/"),
                         qPrintable(path + " uses the parts of a session"));
            }
        }
        QVERIFY(found > 10);
    }

    /// Paths in the documents for contributors exist.
    void pathsInDocumentsExist() {
        static const QRegularExpression path("`((?:engine|ui|app|tests|docs|packaging)/[\\w./-]*)`");
        QStringList documents = {"ARCHITECTURE.md", "CONTRIBUTING.md", "SECURITY.md", "docs/releasing.md"};
        for (const QString& name : QDir(m_root + "/docs/how-to").entryList({"*.md"}))
            documents << "docs/how-to/" + name;
        QVERIFY(documents.size() >= 9);
        for (const QString& document : documents) {
            QFile file(m_root + "/" + document);
            QVERIFY2(file.open(QFile::ReadOnly), qPrintable(document));
            auto paths = path.globalMatch(QString::fromUtf8(file.readAll()));
            while (paths.hasNext()) {
                const QString named = paths.next().captured(1);
                QVERIFY2(QFileInfo::exists(m_root + "/" + named), qPrintable(document + " names " + named));
            }
        }
    }

    /// ARCHITECTURE.md lists every folder of the engine.
    void everyFolderOfTheEngineIsDescribed() {
        QFile file(m_root + "/ARCHITECTURE.md");
        QVERIFY(file.open(QFile::ReadOnly));
        const QString text = QString::fromUtf8(file.readAll());
        for (const QString& folder : QDir(m_root + "/engine").entryList(QDir::Dirs | QDir::NoDotAndDotDot))
            QVERIFY2(text.contains("`engine/" + folder + "/`"), qPrintable(folder));
    }

    /// The folders of the engine that the files of each folder may include.
    void foldersOfTheEngineDependDownwards() {
        const std::map<QString, QStringList> allowed = {
            {"base", {"base"}},
            {"model", {"base", "model"}},
            {"config", {"base", "model", "config"}},
            {"data", {"base", "model", "data"}},
            {"runtime", {"base", "model", "data", "runtime"}},
            {"transform", {"base", "model", "config", "runtime", "transform"}},
            {"results", {"base", "model", "config", "results"}},
            {"cost", {"base", "model", "config", "results", "cost"}},
            {"quantize", {"base", "model", "config", "data", "runtime", "transform", "results", "quantize"}},
            {"analysis", {"base", "model", "config", "data", "runtime", "results", "analysis"}},
            {"session",
             {"base", "model", "config", "data", "runtime", "transform", "quantize", "results", "cost",
              "analysis", "session"}},
            {"search", {"base", "model", "config", "results", "cost", "analysis", "session", "search"}},
            {"picture", {"base", "model", "results", "picture"}},
            {"interchange",
             {"base", "model", "config", "data", "runtime", "transform", "quantize", "results", "cost",
              "analysis", "picture", "session", "interchange"}},
        };
        checkFolders("engine", allowed);
    }

    /// The folders of the window that the files of each folder may include.
    void foldersOfTheWindowDependDownwards() {
        const QStringList order = {"resources", "style",   "widgets", "jobs",    "commands", "document",
                                   "models",    "reports", "graph",   "dialogs", "panels",   "window"};
        std::map<QString, QStringList> allowed;
        for (int i = 0; i < order.size(); ++i) allowed[order[i]] = order.first(i + 1);
        checkFolders("ui", allowed);
    }
};

QTEST_GUILESS_MAIN(ArchitectureTest)
#include "architecture_test.moc"
