// SPDX-License-Identifier: Apache-2.0
// Checks that the examples in README and docs/ show the program's real output. Every command that begins with
// "$ quantloupe-cli" runs on the demo, and its output must contain the lines below it in this order ("..."
// stands for omitted lines). The tables of docs/equalization.md are computed again, and all links are
// followed. The numbers are the same on every processor with AVX2.
#include <QDir>
#include <QJsonDocument>
#include <QRegularExpression>
#include <QTemporaryDir>
#include <QtTest>

#include "base/input_file.h"
#include "config/config_json.h"
#include "config/presets.h"
#include "support/demo.h"
#include "support/run_cli.h"
#include "support/text_model.h"

namespace {

const QString kSource = QStringLiteral(QUANTLOUPE_SOURCE_DIR "/");

QStringList linesOf(const QString& file) {
    return QString::fromStdString(quantloupe::readFile((kSource + file).toStdString()))
        .split(QLatin1Char('\n'));
}

/// Returns the lines of each block between ``` marks.
QList<QStringList> codeBlocks(const QString& file) {
    QList<QStringList> blocks;
    bool inside = false;
    for (const QString& line : linesOf(file)) {
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

/// Returns the rows of the table whose first line begins with `header`, without that line.
QList<QStringList> tableRows(const QString& file, const QString& header) {
    QList<QStringList> rows;
    bool inside = false;
    for (const QString& line : linesOf(file)) {
        const bool first = line.startsWith(header);
        inside = first || (inside && line.startsWith(QLatin1Char('|')));
        if (!inside || first || line.startsWith(QLatin1String("|---"))) continue;
        QStringList cells = line.split(QLatin1Char('|')).mid(1);
        for (QString& cell : cells) cell = cell.trimmed();
        rows.append(cells);
    }
    return rows;
}

/// The settings of the rows in the tables of docs/equalization.md. Learned rounding takes too long for a
/// test.
using Settings = std::vector<std::pair<std::string, std::string>>;
const std::map<std::string, Settings>& equalizationRows() {
    const std::pair<std::string, std::string> between{"transforms.replace_relu6", "between"},
        aimet{"transforms.equalization.profile", "aimet"}, quark{"transforms.equalization.profile", "quark"},
        highBias{"transforms.high_bias_fold", "true"}, analytic{"refine.bias_correction", "analytic"},
        empirical{"refine.bias_correction", "empirical"};
    static const std::map<std::string, Settings> rows{
        {"no transforms, batch norms kept", {{"transforms.fold_batch_norm", "false"}}},
        {"batch norms folded", {}},
        {"Clip to Relu", {between}},
        {"equalized: aimet", {between, aimet}},
        {"equalized: quark", {between, quark}},
        {"equalized: quark, with biases", {between, quark, {"transforms.equalization.append_bias", "true"}}},
        {"equalized: quantloupe",
         {{"transforms.replace_relu6", "all"}, {"transforms.equalization.profile", "quantloupe"}}},
        {"bias correction, analytic", {analytic}},
        {"bias correction, empirical", {empirical}},
        {"aimet, high-bias fold", {between, aimet, highBias}},
        {"aimet, high-bias fold, analytic correction", {between, aimet, highBias, analytic}},
        {"aimet, high-bias fold, empirical correction", {between, aimet, highBias, empirical}},
        {"migration 0.5", {{"refine.migration", "0.5"}}}};
    return rows;
}

/// Returns the anchors of a page's headings, as GitHub defines them.
QStringList anchorsOf(const QString& file) {
    static const QRegularExpression heading(QStringLiteral("^#{1,6} (.*)$")),
        dropped(QStringLiteral("[^\\w\\- ]"), QRegularExpression::UseUnicodePropertiesOption);
    QStringList anchors;
    for (const QString& line : linesOf(file))
        if (const auto match = heading.match(line); match.hasMatch())
            anchors.append(
                match.captured(1).toLower().remove(dropped).replace(QLatin1Char(' '), QLatin1Char('-')));
    return anchors;
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
        QTest::newRow("float") << "92.4 % in float"
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

    void equalizationTables_data() {
        QTest::addColumn<QString>("header");
        QTest::addColumn<QString>("model");
        QTest::addColumn<int>("onlyColumn");  // 0: all columns
        QTest::newRow("ResNet-8") << "| ResNet-8, float 76.9"
                                  << "mlperf_tiny_resnet8" << 0;
        QTest::newRow("MobileNetV2") << "| MobileNetV2, float 93.5"
                                     << "mobilenetv2_cifar10" << 3;
    }
    void equalizationTables() {
        using namespace quantloupe;
        QFETCH(QString, header);
        QFETCH(QString, model);
        QFETCH(int, onlyColumn);
        const auto session = test::openSession(test::asset("models/" + model.toStdString() + ".onnx"),
                                               test::assets() / "data/cifar10/val",
                                               test::assets() / "data/cifar10/calibration");
        int compared = 0;
        QStringList different;
        for (const QStringList& cells : tableRows(QStringLiteral("docs/equalization.md"), header)) {
            const auto row = equalizationRows().find(cells[0].toStdString());
            if (row == equalizationRows().end()) continue;
            for (int column = 1; column <= 4; ++column) {
                if (onlyColumn > 0 && column != onlyColumn) continue;
                QuantizationConfig config;
                config.skipTail = false;
                config.quantization.weight.bits = column <= 2 ? 8 : 4;
                config.quantization.weight.perChannel = column % 2 == 0;
                for (const auto& [key, value] : row->second) setConfigKey(config, key, value);
                const EvaluationPtr result = session->evaluate(config, Depth::Accuracy);
                const Accuracy& accuracy = *result->quantized;
                const QString cell = QString::asprintf("%.1f / %.1f", 100 * *accuracy.top1, *accuracy.sqnrDb);
                if (cell != cells[column])
                    different << QStringLiteral("%1, column %2: %3").arg(cells[0]).arg(column).arg(cell);
                ++compared;
            }
        }
        QVERIFY2(different.isEmpty(), qPrintable(different.join(QLatin1Char('\n'))));
        QCOMPARE(compared, onlyColumn > 0 ? 13 : 44);
    }

    /// The accuracies of presets in docs/calibration.md, in rows that begin with their names. Those of AIMET
    /// take long with MobileNetV2.
    void presetAccuracies() {
        using namespace quantloupe;
        static const QRegularExpression name(QStringLiteral("`([^`]+)`"));
        std::map<std::string, std::unique_ptr<Session>> sessions;
        int compared = 0;
        for (const QStringList& cells :
             tableRows(QStringLiteral("docs/calibration.md"), QStringLiteral("| run | top-1, Quantloupe"))) {
            const bool isResNet = cells[0].contains(QLatin1String("ResNet-8"));
            if (!cells[0].startsWith(QLatin1Char('`')) ||
                (!isResNet && cells[0].contains(QLatin1String("aimet"))))
                continue;
            const std::string model = isResNet ? "mlperf_tiny_resnet8" : "mobilenetv2_cifar10";
            auto& session = sessions[model];
            if (!session)
                session = test::openSession(test::asset("models/" + model + ".onnx"),
                                            test::assets() / "data/cifar10/val",
                                            test::assets() / "data/cifar10/calibration");
            for (auto match = name.globalMatch(cells[0]); match.hasNext(); ++compared) {
                const std::string preset = match.next().captured(1).toStdString();
                const EvaluationPtr result = session->evaluate(presetConfig(preset), Depth::Accuracy);
                const QString top1 = QString::asprintf("%.1f %%", 100 * *result->quantized->top1);
                QVERIFY2(top1 == cells[1], qPrintable(cells[0] + QLatin1String(": ") + top1));
            }
        }
        QCOMPARE(compared, 7);
    }

    /// Every link to a file of the repository and to a heading in it.
    void links() {
        static const QRegularExpression link(QStringLiteral("\\]\\(([^)\\s]+)\\)"));
        QStringList pages = QDir(kSource).entryList({QStringLiteral("*.md")}), broken;
        for (const char* folder : {"docs/", "docs/how-to/", "tests/bench/", "tests/assets/"})
            for (const QString& page :
                 QDir(kSource + QLatin1String(folder)).entryList({QStringLiteral("*.md")}))
                pages << QLatin1String(folder) + page;
        for (const QString& page : pages)
            for (auto match = link.globalMatch(linesOf(page).join(QLatin1Char('\n'))); match.hasNext();) {
                const QString target = match.next().captured(1),
                              path = target.section(QLatin1Char('#'), 0, 0),
                              anchor = target.section(QLatin1Char('#'), 1);
                if (target.startsWith(QLatin1String("http"))) continue;
                const QString file =
                    path.isEmpty() ? page : QDir::cleanPath(QFileInfo(page).path() + QLatin1Char('/') + path);
                if (!QFileInfo::exists(kSource + file) ||
                    (!anchor.isEmpty() && !anchorsOf(file).contains(anchor)))
                    broken << page + QLatin1String(": ") + target;
            }
        QVERIFY2(broken.isEmpty(), qPrintable(broken.join(QLatin1Char('\n'))));
    }
};

QTEST_GUILESS_MAIN(DocumentationTest)
#include "documentation_test.moc"
