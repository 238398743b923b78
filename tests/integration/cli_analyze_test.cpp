// SPDX-License-Identifier: Apache-2.0
// The output of the built quantloupe-cli analyze: its JSON document and its readable report.
#include <QJsonArray>
#include <QTemporaryDir>
#include <QtTest>

#include "base/atomic_file.h"
#include "support/run_cli.h"

using namespace quantloupe;
using namespace quantloupe::test;

class CliAnalyzeTest : public QObject {
    Q_OBJECT

    QTemporaryDir m_folder;

    /// analyze on some of the demo's images.
    static QStringList analyzeDemo(const QByteArray& options) {
        return demoCommand(
            "analyze MODEL --config CONFIG --data VAL --calibration-data CALIBRATION "
            "--samples 20 --calibration-samples 8 " +
            options);
    }
    static QJsonObject layerOf(const QJsonObject& document, const QString& name) {
        for (const auto& layer : document[QStringLiteral("layers")].toArray())
            if (layer.toObject()[QStringLiteral("name")] == name) return layer.toObject();
        return {};
    }
    const QString m_worst = QStringLiteral("/features/features.17/conv/conv.2/Conv");

  private Q_SLOTS:
    void initTestCase() { QVERIFY(m_folder.isValid()); }

    void precisionsOfLayers() {
        const QString saved = m_folder.filePath(QStringLiteral("precision.json"));
        const QString stem = QStringLiteral("/features/features.0/features.0.0/Conv");
        const Outcome outcome = runCli(
            {QStringLiteral("analyze"), demoModel(), QStringLiteral("--json"), QStringLiteral("--precision"),
             QStringLiteral("type:depthwise=w8a16"), QStringLiteral("--precision"),
             stem + QStringLiteral("=w4a8"), QStringLiteral("--precision"),
             QStringLiteral("re:^/features/features.2/=float16"), QStringLiteral("--save-config"), saved});
        QVERIFY2(outcome.code == 0, outcome.text());
        const auto precision = [&](const QString& name) {
            return layerOf(outcome.document(), name)[QStringLiteral("precision")].toString();
        };
        QCOMPARE(precision(stem), QStringLiteral("w4a8"));
        QCOMPARE(precision(QStringLiteral("/features/features.1/conv/conv.0/conv.0.0/Conv")),
                 QStringLiteral("w8a16"));
        QCOMPARE(precision(QStringLiteral("/features/features.1/conv/conv.1/Conv")), QStringLiteral("w8a8"));
        QCOMPARE(precision(QStringLiteral("/features/features.2/conv/conv.2/Conv")),
                 QStringLiteral("float16"));
        QCOMPARE(QJsonDocument::fromJson(QByteArray::fromStdString(readFile(saved.toStdString())))
                     .object()[QStringLiteral("precision_rules")]
                     .toArray()
                     .size(),
                 2);
        verifyFailure(runCli({QStringLiteral("analyze"), demoModel(), QStringLiteral("--precision"),
                              QStringLiteral("/features/features.0/features.0.0/Cov=w8a8")}),
                      1, QStringLiteral("did you mean '") + stem);
    }

    void analyzePrintsOneDocument() {
        const Outcome outcome =
            runCli(demoCommand("analyze MODEL --data VAL --calibration-data CALIBRATION --samples 20 "
                               "--calibration-samples 8 --json"),
                   {}, {QStringLiteral("LC_ALL=de_DE.UTF-8")});
        QVERIFY2(outcome.code == 0, outcome.text());
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
        const QStringList arguments = demoCommand("analyze MODEL --preset w4a8 --samples 4");
        const Outcome readable = runCli(arguments);
        QVERIFY2(readable.code == 0, readable.text());
        QVERIFY2(readable.out.contains(QStringLiteral("4 random inputs evaluated")),
                 qPrintable(readable.out));
        QVERIFY(readable.out.contains(QStringLiteral("meaningless")));
        QVERIFY(readable.err.contains(QStringLiteral("no data was given")));
        const QJsonObject document = runCli(arguments + QStringList{QStringLiteral("--json")}).document();
        QCOMPARE(document[QStringLiteral("random_inputs")], QJsonValue(true));
        QVERIFY(document[QStringLiteral("quantized")].toObject()[QStringLiteral("sqnr_db")].isDouble());
        QVERIFY(document[QStringLiteral("quantized")].toObject()[QStringLiteral("top1")].isNull());
        const QJsonObject worst = layerOf(document, m_worst);
        QVERIFY(worst[QStringLiteral("weight")].toObject()[QStringLiteral("qs")].toDouble() > 0.5);
        QVERIFY(worst[QStringLiteral("local")].toObject()[QStringLiteral("qs")].isDouble());
    }

