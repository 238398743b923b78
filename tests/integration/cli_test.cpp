// SPDX-License-Identifier: Apache-2.0
// The built quantloupe-cli as used by users and scripts: exit codes, messages, and the order of options.
// (The output of analyze: cli_analyze_test.)

#include <QDir>
#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QProcess>
#include <QTemporaryDir>
#include <QtTest>

#include "base/atomic_file.h"
#include "support/run_cli.h"

using namespace quantloupe;
using namespace quantloupe::test;

namespace {

QJsonObject readObject(const QString& path) {
    QFile file(path);
    if (!file.open(QIODevice::ReadOnly)) return {};
    return QJsonDocument::fromJson(file.readAll()).object();
}

}  // namespace

class CliTest : public QObject {
    Q_OBJECT

    QTemporaryDir m_folder;

    QString put(const QString& name, const QByteArray& content) const {
        const QString path = m_folder.filePath(name);
        QDir().mkpath(QFileInfo(path).path());
        writeFileAtomically(path.toStdString(), content.toStdString());
        return path;
    }

  private Q_SLOTS:
    void initTestCase() { QVERIFY(m_folder.isValid()); }

    void aFullDiskIsReported_data() {
        QTest::addColumn<QString>("command");
        QTest::newRow("text") << "inspect MODEL";
        QTest::newRow("JSON") << "inspect MODEL --json";
        QTest::newRow("a short text") << "--version";
    }
    void aFullDiskIsReported() {
        QFETCH(QString, command);
        QProcess process;
        process.setStandardOutputFile(QStringLiteral("/dev/full"));
        process.start(QStringLiteral(QUANTLOUPE_BIN_DIR "/quantloupe-cli"), demoCommand(command.toUtf8()));
        QVERIFY(process.waitForFinished());
        const QByteArray message = process.readAllStandardError();
        QVERIFY2(message.contains("the output could not be written"), message);
        QCOMPARE(process.exitCode(), 1);
    }

