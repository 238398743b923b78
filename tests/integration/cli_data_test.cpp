// SPDX-License-Identifier: Apache-2.0
// Data on the command line: threshold rules in exports, and the samples used for calibration.

#include <QDir>
#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QTemporaryDir>
#include <QtTest>

#include "base/atomic_file.h"
#include "data/numpy_file.h"
#include "model/load_model.h"
#include "support/run_cli.h"
#include "support/text_model.h"

using namespace quantloupe::test;

class CliDataTest : public QObject {
    Q_OBJECT

    QTemporaryDir m_folder;
    QString place(const char* name) const { return m_folder.filePath(QLatin1String(name)); }

    static QByteArray contentOf(const QString& path) {
        QFile file(path);
        return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
    }

  private Q_SLOTS:
    void initTestCase() { QVERIFY(m_folder.isValid()); }

    /// Without the folder "horse", later classes have a smaller index, unless the names of all are given.
    void missingClassFoldersAreReported() {
        const QDir all(demoPath("val"));
        QDir(m_folder.path()).mkdir("nine");
        std::string names;
        for (const QString& name : all.entryList(QDir::Dirs | QDir::NoDotAndDotDot, QDir::Name)) {
            names += name.toStdString() + '\n';
            if (name != QLatin1String("horse"))
                QVERIFY(QFile::link(all.filePath(name), place("nine/") + name));
        }
        quantloupe::writeFileAtomically(place("names.txt").toStdString(), names);
        const QStringList command{
            "analyze",   demoModel(), "--data", place("nine"), "--calibration-data", demoPath("calibration"),
            "--samples", "90",        "--json"};
        const auto accuracy = [](const Outcome& outcome) {
            return outcome.document()["float"].toObject()["top1"].toDouble();
        };
        const Outcome shifted = runCli(command);
        QVERIFY2(shifted.err.contains("the data has 9 named classes and the network 10"), shifted.text());
        const Outcome named = runCli(command + QStringList{"--class-names", place("names.txt")});
        QVERIFY2(!named.err.contains("named classes"), named.text());
        QVERIFY2(accuracy(named) > accuracy(shifted) + 0.1, named.text());
        quantloupe::writeFileAtomically(place("other.txt").toStdString(),
                                        QString::fromStdString(names).replace("cat", "kitten").toStdString());
        const Outcome partly = runCli(command + QStringList{"--class-names", place("other.txt")});
        QVERIFY2(partly.err.contains("do not contain the class folders 'cat'"), partly.text());
    }

    // A threshold rule was resolved without samples, to no layer at all, and the export said that it had
    // succeeded.
    void thresholdRulesAreMeasuredForExports_data() {
        QTest::addColumn<QString>("format");
        QTest::addColumn<QByteArray>("inFloat");  // as the file writes a layer in float
        QTest::newRow("clika") << "clika" << QByteArray("skip_quantization=True");
        QTest::newRow("amct") << "amct" << QByteArray("\"quant_enable\":false");
        QTest::newRow("amct-minimal") << "amct-minimal" << QByteArray("\"quant_enable\":false");
        QTest::newRow("amct-simple") << "amct-simple" << QByteArray("skip_layers : ");
        QTest::newRow("quark") << "quark" << QByteArray("    \"/features/features.17/conv/conv.2/Conv\",");
        QTest::newRow("nncf") << "nncf" << QByteArray("    \"/features/features.17/conv/conv.2/Conv\",");
        QTest::newRow("modelopt") << "modelopt"
                                  << QByteArray("/features/features\\\\.17/conv/conv\\\\.2/Conv");
    }
    void thresholdRulesAreMeasuredForExports() {
        QFETCH(QString, format);
        QFETCH(QByteArray, inFloat);
        const QString output = place("threshold") + QLatin1Char('.') + format;
        const Outcome outcome =
            runCli(demoCommand("export MODEL --config CONFIG --data CALIBRATION --calibration-samples 16 "
                               "--skip-threshold local.qs>0.9 --to") +
                   QStringList{format, QStringLiteral("-o"), output});
        QVERIFY2(outcome.code == 0, outcome.text().constData());
        QVERIFY2(!outcome.err.contains(QStringLiteral("resolved to 0 layers")), outcome.text().constData());
        const QByteArray written = contentOf(output);
        QVERIFY2(written.contains(inFloat), written.left(4000).constData());
    }