    void layersHaveAllMetricsOnRequest() {
        const Outcome plain = runCli(analyzeDemo("--json"));
        const QJsonObject before = plain.document();
        QCOMPARE(before[QStringLiteral("random_inputs")], QJsonValue(false));
        const QJsonObject local = layerOf(before, m_worst)[QStringLiteral("local")].toObject();
        for (const char* key : {"qs", "cosine", "sqnr_db", "max_abs", "mean_abs", "rms", "relative_euclidean",
                                "absolute_l2", "mean", "std", "reference_mean", "reference_std"})
            QVERIFY2(local[QLatin1String(key)].isDouble(), key);
        QVERIFY(!local.contains(QStringLiteral("kl_divergence")));
        const QJsonObject all = runCli(analyzeDemo("--json --metrics all")).document();
        for (const char* of : {"local", "cumulative"})
            for (const char* key :
                 {"qs", "accumulated_relative", "max_relative", "mean_relative", "kl_divergence"})
                QVERIFY2(layerOf(all, m_worst)[QLatin1String(of)].toObject()[QLatin1String(key)].isDouble(),
                         key);
        QCOMPARE(layerOf(all, m_worst)[QStringLiteral("local")].toObject()[QStringLiteral("qs")],
                 local[QStringLiteral("qs")]);

        // The 4-bit weights hurt, not the 8-bit activations.
        const auto only = [&](const char* options) {
            const QJsonObject document = runCli(analyzeDemo(options)).document();
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
        QVERIFY2(readable.code == 0, readable.text());
        for (const char* text : {"codes used", "clips at", "10 of 320 channels"})
            QVERIFY2(readable.out.contains(QLatin1String(text)), qPrintable(readable.out));
        const QJsonObject layer = runCli(analyzeDemo("--json --bins 16 --layer") + QStringList{m_worst})
                                      .document()[QStringLiteral("layer")]
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
        const QString finer = m_folder.filePath(QStringLiteral("finer.json")),
                      program = m_folder.filePath(QStringLiteral("metric.sh"));
        writeFileAtomically(finer.toStdString(), R"({"quantization": {"weight": {"bits": 8}}})");
        writeFileAtomically(program.toStdString(), "#!/bin/sh\necho measuring; wc -c < \"$1\"\n");
        QFile::setPermissions(program, QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner);
        const QStringList arguments = analyzeDemo("--images --image 3 --against") +
                                      QStringList{finer, QStringLiteral("--metric-program"), program};
        const Outcome readable = runCli(arguments);
        QVERIFY2(readable.code == 0, readable.text());
        for (const char* text : {"samples changed their predicted class", "sample 3, ", "the error ",
                                 "finer.json: ", "95 % interval", "metric.sh: float "})
            QVERIFY2(readable.out.contains(QLatin1String(text)),
                     qPrintable(QLatin1String(text) + readable.out));
        const QJsonObject document = runCli(arguments + QStringList{QStringLiteral("--json")}).document();
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
        QVERIFY2(outcome.code == 0, outcome.text());
        const QJsonObject document = outcome.document();
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
            runCli(demoCommand("analyze MODEL --data CALIBRATION --samples 20 --calibration-samples 8"));
        QVERIFY2(outcome.code == 0, outcome.text());
        QVERIFY2(outcome.err.contains(QStringLiteral("half")), qPrintable(outcome.err));
    }
};

QTEST_GUILESS_MAIN(CliAnalyzeTest)
#include "cli_analyze_test.moc"
