// SPDX-License-Identifier: Apache-2.0
// Exports in use: runs the ONNX Runtime script and compares it with the preview, runs verify, and imports
// what was exported.
#include <nlohmann/json.hpp>

#include "base/atomic_file.h"
#include "config/config_json.h"
#include "config/presets.h"
#include "data/numpy_file.h"
#include "support/demo.h"
#include "support/export_support.h"
#include "support/python.h"
#include "support/run_cli.h"

using namespace quantloupe;
using namespace quantloupe::test;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

constexpr const char* kSkipped = "/features/features.0/features.0.0/Conv";

QStringList demoData() {
    return {QStringLiteral("--data"), QString::fromStdString((demoFolder() / "val").string()),
            QStringLiteral("--calibration-data"),
            QString::fromStdString((demoFolder() / "calibration").string())};
}

}  // namespace

class InterchangeTest : public QObject {
    Q_OBJECT

  private:
    QTemporaryDir m_folder;
    bool m_runtime = false;

    QString file(const char* name) const { return m_folder.filePath(QString::fromLatin1(name)); }

    /// Uses a thousand images: with the demo's five hundred, three different predictions from rounding ties
    /// exceed half a point.
    fs::path m_images = assets() / "data/cifar10";

    /// Returns the top-1 of a model in ONNX Runtime on these images, without its optimizations.
    double top1(const QString& model) {
        QString said;
        const QString script = QStringLiteral(QUANTLOUPE_SOURCE_DIR "/tests/integration/run_onnxruntime.py");
        const QString outputs = file("outputs.npz"),
                      recipe = demoModel().replace(".onnx", ".preprocess.json");
        if (runPython({script, model, recipe, QString::fromStdString((m_images / "val").string()), outputs},
                      &said) != 0) {
            qWarning("%s", qPrintable(said));
            return -1;
        }
        const auto values = loadNpz(outputs.toStdString()).at("outputs");
        const DatasetPtr data =
            openDataset(m_images / "val", inputSpecsOf(*loadModel(demoModel().toStdString()).graph),
                        loadPreprocess(recipe.toStdString()));
        std::size_t right = 0;
        const std::size_t width = static_cast<std::size_t>(values->dims()[1]);
        for (std::size_t i = 0; i < data->size(); ++i) {
            const auto row = values->floats().subspan(i * width, width);
            right += std::max_element(row.begin(), row.end()) - row.begin() == *data->label(i);
        }
        return double(right) / double(data->size());
    }

  private Q_SLOTS:
    void initTestCase() { m_runtime = runPython({"-c", "import onnxruntime, onnx, numpy, PIL"}) == 0; }

    /// On the demo, with images and a layer in float. onnxruntime_script_test compares many configurations.
    void theScriptMatchesThePreview() {
        if (!m_runtime)
            QSKIP("Python with onnxruntime, onnx, numpy and Pillow is not available (QUANTLOUPE_PYTHON)");
        const QStringList data = {"--data", QString::fromStdString((m_images / "val").string()),
                                  "--calibration-data",
                                  QString::fromStdString((m_images / "calibration").string())};
        const QStringList how = QStringList{"--preset", "onnxruntime-u8s8", "--skip", kSkipped} + data;
        const Outcome written =
            runCli(QStringList{"export", demoModel(), "--to", "onnxruntime", "-o", file("tuned.py")} + how);
        QVERIFY2(written.code == 0, written.text());
        QString said;
        QVERIFY2(runPython({file("tuned.py")}, &said, 500) == 0, qPrintable(said));
        const Outcome analyzed = runCli(QStringList{"analyze", demoModel(), "--json"} + how);
        QVERIFY2(analyzed.code == 0, analyzed.text());
        const json preview = json::parse(analyzed.out.toStdString());
        const double there = top1(file("tuned.quantized.onnx"));
        qInfo("top-1: %.4f here, %.4f by the script's model", preview["quantized"]["top1"].get<double>(),
              there);
        QVERIFY(std::abs(preview["quantized"]["top1"].get<double>() - there) <= 0.005);
        // The same layers: a float Conv's weight has no DequantizeLinear after it.
        const GraphPtr quantized = loadModel(file("tuned.quantized.onnx").toStdString()).graph;
        std::size_t compared = 0;
        for (const json& layer : preview["layers"]) {
            if (layer["op"] != "Conv" && layer["op"] != "Gemm") continue;
            const auto node = quantized->findNode(layer["name"].get<std::string>());
            QVERIFY2(node, layer["name"].get<std::string>().c_str());
            const NodeId before = quantized->tensor(quantized->node(*node).input(1)).producer;
            const bool integers = before.valid() && quantized->node(before).op == "DequantizeLinear";
            QCOMPARE(integers, layer["state"] == "quantized");
            ++compared;
        }
        QCOMPARE(compared, 53u);
    }

