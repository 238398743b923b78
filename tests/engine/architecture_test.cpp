// SPDX-License-Identifier: Apache-2.0
// Checks the architecture: which folder may include which.
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
        QDirIterator files(m_root + "/" + folder, {"*.h", "*.cpp"}, QDir::Files, QDirIterator::Subdirectories);
        while (files.hasNext()) {
            QFile file(files.next());
            if (!file.open(QFile::ReadOnly)) continue;
            auto matches = pattern.globalMatch(QString::fromUtf8(file.readAll()));
            while (matches.hasNext()) found.emplace_back(files.fileInfo().fileName(), matches.next().captured(1));
        }
        return found;
    }

  private Q_SLOTS:
    void theEngineKnowsNoQt() {
        const auto all = includes("engine");
        QVERIFY(all.size() > 100);
        static const QRegularExpression qt("^(Q[A-Z]|Qt)");
        for (const auto& [file, header] : all)
            QVERIFY2(!qt.match(header).hasMatch(), qPrintable(file + " includes " + header));
    }

    void theCommandLineKnowsNoQt() {
        static const QRegularExpression qt("^(Q[A-Z]|Qt)");
        for (const auto& [file, header] : includes("app/cli"))
            QVERIFY2(!qt.match(header).hasMatch(), qPrintable(file + " includes " + header));
    }

    void theWindowKnowsNoKernels() {
        for (const auto& [file, header] : includes("ui"))
            QVERIFY2(!header.startsWith("runtime/") && !header.startsWith("quantize/"),
                     qPrintable(file + " includes " + header));
    }

    /// session -> analysis -> quantize -> transform -> runtime -> model; results (session/evaluation.h) are values for all.
    void foldersOfTheEngineDependDownwards() {
        const std::map<QString, QStringList> allowed = {
            {"base", {"base"}},
            {"model", {"base", "model"}},
            {"config", {"base", "model", "config"}},
            {"data", {"base", "model", "data"}},
            {"runtime", {"base", "model", "data", "runtime"}},
            {"transform", {"base", "model", "config", "runtime", "transform"}},
            {"quantize", {"base", "model", "config", "data", "runtime", "transform", "quantize"}},
            {"analysis", {"base", "model", "config", "data", "runtime", "analysis"}},
            {"picture", {"base", "model", "picture"}},
            {"interchange", {"base", "model", "config", "data", "transform", "quantize", "picture", "interchange"}},
        };
        for (const auto& [folder, below] : allowed)
            for (const auto& [file, header] : includes("engine/" + folder)) {
                const qsizetype slash = header.indexOf('/');
                if (slash < 0 || !allowed.contains(header.left(slash))) continue;
                QVERIFY2(below.contains(header.left(slash)), qPrintable(folder + "/" + file + " includes " + header));
            }
    }
};

QTEST_GUILESS_MAIN(ArchitectureTest)
#include "architecture_test.moc"
