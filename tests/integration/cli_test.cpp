// SPDX-License-Identifier: Apache-2.0
// The built quantloupe-cli as used by users and scripts: exit codes, messages, and the output on stdout and
// stderr.

#include <QCoreApplication>
#include <QDir>
#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QProcess>
#include <QTemporaryDir>
#include <QtTest>

namespace {

struct Outcome {
    int code = -1;
    QString out, err;
};

Outcome runCli(const QStringList& arguments, const QString& locale = QStringLiteral("C.UTF-8")) {
    QProcess process;
    auto environment = QProcessEnvironment::systemEnvironment();
    environment.insert(QStringLiteral("LC_ALL"), locale);
    process.setProcessEnvironment(environment);
    process.start(QStringLiteral(QUANTLOUPE_BIN_DIR "/quantloupe-cli"), arguments);
    if (!process.waitForFinished(120'000)) return {-1, {}, process.errorString()};
    Outcome outcome;
    outcome.code = process.exitStatus() == QProcess::NormalExit ? process.exitCode() : -2;
    outcome.out = QString::fromUtf8(process.readAllStandardOutput());
    outcome.err = QString::fromUtf8(process.readAllStandardError());
    return outcome;
}

QString demo(const QString& name) { return QStringLiteral(QUANTLOUPE_SOURCE_DIR "/resources/demo/") + name; }
QString demoModel() { return demo(QStringLiteral("mobilenetv2_cifar10.onnx")); }

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
        QFile file(path);
        if (!file.open(QIODevice::WriteOnly) || file.write(content) != content.size()) return {};
        return path;
    }

    static void verifyFailure(const Outcome& outcome, int code, const QString& mentions) {
        const QString all =
            QStringLiteral("exit %1\nstdout: %2\nstderr: %3").arg(outcome.code).arg(outcome.out, outcome.err);
        QVERIFY2(outcome.code == code, qPrintable(all));
        QVERIFY2(outcome.out.isEmpty(), qPrintable(all));
        QVERIFY2(outcome.err.contains(QStringLiteral("quantloupe-cli: ")), qPrintable(all));
        QVERIFY2(outcome.err.contains(mentions), qPrintable(all));
    }

    /// analyze on some of the demo's images, as it comes from the command line; the document with --json.
    static QStringList analyzeDemo(const char* options) {
        QStringList arguments = QString::fromUtf8(
                                    "analyze MODEL --config CONFIG --data VAL --calibration-data CALIBRATION "
                                    "--samples 20 --calibration-samples 8 ")
                                    .append(QString::fromUtf8(options))
                                    .split(QLatin1Char(' '), Qt::SkipEmptyParts);
        arguments.replaceInStrings(QStringLiteral("MODEL"), demoModel());
        arguments.replaceInStrings(QStringLiteral("CONFIG"), demo(QStringLiteral("demo.config.json")));
        arguments.replaceInStrings(QStringLiteral("VAL"), demo(QStringLiteral("val")));
        arguments.replaceInStrings(QStringLiteral("CALIBRATION"), demo(QStringLiteral("calibration")));
        return arguments;
    }
    static QJsonObject documentOf(const Outcome& outcome) {
        return QJsonDocument::fromJson(outcome.out.toUtf8()).object();
    }
    static QJsonObject layerOf(const QJsonObject& document, const QString& name) {
        for (const auto& layer : document[QStringLiteral("layers")].toArray())
            if (layer.toObject()[QStringLiteral("name")] == name) return layer.toObject();
        return {};
    }
    const QString m_worst = QStringLiteral("/features/features.17/conv/conv.2/Conv");

  private Q_SLOTS:
    void initTestCase() { QVERIFY(m_folder.isValid()); }

    void wrongUsageExitsWithTwo_data() {
        QTest::addColumn<QStringList>("arguments");
        QTest::addColumn<QString>("mentions");
        const auto row = [](const char* name, const char* arguments, const char* mentions) {
            QStringList list = QString::fromUtf8(arguments).split(QLatin1Char(' '), Qt::SkipEmptyParts);
            list.replaceInStrings(QStringLiteral("MODEL"), demoModel());
            QTest::newRow(name) << list << QString::fromUtf8(mentions);
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

    void helpIsNoFailure() {
        const Outcome outcome = runCli({QStringLiteral("analyze"), QStringLiteral("--help")});
        QCOMPARE(outcome.code, 0);
        QVERIFY(outcome.out.contains(QStringLiteral("--calibration-data")));
        QCOMPARE(outcome.err, QString());
    }

    void aTextFileIsNoModel() {
        const QString path = put(QStringLiteral("text.onnx"), "this is a letter, not a network\n");
        verifyFailure(runCli({QStringLiteral("inspect"), path}), 1, QStringLiteral("text.onnx"));
    }

    void anEmptyFileIsNoModel() {
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

    void aLayerThatIsNotThereIsNamed() {
        verifyFailure(runCli({QStringLiteral("transform"), demoModel(), QStringLiteral("--set"),
                              QStringLiteral("transforms.skip_folding=[\"Conv_none\"]"), QStringLiteral("-o"),
                              m_folder.filePath(QStringLiteral("t.onnx"))}),
                      1, QStringLiteral("Conv_none"));
    }

    void anOutputFolderThatIsNotThereIsNamedAtOnce() {
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
        QVERIFY2(outcome.code == 0, qPrintable(outcome.err));
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

    void untilTakesTheDestinationsThatFollowIt() {
        const QString saved = m_folder.filePath(QStringLiteral("until.json"));
        const QString first = QStringLiteral("/features/features.1/conv/conv.0/conv.0.0/Conv");
        const QString second = QStringLiteral("/features/features.2/conv/conv.2/Conv");
        const QString third = QStringLiteral("/features/features.2/conv/conv.0/conv.0.0/Conv");
        const Outcome outcome =
            runCli({QStringLiteral("export"), demoModel(), QStringLiteral("--skip-until"), first,
                    QStringLiteral("--to"), second, QStringLiteral("--to"), third, QStringLiteral("-o"),
                    m_folder.filePath(QStringLiteral("amct.json")), QStringLiteral("--to"),
                    QStringLiteral("amct"), QStringLiteral("--save-config"), saved});
        QVERIFY2(outcome.code == 0, qPrintable(outcome.err));
        const QJsonArray rules =
            readObject(saved)[QStringLiteral("skip")].toObject()[QStringLiteral("rules")].toArray();
        QCOMPARE(rules.size(), 1);
        const QJsonArray to = rules[0].toObject()[QStringLiteral("to")].toArray();
        QCOMPARE(to, (QJsonArray{second, third}));
        QVERIFY(!readObject(m_folder.filePath(QStringLiteral("amct.json"))).isEmpty());
    }

    void precisionsOfLayers() {
        const QString saved = m_folder.filePath(QStringLiteral("precision.json"));
        const QString stem = QStringLiteral("/features/features.0/features.0.0/Conv");
        const Outcome outcome = runCli(
            {QStringLiteral("analyze"), demoModel(), QStringLiteral("--json"), QStringLiteral("--precision"),
             QStringLiteral("type:depthwise=w8a16"), QStringLiteral("--precision"),
             stem + QStringLiteral("=w4a8"), QStringLiteral("--precision"),
             QStringLiteral("re:^/features/features.2/=float16"), QStringLiteral("--save-config"), saved});
        QVERIFY2(outcome.code == 0, qPrintable(outcome.err));
        const auto precision = [&](const QString& name) {
            return layerOf(documentOf(outcome), name)[QStringLiteral("precision")].toString();
        };
        QCOMPARE(precision(stem), QStringLiteral("w4a8"));
        QCOMPARE(precision(QStringLiteral("/features/features.1/conv/conv.0/conv.0.0/Conv")),
                 QStringLiteral("w8a16"));
        QCOMPARE(precision(QStringLiteral("/features/features.1/conv/conv.1/Conv")), QStringLiteral("w8a8"));
        QCOMPARE(precision(QStringLiteral("/features/features.2/conv/conv.2/Conv")),
                 QStringLiteral("float16"));
        QCOMPARE(readObject(saved)[QStringLiteral("precision_rules")].toArray().size(), 2);
        verifyFailure(runCli({QStringLiteral("analyze"), demoModel(), QStringLiteral("--precision"),
                              QStringLiteral("/features/features.0/features.0.0/Cov=w8a8")}),
                      1, QStringLiteral("did you mean '") + stem);
    }

    void analyzePrintsOneDocument() {
        const Outcome outcome =
            runCli({QStringLiteral("analyze"), demoModel(), QStringLiteral("--data"),
                    demo(QStringLiteral("val")), QStringLiteral("--calibration-data"),
                    demo(QStringLiteral("calibration")), QStringLiteral("--samples"), QStringLiteral("20"),
                    QStringLiteral("--calibration-samples"), QStringLiteral("8"), QStringLiteral("--json")},
                   QStringLiteral("de_DE.UTF-8"));
        QVERIFY2(outcome.code == 0, qPrintable(outcome.err));
        QJsonParseError error;
        const QJsonObject document = QJsonDocument::fromJson(outcome.out.toUtf8(), &error).object();
        QCOMPARE(error.errorString(), QJsonParseError().errorString());
        QCOMPARE(document[QStringLiteral("samples")].toInt(), 20);
        const double top1 = document[QStringLiteral("float")].toObject()[QStringLiteral("top1")].toDouble(-1);
        QVERIFY2(top1 > 0.7 && top1 <= 1.0, qPrintable(QString::number(top1)));
        const QJsonObject quantized = document[QStringLiteral("quantized")].toObject();
        QCOMPARE(quantized[QStringLiteral("top1_interval")].toArray().size(), 2);
        QCOMPARE(document[QStringLiteral("layers")].toArray().size(), 152);
    }

    void withoutDataRandomInputsAreMarked() {
        const QStringList arguments = {QStringLiteral("analyze"),   demoModel(),
                                       QStringLiteral("--preset"),  QStringLiteral("w4a8"),
                                       QStringLiteral("--samples"), QStringLiteral("4")};
        const Outcome readable = runCli(arguments);
        QVERIFY2(readable.code == 0, qPrintable(readable.err));
        QVERIFY2(readable.out.contains(QStringLiteral("4 random inputs evaluated")),
                 qPrintable(readable.out));
        QVERIFY(readable.out.contains(QStringLiteral("meaningless")));
        QVERIFY(readable.err.contains(QStringLiteral("no data was given")));
        const QJsonObject document = documentOf(runCli(arguments + QStringList{QStringLiteral("--json")}));
        QCOMPARE(document[QStringLiteral("random_inputs")], QJsonValue(true));
        QVERIFY(document[QStringLiteral("quantized")].toObject()[QStringLiteral("sqnr_db")].isDouble());
        QVERIFY(document[QStringLiteral("quantized")].toObject()[QStringLiteral("top1")].isNull());
        const QJsonObject worst = layerOf(document, m_worst);
        QVERIFY(worst[QStringLiteral("weight")].toObject()[QStringLiteral("qs")].toDouble() > 0.5);
        QVERIFY(worst[QStringLiteral("local")].toObject()[QStringLiteral("qs")].isDouble());
    }

    void layersHaveAllMetricsWhereAskedFor() {
        const Outcome plain = runCli(analyzeDemo("--json"));
        const QJsonObject before = documentOf(plain);
        QCOMPARE(before[QStringLiteral("random_inputs")], QJsonValue(false));
        const QJsonObject local = layerOf(before, m_worst)[QStringLiteral("local")].toObject();
        for (const char* key : {"qs", "cosine", "sqnr_db", "max_abs", "mean_abs", "rms", "relative_euclidean",
                                "absolute_l2", "mean", "std", "reference_mean", "reference_std"})
            QVERIFY2(local[QLatin1String(key)].isDouble(), key);
        QVERIFY(!local.contains(QStringLiteral("kl_divergence")));
        const QJsonObject all = documentOf(runCli(analyzeDemo("--json --metrics all")));
        for (const char* of : {"local", "cumulative"})
            for (const char* key :
                 {"qs", "accumulated_relative", "max_relative", "mean_relative", "kl_divergence"})
                QVERIFY2(layerOf(all, m_worst)[QLatin1String(of)].toObject()[QLatin1String(key)].isDouble(),
                         key);
        QCOMPARE(layerOf(all, m_worst)[QStringLiteral("local")].toObject()[QStringLiteral("qs")],
                 local[QStringLiteral("qs")]);

        // The 4-bit weights hurt, not the 8-bit activations.
        const auto only = [&](const char* options) {
            const QJsonObject document = documentOf(runCli(analyzeDemo(options)));
            return layerOf(document, m_worst)[QStringLiteral("local")]
                .toObject()[QStringLiteral("qs")]
                .toDouble(-1);
        };
        QVERIFY(only("--json --only weights") > 0.9);
        const double activations = only("--json --only activations");
        QVERIFY2(activations > 0 && activations < 0.1, qPrintable(QString::number(activations)));
    }

    void oneLayerInDepth() {
        const Outcome readable = runCli(analyzeDemo("--layer") + QStringList{m_worst});
        QVERIFY2(readable.code == 0, qPrintable(readable.err));
        for (const char* text : {"codes used", "clips at", "10 of 320 channels"})
            QVERIFY2(readable.out.contains(QLatin1String(text)), qPrintable(readable.out));
        const QJsonObject layer = documentOf(runCli(analyzeDemo("--json --bins 16 --layer") +
                                                    QStringList{m_worst}))[QStringLiteral("layer")]
                                      .toObject();
        QCOMPARE(layer[QStringLiteral("channels")].toArray().size(), 320);
        const QJsonObject weight = layer[QStringLiteral("weight")].toObject();
        QCOMPARE(weight[QStringLiteral("bits")].toInt(), 4);
        QVERIFY(weight[QStringLiteral("distinct_codes")].toInt() <= 15);
        const QJsonArray bins = weight[QStringLiteral("float")].toObject()[QStringLiteral("bins")].toArray();
        QCOMPARE(bins.size(), 16);
        double count = 0;
        for (const auto& bin : bins) count += bin.toDouble();
        QCOMPARE(count, 960.0 * 320);  // every weight is in a bin
        const QString folded = QStringLiteral("/features/features.0/features.0.1/BatchNormalization");
        verifyFailure(runCli(analyzeDemo("--layer") + QStringList{folded}), 1,
                      QStringLiteral("is folded into '/features/features.0/features.0.0/Conv'"));
    }
    void samplesAndConfigurationsAreCompared() {
        const QString finer =
            put(QStringLiteral("finer.json"), R"({"quantization": {"weight": {"bits": 8}}})");
        const QString program =
            put(QStringLiteral("metric.sh"), "#!/bin/sh\necho measuring; wc -c < \"$1\"\n");
        QFile::setPermissions(program, QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner);
        const QStringList arguments = analyzeDemo("--images --image 3 --against") +
                                      QStringList{finer, QStringLiteral("--metric-program"), program};
        const Outcome readable = runCli(arguments);
        QVERIFY2(readable.code == 0, qPrintable(readable.err));
        for (const char* text : {"samples changed their predicted class", "sample 3, ", "the error ",
                                 "finer.json: ", "exact 95 % interval", "metric.sh: float "})
            QVERIFY2(readable.out.contains(QLatin1String(text)),
                     qPrintable(QLatin1String(text) + readable.out));
        const QJsonObject document = documentOf(runCli(arguments + QStringList{QStringLiteral("--json")}));
        const QJsonObject against = document[QStringLiteral("against")].toObject();
        QCOMPARE(against[QStringLiteral("fixed")].toArray().size() -
                     against[QStringLiteral("broken")].toArray().size(),
                 qRound(against[QStringLiteral("difference")].toDouble() * 20));
        QVERIFY(against[QStringLiteral("difference")].toDouble() < 0);  // 4 bits against 8
        const QJsonArray flipped =
            document[QStringLiteral("images")].toObject()[QStringLiteral("flipped")].toArray();
        const double agreement =
            document[QStringLiteral("quantized")].toObject()[QStringLiteral("agreement")].toDouble();
        QCOMPARE(flipped.size(), qRound((1 - agreement) * 20));
        const QJsonObject image = document[QStringLiteral("image")].toObject();
        QCOMPARE(image[QStringLiteral("index")].toInt(), 3);
        QCOMPARE(image[QStringLiteral("layers")].toArray().size(), 65);
        QVERIFY(image[QStringLiteral("first_divergence")].isObject());
        QVERIFY(document[QStringLiteral("metric_program")].toObject()[QStringLiteral("float")].toDouble() >
                800);
        verifyFailure(runCli(analyzeDemo("--image nothing.jpg")), 1, QStringLiteral("nothing.jpg"));
    }

    void theSourceCanBeTheReference() {
        const Outcome outcome = runCli(
            analyzeDemo("--json --reference source --cle aimet --replace-relu6 between --high-bias-fold"));
        QVERIFY2(outcome.code == 0, qPrintable(outcome.err));
        const QJsonObject document = documentOf(outcome);
        QCOMPARE(document[QStringLiteral("layer_metrics")].toObject()[QStringLiteral("reference")].toString(),
                 QStringLiteral("source"));
        int without = 0;
        for (const auto& layer : document[QStringLiteral("layers")].toArray())
            if (layer.toObject()[QStringLiteral("metrics_reason")].toString().contains(
                    QStringLiteral("high-bias fold")))
                ++without;
        QVERIFY(without > 0);
    }

    void halvingTheDataIsReported() {
        const Outcome outcome =
            runCli({QStringLiteral("analyze"), demoModel(), QStringLiteral("--data"),
                    demo(QStringLiteral("calibration")), QStringLiteral("--samples"), QStringLiteral("20"),
                    QStringLiteral("--calibration-samples"), QStringLiteral("8")});
        QVERIFY2(outcome.code == 0, qPrintable(outcome.err));
        QVERIFY2(outcome.err.contains(QStringLiteral("half")), qPrintable(outcome.err));
    }
};

QTEST_GUILESS_MAIN(CliTest)
#include "cli_test.moc"