    // Formats whose layers need no samples wrote a float model without the migration, and some of them said
    // that it was included.
    void outlierMigrationIsExported() {
        quantloupe::writeFileAtomically(
            place("norm.onnx").toStdString(),
            textModelBytes(
                "<ir_version: 8, opset_import: [\"\" : 17]> net (float[N,2,4] x) => (float[N,2,2] y) "
                "<float[4] g = {1, 60, 1, 2}, float[4,2] w = {1, 2, 0.01, 0.02, 1, 3, 2, 1}> "
                "{ n = LayerNormalization(x, g) y = MatMul(n, w) }"));
        std::vector<float> values;
        for (int i = 0; i < 4 * 8; ++i) values.push_back(static_cast<float>(i * 7 % 5) - 2);
        quantloupe::saveNpz({{"x", quantloupe::Constant::fromFloats({4, 2, 4}, values)}},
                            place("norm.npz").toStdString());
        for (const char* format : {"quark", "nncf", "tpu-mlir"}) {
            const auto command = [&](const char* migration) {
                const QString output = place("norm_") + QLatin1String(format) + QLatin1String(migration);
                return std::pair(QStringList{"export", place("norm.onnx"), "--to", format, "--migration",
                                             migration, "-o", output + ".out"},
                                 output + ".float.onnx");
            };
            const auto [migrating, migrated] = command("0.5");
            const Outcome refused = runCli(migrating);
            QCOMPARE(refused.code, 1);
            QVERIFY2(refused.err.contains("includes outlier migration, which needs samples"), refused.text());
            QVERIFY(!QFile::exists(migrated));
            const Outcome outcome = runCli(migrating + QStringList{"--calibration-data", place("norm.npz")});
            QVERIFY2(outcome.code == 0 && QFile::exists(migrated), outcome.text());
            const auto [plain, without] = command("0");
            QVERIFY(runCli(plain).code == 0);
            QVERIFY2(contentOf(migrated) != contentOf(without), outcome.text());
        }
    }

    void thresholdRulesWithoutSamplesAreRefused_data() {
        QTest::addColumn<QString>("command");
        for (const char* format : {"clika", "amct", "quark", "nncf", "modelopt", "html", "model-explorer"})
            QTest::newRow(format) << QStringLiteral("export MODEL --to %1 -o ").arg(QLatin1String(format));
        QTest::newRow("render") << "render MODEL -o ";
        QTest::newRow("transform")
            << "transform MODEL --cle quark --set transforms.equalization.exclude_skipped=true -o ";
    }
    void thresholdRulesWithoutSamplesAreRefused() {
        QFETCH(QString, command);
        const QString output = place("refused.svg");
        const Outcome outcome =
            runCli(demoCommand(command.toUtf8().constData()) +
                   QStringList{output, QStringLiteral("--skip-threshold"), QStringLiteral("local.qs>0.06")});
        QVERIFY2(outcome.code == 1, outcome.text().constData());
        QVERIFY2(outcome.err.contains(QStringLiteral("skip rule 1 (local QS above 0.06)")),
                 outcome.text().constData());
        QVERIFY2(outcome.err.contains(QStringLiteral("data")), outcome.text().constData());
        QVERIFY(!QFile::exists(output));
    }

    // Metrics of the weights need no samples.
    void thresholdsOfWeightsNeedNoSamples() {
        const QString output = place("weights.json");
        const Outcome outcome =
            runCli(demoCommand("export MODEL --config CONFIG --skip-threshold weight.qs>0.5 --to amct -o") +
                   QStringList{output});
        QVERIFY2(outcome.code == 0, outcome.text().constData());
        QVERIFY(contentOf(output).contains("\"quant_enable\":false"));
    }

