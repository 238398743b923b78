// SPDX-License-Identifier: Apache-2.0
// The log shows each evaluation and export as a command, which gives the same result on the command line.
#include <QApplication>
#include <QClipboard>
#include <QProcess>

#include "color_document.h"
#include "commands/layer_edits.h"
#include "config/config_json.h"
#include "dialogs/exports.h"
#include "panels/log_panel.h"

using namespace quantloupe;
using namespace quantloupe::ui;

namespace {

QStringList words(const QString& command) {
    return QProcess::splitCommand(QString(command)
                                      .replace(QLatin1Char('"'), QLatin1String("\"\"\""))
                                      .replace(QLatin1Char('\''), QLatin1Char('"')));
}
QStringList settingsOf(const QString& command) {
    QStringList settings;
    const QStringList all = words(command);
    for (int i = 0; i + 1 < all.size(); ++i)
        if (all[i] == QLatin1String("--set")) settings << all[i + 1];
    return settings;
}
QuantizationConfig presetConfigOf(const QString& command) {
    const QStringList all = words(command);
    return configFromJson("{\"quantloupe\": 1, \"preset\": \"" +
                          all[all.indexOf(QStringLiteral("--preset")) + 1].toStdString() + "\"}");
}

}  // namespace

class LoggedCommandsTest : public QObject, private test::ColorDocument {
    Q_OBJECT
  private Q_SLOTS:
    void initTestCase() { writeImages(); }
    void init() { QVERIFY(openDocument()); }
    void cleanup() { m_document.reset(); }

    void loggedCommandGivesTheSameResult() {
        LogPanel panel(m_document.get());
        panel.show();
        QuantizationConfig odd = m_document->config();
        odd.layers["Gemm_4"].weightBits = 7;
        odd.calibration.method = CalibrationMethod::Ifmr;
        odd.calibration.parameters.searchRange = {0.5, 1.5};
        m_document->edit({odd, QStringLiteral("It's odd"), {}});
        QVERIFY(waitFor([&] { return panel.log()->rowCount() == 1; }));
        QCOMPARE(panel.log()->index(0, EvaluationLog::What).data().toString(), QStringLiteral("It's odd"));
        panel.view()->selectRow(0);
        for (auto* button : panel.head()->findChildren<QPushButton*>())
            QTest::mouseClick(button, Qt::LeftButton);
        const QString command = QApplication::clipboard()->text();
        QVERIFY2(command.startsWith(QStringLiteral("quantloupe-cli analyze ")), qPrintable(command));
        // The options match the evaluated configuration: they are parsed by the engine's own reader.
        QuantizationConfig read = presetConfigOf(command);
        for (const QString& setting : settingsOf(command)) {
            const auto equals = setting.indexOf(QLatin1Char('='));
            setConfigKey(read, setting.left(equals).toStdString(), setting.mid(equals + 1).toStdString());
        }
        QVERIFY(read == odd);
        QVERIFY(command.contains(QStringLiteral(" --data ")));
        // The shown command stays that of the row, whatever is edited later.
        m_document->edit(skipType(odd, "Gemm"));
        QVERIFY(waitFor([&] { return panel.log()->rowCount() == 2; }));
        QCOMPARE(panel.log()->entry(1).command, command);
        QCOMPARE(panel.findChild<QLineEdit*>()->text(), command);
    }

    void exportsAreLoggedWithTheirCommand() {
        LogPanel panel(m_document.get());
        QTemporaryDir folder;
        const auto written = [&](ExportKind kind, const char* format, const char* name) {
            const int rows = panel.log()->rowCount();
            const auto path = std::filesystem::path(folder.path().toStdString()) / name;
            startExport(*m_document, exportInfo(kind, format), path);
            if (!waitFor([&] { return std::filesystem::exists(path) && !m_document->job()->busy(); }))
                return QString();
            return panel.log()->rowCount() == rows + 1 ? panel.log()->entry(0).command : QString();
        };
        QVERIFY(written(ExportKind::QuantizedModel, "", "q.onnx")
                    .startsWith(QStringLiteral("quantloupe-cli quantize ")));
        QVERIFY(written(ExportKind::EqualizedModel, "", "e.onnx")
                    .startsWith(QStringLiteral("quantloupe-cli transform ")));
        QVERIFY(written(ExportKind::Svg, "", "g.svg").startsWith(QStringLiteral("quantloupe-cli render ")));
        QVERIFY(written(ExportKind::FileFormat, "csv", "r.csv").contains(QStringLiteral(" --to csv ")));
        QCOMPARE(panel.log()->index(0, EvaluationLog::What).data().toString(),
                 QStringLiteral("Export r.csv"));
        // The copied commands run: each writes the file that the window wrote.
        for (int row = 0; row < panel.log()->rowCount(); ++row) {
            const QString command = panel.log()->entry(row).command;
            QProcess shell;
            const QString program = QStringLiteral(QUANTLOUPE_BIN_DIR "/quantloupe-cli");
            shell.start(QStringLiteral("sh"),
                        {QStringLiteral("-c"), program + command.mid(command.indexOf(QLatin1Char(' ')))});
            QVERIFY(shell.waitForFinished(60'000));
            QVERIFY2(shell.exitCode() == 0,
                     qPrintable(command + QString::fromUtf8(shell.readAllStandardError())));
        }
    }
};

QTEST_MAIN(LoggedCommandsTest)
#include "logged_commands_test.moc"