    /// 7-bit weights: with 8 bits ONNX Runtime's integer kernels saturate on processors without VNNI.
    void operatorsOnIntegersRunInOnnxRuntime() {
        if (!m_runtime)
            QSKIP("Python with onnxruntime, onnx, numpy and Pillow is not available (QUANTLOUPE_PYTHON)");
        std::vector<ConstantPtr> outputs;
        for (const char* format : {"qdq", "qoperator"}) {
            const QString model = file(format) + QStringLiteral(".onnx");
            const Outcome written =
                runCli(QStringList{"export", demoModel(), "--to", format, "-o", model, "--preset",
                                   "onnxruntime-u8s8", "--weight-bits", "7", "--skip", kSkipped} +
                       demoData());
            QVERIFY2(written.code == 0, written.text());
            QVERIFY(top1(model) > 0.9);
            outputs.push_back(loadNpz(file("outputs.npz").toStdString()).at("outputs"));
        }
        std::map<std::string, int> operators;
        const GraphPtr exported = loadModel(file("qoperator.onnx").toStdString()).graph;
        for (const Node& node : exported->nodes()) ++operators[node.op];
        QCOMPARE(operators["QLinearConv"], 51);  // all but the skipped one
        QCOMPARE(operators["Conv"], 1);
        QCOMPARE(operators["QGemm"], 1);
        const std::size_t width = static_cast<std::size_t>(outputs[0]->dims()[1]),
                          rows = static_cast<std::size_t>(outputs[0]->dims()[0]);
        std::size_t same = 0;
        const auto classOf = [&](const Constant& values, std::size_t row) {
            const auto one = values.floats().subspan(row * width, width);
            return std::max_element(one.begin(), one.end()) - one.begin();
        };
        for (std::size_t r = 0; r < rows; ++r) same += classOf(*outputs[0], r) == classOf(*outputs[1], r);
        qInfo("operators on integers and Q/DQ pairs: the same class for %zu of %zu images", same, rows);
        QVERIFY(double(same) >= 0.99 * double(rows));
    }

    void exportedScriptIsImported() {
        const Outcome written = runCli({"export", demoModel(), "--preset", "onnxruntime-u8s8", "--skip",
                                        kSkipped, "--to", "onnxruntime", "-o", file("back.py")});
        QVERIFY2(written.code == 0, written.text());
        const Outcome read = runCli({"import", file("back.py"), "--from", "onnxruntime", "--model",
                                     demoModel(), "-o", file("back.json"), "--json"});
        QVERIFY2(read.code == 0, read.text());
        const QuantizationConfig config = loadConfig(file("back.json").toStdString());
        QVERIFY(!config.quantization.activation.isSigned && !config.skipTail);
        QCOMPARE(config.rules.size(), 1u);
        QCOMPARE(config.rules[0].layers.at(0), std::string(kSkipped));
    }