    void wrongUsageExitsWithTwo_data() {
        QTest::addColumn<QStringList>("arguments");
        QTest::addColumn<QString>("mentions");
        const auto row = [](const char* name, const char* arguments, const char* mentions) {
            QTest::newRow(name) << demoCommand(arguments) << QString::fromUtf8(mentions);
        };
        row("no command", "", "required");
        row("unknown command", "frobnicate MODEL", "frobnicate");
        row("tune without a target", "tune MODEL --data x", "--max-drop");
        row("tune without data", "tune MODEL --max-drop 1", "--data");
        row("an invalid drop", "tune MODEL --data x --max-drop 1%", "0 to 100, not '1%'");
        row("a drop upwards", "tune MODEL --data x --max-drop -1", "--max-drop");
        row("an unknown cost", "tune MODEL --data x --max-drop 1 --cost time", "macs, layers, parameters");
        row("no steps", "tune MODEL --data x --max-drop 1 --max-steps 0", "--max-steps");
        row("no time", "tune MODEL --data x --max-drop 1 --max-seconds 0", "--max-seconds");
        row("a target for analyze", "analyze MODEL --max-drop 1", "--max-drop");
        row("no model", "inspect", "MODEL");
        row("two models", "inspect MODEL b.onnx", "b.onnx");
        row("unknown option", "inspect MODEL --color red", "--color");
        row("an unknown bias correction", "inspect MODEL --bias-correction guessed", "guessed");
        row("an unknown rounding", "inspect MODEL --rounding up", "up");
        row("a threshold on nothing", "inspect MODEL --skip-threshold qs>1", "local.qs");
        row("a threshold without a number", "inspect MODEL --skip-threshold local.qs>x", "local.qs>x");
        row("an unknown profile", "inspect MODEL --cle quarks", "quark");
        row("no data", "quantize MODEL -o x.onnx", "--calibration-data");
        row("Quark's flag", "inspect MODEL --include_cle", "did you mean --cle quark?");
        row("Quark's steps", "inspect MODEL --cle_steps 3", "did you mean --cle-steps?");
        row("a mistyped option", "inspect MODEL --wieght-bits 4", "did you mean --weight-bits?");
        row("more steps than Quark takes", "inspect MODEL --cle-steps 1001", "-1 to 1000");
        row("steps without equalization", "inspect MODEL --cle-steps 3", "add --cle PROFILE");
        row("a command that is mistyped", "analyse MODEL", "did you mean 'analyze'?");
        row("migration without samples", "transform MODEL --migration 0.5 -o x.onnx", "--calibration-data");
        row("no output", "transform MODEL", "--output");
        row("float without float", "tune MODEL --data x --max-drop 1 --no-float --precisions float32,w8a8",
            "--no-float contradicts float32");
        row("bits out of range", "inspect MODEL --weight-bits 17", "2 to 16");
        row("bits are no number", "inspect MODEL --weight-bits 4x", "4x");
        row("activation bits out of range", "inspect MODEL --activation-bits 1", "2 to 16");
        row("no samples", "inspect MODEL --samples 0", "--samples");
        row("unknown preset", "inspect MODEL --preset nope", "w4a8");
        row("unknown method", "inspect MODEL --calibration entropie", "min_max, moving_average");
        row("unknown key", "inspect MODEL --set quantization.weight.bytes=1", "bytes");
        row("set without value", "inspect MODEL --set quantization", "KEY.PATH=VALUE");
        row("a precision for nothing", "inspect MODEL --precision w8a8", "NAME=PRECISION");
        row("an unknown precision", "inspect MODEL --precision a=w8a32", "float32, float16");
        row("until without end", "inspect MODEL --skip-until a", "--to");
        row("until, then another option", "inspect MODEL --skip-until a --json --to b", "--to");
        row("end without until", "inspect MODEL --to b", "--skip-until");
        row("export without a format", "export MODEL -o x.json", "--to FORMAT");
        row("the format went to until", "export MODEL --skip-until a --to amct -o x.json", "--to FORMAT");
        row("unknown format", "export MODEL --to nope -o x.json", "amct");
        row("import without model", "import x.json --from amct -o y.json", "--model");
        row("import without a format", "import x.json --model MODEL -o y.json", "--from");
        row("a format that cannot be imported", "import x.json --model MODEL --from nncf -o y.json", "quark");
        row("verify without data", "verify MODEL -o y.onnx", "--data");
        row("unknown metrics", "analyze MODEL --metrics some", "basic, all");
        row("unknown parts", "analyze MODEL --only biases", "weights");
        row("unknown reference", "analyze MODEL --reference float", "source");
        row("metrics are analyze's", "inspect MODEL --metrics all", "--metrics");
        row("render to a bitmap", "render MODEL -o x.png", ".svg");
    }
    void wrongUsageExitsWithTwo() {
        QFETCH(QStringList, arguments);
        QFETCH(QString, mentions);
        verifyFailure(runCli(arguments), 2, mentions);
    }

    void helpSucceeds() {
        const Outcome outcome = runCli({QStringLiteral("analyze"), QStringLiteral("--help")});
        QCOMPARE(outcome.code, 0);
        QVERIFY(outcome.out.contains(QStringLiteral("--calibration-data")));
        QCOMPARE(outcome.err, QString());
    }

    void textFileIsNotAModel() {
        const QString path = put(QStringLiteral("text.onnx"), "this is a letter, not a network\n");
        verifyFailure(runCli({QStringLiteral("inspect"), path}), 1, QStringLiteral("text.onnx"));
    }

    void emptyFileIsNotAModel() {
        const QString path = put(QStringLiteral("empty.onnx"), {});
        verifyFailure(runCli({QStringLiteral("inspect"), path}), 1, QStringLiteral("empty.onnx"));
    }

    void aTruncatedModelIsRefused() {
        QFile file(demoModel());
        QVERIFY(file.open(QIODevice::ReadOnly));
        const QString path = put(QStringLiteral("half.onnx"), file.read(file.size() / 2));
        verifyFailure(runCli({QStringLiteral("inspect"), path}), 1, QStringLiteral("half.onnx"));
    }

    void aMissingModelIsNamed() {
        verifyFailure(runCli({QStringLiteral("inspect"), QStringLiteral("nowhere.onnx")}), 1,
                      QStringLiteral("nowhere.onnx"));
    }

    void aMissingDataFolderIsNamed() {
        verifyFailure(runCli({QStringLiteral("analyze"), demoModel(), QStringLiteral("--data"),
                              m_folder.filePath(QStringLiteral("no such folder"))}),
                      1, QStringLiteral("no such folder"));
    }

