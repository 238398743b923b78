// SPDX-License-Identifier: Apache-2.0
// Checks that the examples in README and docs/ show the program's real output. Every command that begins with
// "$ quantloupe-cli" runs on the demo, and its output must contain the lines below it in this order ("..."
// stands for omitted lines). The numbers are the same on every processor with AVX2.
#include <QDir>
#include <QJsonDocument>
#include <QTemporaryDir>
#include <QtTest>

#include "base/input_file.h"
#include "support/run_cli.h"

namespace {

const QString kSource = QStringLiteral(QUANTLOUPE_SOURCE_DIR "/");

/// Returns the lines of each block between ``` marks.
QList<QStringList> codeBlocks(const QString& file) {
    QFile document(kSource + file);
    if (!document.open(QIODevice::ReadOnly)) return {};
    QList<QStringList> blocks;
    bool inside = false;
    for (const QString& line : QString::fromUtf8(document.readAll()).split(QLatin1Char('\n'))) {
        if (line.startsWith(QLatin1String("```"))) {
            inside = !inside;
            if (inside) blocks.append(QStringList());
        } else if (inside) {
            blocks.last().append(line);
        }
    }
    return blocks;
}

/// The commands of a block and their expected output. A line that ends in a backslash continues on the next
/// line.
struct Example {
    QString command;
    QStringList printed;
};
QList<Example> examplesOf(const QStringList& block, const QString& prompt) {
    QList<Example> examples;
    bool goesOn = false;
    for (QString line : block) {
        const bool begins = !goesOn && line.startsWith(prompt);
        if (!begins && examples.isEmpty()) continue;
        const bool part = begins || goesOn;
        goesOn = part && line.endsWith(QLatin1Char('\\'));
        if (goesOn) line.chop(1);
        if (begins)
            examples.append({line.mid(prompt.size()), {}});
        else if (part)
            examples.last().command += line;
        else
            examples.last().printed.append(line);
    }
    return examples;
}

QString simplified(const QString& line) { return line.simplified(); }

/// Returns the first line of `expected` that is not in `printed` after the preceding ones; null if all are.
QString missingLine(const QStringList& expected, const QStringList& printed) {
    qsizetype next = 0;
    for (const QString& line : expected) {
        QString wanted = simplified(line);
        if (wanted == QLatin1String("...") || wanted.isEmpty()) continue;
        const bool isBeginning = wanted.endsWith(QLatin1String(" ..."));
        if (isBeginning) wanted.chop(4);
        while (next < printed.size() && !(isBeginning ? simplified(printed[next]).startsWith(wanted)
                                                      : simplified(printed[next]) == wanted))
            ++next;
        if (next++ == printed.size()) return line;
    }
    return {};
}

}  // namespace

class DocumentationTest : public QObject {
    Q_OBJECT

    QTemporaryDir m_folder;  ///< has what the demo's folder has

    quantloupe::test::Outcome run(const QString& command) const {
        QString expanded = command;
        expanded.replace(QStringLiteral("DEMO"),
                         QStringLiteral("mobilenetv2_cifar10.onnx --config demo.config.json --data val "
                                        "--calibration-data calibration"));
        QStringList words = QProcess::splitCommand(expanded);
        words.removeFirst();
        return quantloupe::test::runCli(words, m_folder.path());
    }

  private Q_SLOTS:
    void initTestCase() {
        // The example of a custom metric program needs numpy.
        if (const QString python = qEnvironmentVariable("QUANTLOUPE_PYTHON"); !python.isEmpty())
            qputenv("PATH",
                    (QFileInfo(python).path() + QLatin1Char(':') + qEnvironmentVariable("PATH")).toUtf8());
        for (const QFileInfo& entry : QDir(kSource + QStringLiteral("resources/demo"))
                                          .entryInfoList(QDir::AllEntries | QDir::NoDotAndDotDot))
            QVERIFY(QFile::link(entry.filePath(), m_folder.filePath(entry.fileName())));
    }