    void verifyRunsTheModelInOnnxRuntime() {
        if (!m_runtime)
            QSKIP("Python with onnxruntime, onnx, numpy and Pillow is not available (QUANTLOUPE_PYTHON)");
        const Outcome outcome = runCli(
            QStringList{"verify", demoModel(), "--json", "--samples", "200", "-o", file("verified.onnx")} +
            demoData());
        QVERIFY2(outcome.code == 0, outcome.text());
        const json result = json::parse(outcome.out.toStdString());
        QCOMPARE(result["samples"], 200);
        QVERIFY(result["agreement"].get<double>() >= 0.99);
        QVERIFY(std::abs(result["here"]["top1"].get<double>() - result["there"]["top1"].get<double>()) <=
                0.01);
        QVERIFY(result["runtime"].get<std::string>().starts_with("ONNX Runtime 1."));
        QVERIFY(result["optimized"]["agreement"].get<double>() >= 0.9);
        QVERIFY(result["failure"].is_null());
        QVERIFY(fs::exists(file("verified.onnx").toStdString()));
        // Its metadata contains the configuration.
        const Outcome read = runCli({"import", file("verified.onnx"), "--from", "qdq", "--model", demoModel(),
                                     "-o", file("restored.json")});
        QVERIFY2(read.code == 0, read.text());
        QVERIFY(loadConfig(file("restored.json").toStdString()) == QuantizationConfig{});
        // The notices of the quantized network are printed.
        const Outcome noted = runCli(QStringList{"verify", demoModel(), "--samples", "2", "--preset",
                                                 "amct-default", "-o", file("verified.onnx")} +
                                     demoData());
        QVERIFY2(noted.code == 0, noted.text());
        QVERIFY2(noted.err.contains("were computed from histograms"), noted.text());
        // On processors without VNNI, also "verified without graph optimizations".
        QVERIFY2(noted.out.contains("\nverified"), noted.text());
    }

    /// The metric is the accuracy, scaled by an argument of the program.
    void verifyComputesTheUsersMetric() {
        QUANTLOUPE_NEEDS_ONNXRUNTIME;
        const QString program = file("scaled.py");
        writeFileAtomically(program.toStdString(),
                            "#!" +
                                qEnvironmentVariable("QUANTLOUPE_PYTHON", "/usr/bin/python3").toStdString() +
                                "\nimport sys, numpy\ndata = numpy.load(sys.argv[2])\n"
                                "right = data['logits'].argmax(1) == data['labels']\n"
                                "print(float(sys.argv[1]) * right.mean())\n");
        fs::permissions(program.toStdString(), fs::perms::owner_all);
        const QStringList command =
            QStringList{
                "verify",           demoModel(), "--samples",         "40", "-o", file("measured.onnx"),
                "--metric-program", program,     "--metric-argument", "-10"} +
            demoData();
        const Outcome outcome = runCli(command + QStringList{"--json"});
        QVERIFY2(outcome.code == 0, outcome.text());
        const json result = json::parse(outcome.out.toStdString());
        for (const json& run : {result["here"], result["there"], result["optimized"]})
            QCOMPARE(run["metric"].get<double>(), -10 * run["top1"].get<double>());
        const Outcome text = runCli(command);
        QVERIFY2(text.out.contains("scaled.py: -") && text.out.contains(" in the preview, -"), text.text());
        verifyFailure(
            runCli(QStringList{"verify", demoModel(), "-o", file("measured.onnx"), "--metric-argument", "1"} +
                   demoData()),
            2, "--metric-program");
    }

    void aReportContainsTheUsersMetric() {
        const QString program = file("seven.sh");
        writeFileAtomically(program.toStdString(), "#!/bin/sh\necho 7\n");
        fs::permissions(program.toStdString(), fs::perms::owner_all);
        const auto exported = [&](const char* format) {
            return runCli(QStringList{"export", demoModel(), "--samples", "4", "--to", format, "-o",
                                      file("report.json"), "--metric-program", program} +
                          demoData());
        };
        QVERIFY2(exported("json").code == 0, exported("json").text());
        const json report = json::parse(readFile(file("report.json").toStdString()));
        QCOMPARE(report["quantized"]["metric"], 7);
        verifyFailure(exported("amct"), 2, "the format amct does not contain the accuracy");
    }