    void anUndecodableImageIsNamed() {
        put(QStringLiteral("images/a/broken.jpg"), "\xff\xd8 not much of a picture");
        put(QStringLiteral("images/a/broken2.jpg"), "\xff\xd8 not much of a picture");
        verifyFailure(runCli({QStringLiteral("run"), demoModel(), QStringLiteral("--data"),
                              m_folder.filePath(QStringLiteral("images")), QStringLiteral("-o"),
                              m_folder.filePath(QStringLiteral("never.npz"))}),
                      1, QStringLiteral("broken"));
        QVERIFY(!QFile::exists(m_folder.filePath(QStringLiteral("never.npz"))));
    }

    void anUnknownConfigurationKeyIsNamed() {
        const QString path = put(QStringLiteral("config.json"), R"({"quantloupe": 1, "color": "red"})");
        verifyFailure(runCli({QStringLiteral("inspect"), demoModel(), QStringLiteral("--config"), path}), 1,
                      QStringLiteral("color"));
    }

    void unknownLayerIsNamed() {
        verifyFailure(runCli({QStringLiteral("transform"), demoModel(), QStringLiteral("--set"),
                              QStringLiteral("transforms.skip_folding=[\"Conv_none\"]"), QStringLiteral("-o"),
                              m_folder.filePath(QStringLiteral("t.onnx"))}),
                      1, QStringLiteral("Conv_none"));
    }

    void missingOutputFolderIsReportedImmediately() {
        verifyFailure(runCli({QStringLiteral("transform"), demoModel(), QStringLiteral("-o"),
                              m_folder.filePath(QStringLiteral("missing/t.onnx"))}),
                      1, QStringLiteral("missing"));
    }

    // preset < configuration file < options, these from left to right
    void laterOptionsWin() {
        const QString saved = m_folder.filePath(QStringLiteral("saved.json"));
        const QString file =
            put(QStringLiteral("bits.json"), R"({"quantization": {"weight": {"per_channel": true}}})");
        const Outcome outcome = runCli({QStringLiteral("inspect"), demoModel(),
                                        QStringLiteral("--weight-bits"), QStringLiteral("6"),
                                        QStringLiteral("--set"), QStringLiteral("quantization.weight.bits=3"),
                                        QStringLiteral("--symmetric"), QStringLiteral("--no-symmetric"),
                                        QStringLiteral("--config"), file, QStringLiteral("--preset"),
                                        QStringLiteral("w4a8"), QStringLiteral("--save-config"), saved});
        QVERIFY2(outcome.code == 0, outcome.text());
        const QJsonObject config = readObject(saved);
        const QJsonObject quantization = config[QStringLiteral("quantization")].toObject();
        const QJsonObject weight = quantization[QStringLiteral("weight")].toObject();
        QCOMPARE(weight[QStringLiteral("bits")].toInt(), 3);
        QCOMPARE(weight[QStringLiteral("per_channel")].toBool(), true);
        QCOMPARE(
            quantization[QStringLiteral("activation")].toObject()[QStringLiteral("symmetric")].toBool(true),
            false);
        QCOMPARE(config[QStringLiteral("skip")].toObject()[QStringLiteral("tail")].toBool(true),
                 false);  // w4a8's
    }

    void skipUntilTakesTheFollowingDestinations() {
        const QString saved = m_folder.filePath(QStringLiteral("until.json"));
        const QString first = QStringLiteral("/features/features.1/conv/conv.0/conv.0.0/Conv");
        const QString second = QStringLiteral("/features/features.2/conv/conv.2/Conv");
        const QString third = QStringLiteral("/features/features.2/conv/conv.0/conv.0.0/Conv");
        const Outcome outcome =
            runCli({QStringLiteral("export"), demoModel(), QStringLiteral("--skip-until"), first,
                    QStringLiteral("--to"), second, QStringLiteral("--to"), third, QStringLiteral("-o"),
                    m_folder.filePath(QStringLiteral("amct.json")), QStringLiteral("--to"),
                    QStringLiteral("amct"), QStringLiteral("--save-config"), saved});
        QVERIFY2(outcome.code == 0, outcome.text());
        const QJsonArray rules =
            readObject(saved)[QStringLiteral("skip")].toObject()[QStringLiteral("rules")].toArray();
        QCOMPARE(rules.size(), 1);
        const QJsonArray to = rules[0].toObject()[QStringLiteral("to")].toArray();
        QCOMPARE(to, (QJsonArray{second, third}));
        QVERIFY(!readObject(m_folder.filePath(QStringLiteral("amct.json"))).isEmpty());
    }
};

QTEST_GUILESS_MAIN(CliTest)
#include "cli_test.moc"