    void examples_data() {
        QTest::addColumn<QString>("command");
        QTest::addColumn<QStringList>("printed");
        for (const QFileInfo& file :
             QDir(kSource + QStringLiteral("docs")).entryInfoList({QStringLiteral("*.md")}))
            for (const QStringList& block : codeBlocks(QStringLiteral("docs/") + file.fileName()))
                for (const Example& example : examplesOf(block, QStringLiteral("$ ")))
                    QTest::addRow("%s: %s", qPrintable(file.fileName()), qPrintable(example.command))
                        << example.command << example.printed;
    }
    void examples() {
        QFETCH(QString, command);
        QFETCH(QStringList, printed);
        if (command.startsWith(QLatin1String("cat "))) {  // a file that the next command runs
            QFile file(m_folder.filePath(command.mid(4)));
            QVERIFY(file.open(QIODevice::WriteOnly));
            file.write(printed.join(QLatin1Char('\n')).toUtf8());
            QVERIFY(file.setPermissions(QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner));
            return;
        }
        if (command.contains(QLatin1String(" session ")))
            return;  // a dialog; session_protocol_test has its own
        if (command.contains(QLatin1String(".py")) && !qEnvironmentVariableIsSet("QUANTLOUPE_PYTHON"))
            QSKIP("QUANTLOUPE_PYTHON is not set; packaging/test sets it to a Python that has numpy");
        const auto outcome = run(command);
        QVERIFY2(outcome.code == 0, outcome.text());
        const QString missing = missingLine(printed, (outcome.err + outcome.out).split(QLatin1Char('\n')));
        QVERIFY2(missing.isNull(), QByteArray("not printed: " + missing.toUtf8() + "\n" + outcome.text()));
    }

    /// The commands of the README's minute on the command line, one after the other.
    void readmeCommands() {
        int commands = 0;
        for (const QStringList& block : codeBlocks(QStringLiteral("README.md")))
            for (const Example& example : examplesOf(block, QStringLiteral("quantloupe-cli "))) {
                const auto outcome = run(QStringLiteral("quantloupe-cli ") + example.command);
                QVERIFY2(outcome.code == 0, example.command.toUtf8() + "\n" + outcome.text());
                ++commands;
            }
        QVERIFY(commands >= 5);
    }

    /// The accuracies of the README's minute in the window.
    void readmeFigures_data() {
        QTest::addColumn<QString>("text");
        QTest::addColumn<QString>("options");
        QTest::addColumn<QString>("network");
        QTest::newRow("float") << "92.4 % right in float"
                               << ""
                               << "float";
        QTest::newRow("quantized") << "68.0 % quantized"
                                   << ""
                                   << "quantized";
        QTest::newRow("equalized") << "80.6 % with every layer quantized"
                                   << "--replace-relu6 between --cle aimet"
                                   << "quantized";
        QTest::newRow("three layers in float")
            << "87.6 %"
            << "--replace-relu6 between --cle aimet --skip re:features.0/features.0.0 "
               "--skip re:features.1/conv/conv.0/ --skip re:features.17/conv/conv.2"
            << "quantized";
    }
    void readmeFigures() {
        QFETCH(QString, text);
        QFETCH(QString, options);
        QFETCH(QString, network);
        const QString readme = QString::fromStdString(
            quantloupe::readFile((kSource + QStringLiteral("README.md")).toStdString()));
        QVERIFY2(simplified(readme).contains(text), qPrintable(text));
        const auto outcome = run(QStringLiteral("quantloupe-cli analyze DEMO --json ") + options);
        QVERIFY2(outcome.code == 0, outcome.text());
        const double top1 =
            QJsonDocument::fromJson(outcome.out.toUtf8())[network][QLatin1String("top1")].toDouble();
        QCOMPARE(QString::number(100 * top1, 'f', 1), text.section(QLatin1Char(' '), 0, 0));
    }
};

QTEST_GUILESS_MAIN(DocumentationTest)
#include "documentation_test.moc"
