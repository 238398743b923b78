// SPDX-License-Identifier: Apache-2.0
// The window takes the same options for model, data and configuration as the command line.
#include <QTemporaryDir>
#include <QTest>

#include "base/atomic_file.h"
#include "config/config_json.h"
#include "support/run_cli.h"
#include "ui_test_support.h"

using namespace quantloupe;

class WindowOptionsTest : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void initTestCase() {
        m_model = QString::fromStdString(test::writeModel(m_folder).string());
        QFile file(m_folder.filePath(QStringLiteral("preset.json")));
        QVERIFY(file.open(QIODevice::WriteOnly));
        QVERIFY(file.write(
                    R"({"quantloupe": 1, "preset": "w4a8", "quantization": {"weight": {"bits": 6}}})") > 0);
    }

    void theConfigurationEqualsThatOfTheCommandLine_data() {
        QTest::addColumn<QString>("options");
        QTest::newRow("none") << QString();
        QTest::newRow("bits and skips") << "--weight-bits 4 --skip Conv_2";
        QTest::newRow("pattern") << "--per-channel --skip re:Conv_[02]";
        QTest::newRow("preset") << "--preset w4a8 --set quantization.activation.bits=6";
        QTest::newRow("file") << "--config preset.json --weight-bits 5";
        QTest::newRow("precision") << "--precision Conv_0=float16";
        QTest::newRow("transforms") << "--simplify --high-bias-fold --cle quark --cle-steps 2 --skip-type "
                                       "Relu --skip-downstream Conv_2";
    }
    void theConfigurationEqualsThatOfTheCommandLine() {
        QFETCH(QString, options);
        const QStringList given = options.split(QLatin1Char(' '), Qt::SkipEmptyParts);
        const auto saved = [&](const char* program, const QStringList& before, const QStringList& after) {
            const QString file = m_folder.filePath(QStringLiteral("saved.json"));
            QFile::remove(file);
            QStringList variables{QStringLiteral("QT_QPA_PLATFORM=offscreen")};
            for (const char* home : {"HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME"})
                variables << QLatin1String(home) + QLatin1Char('=') + m_folder.path();
            const test::Outcome outcome =
                test::runProgram(QStringLiteral(QUANTLOUPE_BIN_DIR "/") + QLatin1String(program),
                                 before + QStringList{m_model} + given +
                                     QStringList{QStringLiteral("--save-config"), file} + after,
                                 m_folder.path(), variables);
            return outcome.code == 0 ? readFile(file.toStdString()) : outcome.text().constData();
        };
        const std::string window =
            saved("quantloupe", {},
                  {QStringLiteral("--screenshot"), m_folder.filePath(QStringLiteral("window.png"))});
        QCOMPARE(window, saved("quantloupe-cli", {QStringLiteral("inspect")}, {}));
        QVERIFY(options.isEmpty() == (configFromJson(window) == configFromJson(R"({"quantloupe": 1})")));
    }

    /// An error in the options does not hide the model.
    void unknownLayerIsAnError() {
        const test::Outcome outcome = test::runProgram(
            QStringLiteral(QUANTLOUPE_BIN_DIR "/quantloupe"),
            {m_model, QStringLiteral("--skip"), QStringLiteral("Conv_9"), QStringLiteral("--screenshot"),
             m_folder.filePath(QStringLiteral("window.png"))},
            m_folder.path(), {QStringLiteral("QT_QPA_PLATFORM=offscreen")});
        QVERIFY2(outcome.code == 1 && outcome.err.contains(QStringLiteral("Conv_9")), outcome.text());
    }

    void savingEveryChangeOverwritesNoModel() {
        const std::string before = readFile(m_model.toStdString());
        test::runProgram(QStringLiteral(QUANTLOUPE_BIN_DIR "/quantloupe"),
                         {m_model, QStringLiteral("--save-config"), m_model, QStringLiteral("--screenshot"),
                          m_folder.filePath(QStringLiteral("window.png"))},
                         m_folder.path(), {QStringLiteral("QT_QPA_PLATFORM=offscreen")});
        QVERIFY(readFile(m_model.toStdString()) == before);
    }

    void calibrationDataAloneIsOpened() {
        const test::Outcome outcome = test::runProgram(
            QStringLiteral(QUANTLOUPE_BIN_DIR "/quantloupe"),
            {m_model, QStringLiteral("--calibration-data"), QStringLiteral("missing.npy"),
             QStringLiteral("--screenshot"), m_folder.filePath(QStringLiteral("window.png"))},
            m_folder.path(), {QStringLiteral("QT_QPA_PLATFORM=offscreen")});
        QVERIFY2(outcome.code == 1 && outcome.err.contains(QStringLiteral("missing.npy")), outcome.text());
    }

  private:
    QTemporaryDir m_folder;
    QString m_model;
};

QTEST_MAIN(WindowOptionsTest)
#include "window_options_test.moc"