    void withoutOnnxRuntimeItExplainsTheInstallation() {
        const QString none = file("no_runtime");
        writeFileAtomically(none.toStdString(),
                            "#!/bin/sh\necho \"No module named 'onnxruntime'\" >&2\nexit 3\n");
        fs::permissions(none.toStdString(), fs::perms::owner_all);
        const Outcome outcome = runCli(
            QStringList{"verify", demoModel(), "--samples", "2", "-o", file("unverified.onnx")} + demoData(),
            {}, {"QUANTLOUPE_PYTHON=" + none});
        QCOMPARE(outcome.code, 1);
        QVERIFY2(outcome.err.contains(
                     "has no ONNX Runtime (No module named 'onnxruntime'). To get it: python3 -m venv"),
                 outcome.text());
    }

    void aModelWithoutAConfigurationIsRefused() {
        const Outcome read =
            runCli({"import", demoModel(), "--from", "qdq", "--model", demoModel(), "-o", file("none.json")});
        QCOMPARE(read.code, 1);
        QVERIFY2(read.err.contains("its metadata contains no configuration"), read.text());
        const Outcome none = runCli({"import", file("missing.json"), "--from", "amct", "--model", demoModel(),
                                     "-o", file("none.json")});
        QCOMPARE(none.code, 1);
        QVERIFY2(none.err.contains("missing.json"), none.text());
    }

    void badScriptsForOnnxRuntime_data() {
        QTest::addColumn<std::string>("text");
        QTest::addColumn<std::string>("message");
        const auto row = [](const char* name, std::string text, std::string message) {
            QTest::newRow(name) << text << message;
        };
        row("empty", "", "no call of quantize_static");
        row("computed",
            "\nquantize_static('a', 'b', r, weight_type=QuantType.QInt8, nodes_to_exclude=[n for n in names "
            "if n])\n",
            "line 2: this call of quantize_static cannot be read, because something in it is computed");
        row("dynamic", "quantize_dynamic('a', 'b')\n",
            "line 1: dynamic quantization has no counterpart here");
        row("names", "quantize_static(nodes_to_exclude='a')\n",
            "line 1: nodes_to_exclude must be a list of node names, not a string");
        row("flag", "\nquantize_static(nodes_to_exclude=[], per_channel=1)\n",
            "line 2: per_channel must be True or False, not a number");
        row("options", "quantize_static(nodes_to_exclude=[], extra_options=[])\n",
            "line 1: extra_options must be a dictionary, not a list");
        row("open", "quantize_static(\n", "line 1: the '(' is never closed");
        row("escape", "x = '\\x1'\n", "line 1: the string contains an invalid escape sequence");
    }
    void badScriptsForOnnxRuntime() {
        QFETCH(std::string, text);
        QFETCH(std::string, message);
        const std::string said = readFailure("onnxruntime", stageModel(), text);
        QVERIFY2(said.find(message) != std::string::npos, said.c_str());
    }

    void everyFormatIsWritten() {
        for (const FileFormat& format : fileFormats()) {
            if (format.write == nullptr) continue;
            const QString output = file(("all" + format.ending).c_str());
            const Outcome outcome =
                runCli(QStringList{"export", demoModel(), "--samples", "50", "--skip", kSkipped, "--to",
                                   QString::fromStdString(format.name), "-o", output} +
                       demoData());
            QVERIFY2(outcome.code == 0, QByteArray::fromStdString(format.name) + ": " + outcome.text());
            QVERIFY2(fs::exists(output.toStdString()), format.name.c_str());
        }
    }
};

QTEST_GUILESS_MAIN(InterchangeTest)
#include "interchange_test.moc"