    // Nothing is evaluated here, so that no half is set aside: the same samples give the same file, whichever
    // option names them.
    void quantizeCalibratesOnAllGivenSamples() {
        const auto quantized = [&](const char* data, const char* name) {
            const Outcome outcome = runCli(demoCommand("quantize MODEL --config CONFIG") + demoCommand(data) +
                                           QStringList{QStringLiteral("-o"), place(name)});
            if (outcome.code != 0 ||
                !outcome.out.contains(QStringLiteral("calibrated on 100 of 100 samples")) ||
                outcome.err.contains(QStringLiteral("half")))
                qWarning("%s", outcome.text().constData());
            return contentOf(place(name));
        };
        const QByteArray calibration = quantized("--calibration-data CALIBRATION", "a.onnx");
        QVERIFY(calibration.size() > 1000);
        QVERIFY(quantized("--data CALIBRATION", "b.onnx") == calibration);
        QVERIFY(quantized("--data VAL --calibration-data CALIBRATION", "c.onnx") == calibration);
        QVERIFY(quantized("--calibration-data VAL", "d.onnx") != calibration);
    }

    void optionsWithoutEffectAreNamed_data() {
        QTest::addColumn<QString>("command");
        QTest::addColumn<QString>("option");
        QTest::newRow("inspect") << "inspect MODEL --calibration-data CALIBRATION"
                                 << "--calibration-data";
        QTest::newRow("transform") << "transform MODEL --cle aimet --calibration-data CALIBRATION -o"
                                   << "--calibration-data";
        QTest::newRow("operators that the model lacks") << "inspect MODEL --skip-type Softmax"
                                                        << "skip rule 1 (all Softmax layers)";
        QTest::newRow("precision of operators that the model lacks")
            << "inspect MODEL --precision type:MatMul=float16"
            << "precision rule 1 (float16 for all MatMul layers)";
        QTest::newRow("quantize") << "quantize MODEL --calibration-data CALIBRATION --samples 4 -o"
                                  << "--samples";
    }
    void optionsWithoutEffectAreNamed() {
        QFETCH(QString, command);
        QFETCH(QString, option);
        QStringList words = demoCommand(command.toUtf8().constData());
        if (words.last() == QLatin1String("-o")) words << place("ineffective.onnx");
        const Outcome outcome = runCli(words);
        QVERIFY2(outcome.code == 0, outcome.text().constData());
        QVERIFY2(outcome.err.contains(option + QLatin1String(" has no effect")), outcome.text().constData());
    }

    void calibrationDataIsEnoughForThePicture() {
        const Outcome outcome = runCli(demoCommand("render MODEL --calibration-data CALIBRATION -o") +
                                       QStringList{place("measured.svg")});
        QVERIFY2(outcome.code == 0, outcome.text().constData());
        const Outcome alone = runCli(demoCommand("render MODEL -o") + QStringList{place("states.svg")});
        QVERIFY2(alone.code == 0, alone.text().constData());
        const auto sensitivities = [&](const char* name) { return contentOf(place(name)).count("QS "); };
        QVERIFY(sensitivities("measured.svg") > sensitivities("states.svg") + 50);
    }

    /// Whoever only exports has to see them, too.
    void noticesOfThePlanAreShown() {
        const std::string bytes = textModelBytes(R"(<ir_version: 8, opset_import: ["" : 17]>
            g (float[N,2] X) => (float[N,2] Y) <float[2,2] W = {1, 100000, 2, 3}, float[2,2] V = {1, 2, 3, 4}>
            { A = MatMul (X, W) Y = MatMul (A, V) })");
        QFile model(place("large.onnx"));
        QVERIFY(model.open(QIODevice::WriteOnly) && model.write(bytes.data(), qint64(bytes.size())) > 0);
        model.close();
        quantloupe::saveNpz({{"X", quantloupe::Constant::fromFloats({4, 2}, {1, 2, 3, 4, 5, 6, 7, 8})}},
                            place("x.npz").toStdString());
        const QString precision = QString::fromStdString(
            quantloupe::loadModel(model.fileName().toStdString()).graph->nodes()[0].name + "=float16");
        const QStringList common{"--data", place("x.npz"), "--no-skip-tail", "--precision", precision, "-o"};
        for (const QStringList& command :
             {QStringList{"quantize", model.fileName()} + common + QStringList{place("large.q.onnx")},
              QStringList{"export", model.fileName(), "--to", "qdq"} + common +
                  QStringList{place("large.qdq.onnx")}}) {
            const Outcome outcome = runCli(command);
            QVERIFY2(outcome.code == 0, outcome.text().constData());
            QVERIFY2(outcome.err.contains("65504"), outcome.text().constData());
        }
    }

    void connectionsAndNamesOfClika() {
        const Outcome readable = runCli(demoCommand("inspect MODEL --connections"));
        QVERIFY2(readable.code == 0, readable.text().constData());
        QVERIFY(readable.out.contains(QStringLiteral("    from /features/features.0/features.0.2/Clip\n")));
        const Outcome outcome = runCli(demoCommand("inspect MODEL --connections --json"));
        const QJsonArray layers = QJsonDocument::fromJson(outcome.out.toUtf8()).object()["layers"].toArray();
        QVERIFY(layers.size() > 100);
        QCOMPARE(layers[0].toObject()["clika_name"].toString(), QStringLiteral("conv"));
        QCOMPARE(layers[0].toObject()["connected_from"].toArray(), QJsonArray{"input"});
        QCOMPARE(layers[1].toObject()["connected_from"].toArray(), QJsonArray{layers[0].toObject()["name"]});
        QCOMPARE(layers[0].toObject()["connected_to"].toArray(), QJsonArray{layers[1].toObject()["name"]});
        QCOMPARE(layers.last().toObject()["clika_name"].toString(), QStringLiteral("linear"));
        QCOMPARE(layers.last().toObject()["connected_to"].toArray(), QJsonArray{"logits"});
        QVERIFY(!runCli(demoCommand("inspect MODEL --json")).out.contains(QStringLiteral("connected_from")));
    }

    void weightsBeforeAndAfter() {
        const Outcome outcome = runCli(demoCommand("transform MODEL --cle aimet --replace-relu6 between -o") +
                                       QStringList{place("t.onnx"), "--weights", place("before_after.npz")});
        QVERIFY2(outcome.code == 0, outcome.text().constData());
        const auto arrays = quantloupe::loadNpz(place("before_after.npz").toStdString());
        const std::string layer = "/features/features.1/conv/conv.1/Conv";
        const auto model = quantloupe::loadModel(demoCommand("MODEL")[0].toStdString()).graph;
        const auto transformed = quantloupe::loadModel(place("t.onnx").toStdString()).graph;
        const auto weightOf = [&](const quantloupe::Graph& graph) {
            return graph.constantOf(graph.node(*graph.findNode(layer)).input(1))->floats();
        };
        QVERIFY(std::ranges::equal(arrays.at(layer + ".weight.before")->floats(), weightOf(*model)));
        QVERIFY(std::ranges::equal(arrays.at(layer + ".weight.after")->floats(), weightOf(*transformed)));
        QVERIFY(!std::ranges::equal(arrays.at(layer + ".weight.after")->floats(),
                                    arrays.at(layer + ".weight.before")->floats()));
        QVERIFY(arrays.contains(layer + ".bias.after"));
    }

    // An import once accepted 200 steps, which --config then rejected.
    void importedStepsOfQuarkAreAccepted() {
        QFile script(place("quark.py"));
        QVERIFY(script.open(QIODevice::WriteOnly));
        script.write(
            "quant_config = "
            "QuantizationConfig(\nquant_format=QuantFormat.QOperator,\ninclude_cle=True,\nextra_options={'"
            "CLESteps': 1000},\n)\n");
        script.close();
        const Outcome imported = runCli(demoCommand("import --from quark --model MODEL") +
                                        QStringList{script.fileName(), "-o", place("quark.json")});
        QVERIFY2(imported.code == 0, imported.text().constData());
        QVERIFY2(imported.err.contains(QStringLiteral("quant_format QOperator")) &&
                     imported.err.contains(QStringLiteral("--to qoperator")),
                 imported.text().constData());
        const Outcome read =
            runCli(demoCommand("inspect MODEL --set transforms.equalization.profile=off --config") +
                   QStringList{place("quark.json"), "--save-config", place("again.json")});
        QVERIFY2(read.code == 0, read.text().constData());
        QVERIFY(contentOf(place("again.json")).contains("\"steps\": 1000"));
    }
};

QTEST_GUILESS_MAIN(CliDataTest)
#include "cli_data_test.moc"
