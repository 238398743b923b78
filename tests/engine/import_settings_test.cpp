// SPDX-License-Identifier: Apache-2.0
// An imported file replaces the settings of the starting configuration that it contradicts, also by saying
// nothing: a tool then uses its default.
#include "base/atomic_file.h"
#include "config/presets.h"
#include "interchange/guess_format.h"
#include "support/export_support.h"

using namespace quantloupe;
using namespace quantloupe::test;

namespace {

const std::string kLayer = "/stem/Conv";

}  // namespace

class ImportSettingsTest : public QObject {
    Q_OBJECT

    GraphPtr m_model = stageModel();

    ExportResult exported(const char* format, const QuantizationConfig& config) const {
        return formatNamed(format, false).write(exportSource(m_model, config, "net"));
    }

  private Q_SLOTS:
    void settingsOfLayersAreReplaced_data() {
        QTest::addColumn<QString>("preset");
        QTest::newRow("amct") << "amct-default";
        QTest::newRow("quark") << "quark-a8w8";
        QTest::newRow("clika") << "clika";
        QTest::newRow("onnxruntime") << "onnxruntime-s8s8";
    }
    void settingsOfLayersAreReplaced() {
        QFETCH(QString, preset);
        const QuantizationConfig plain = presetConfig(preset.toStdString());
        const std::string text = exported(QTest::currentDataTag(), plain).files.at(0).text;
        QuantizationConfig start = plain;
        LayerSettings& settings = start.layers[kLayer];
        settings.weightBits = 5;
        settings.activationBits = 6;
        settings.weightPerChannel = true;
        settings.calibrationMethod = CalibrationMethod::Mse;
        settings.comment = "kept";
        start.layers["/out/Conv"].weightSymmetric = false;
        const QuantizationConfig read = readText(QTest::currentDataTag(), m_model, text, start).config;
        QCOMPARE(read.layers.size(), 1u);
        LayerSettings comment;
        comment.comment = "kept";
        QVERIFY(read.layers.at(kLayer) == comment);
    }

    void onnxRuntimesDefaultsApply() {
        QuantizationConfig start = presetConfig("quark-xint8");
        start.quantization.biasBits = kFloatBias;
        const auto read = [&](const char* arguments) {
            return readText("onnxruntime", m_model, fmt::format("quantize_static(a, b, c, {})\n", arguments),
                            start)
                .config;
        };
        const QuantizationConfig standard = presetConfig("onnxruntime-s8s8");
        const QuantizationConfig plain = read("nodes_to_exclude=[]");
        QVERIFY(plain.quantization == standard.quantization);
        QCOMPARE(plain.calibration.method, standard.calibration.method);
        QVERIFY(!read("weight_type=QuantType.QUInt8").quantization.weight.symmetric);
        QVERIFY(read("weight_type=QuantType.QInt4").quantization ==
                presetConfig("onnxruntime-w4s8").quantization);
    }

    /// As scripts are written that were not exported from here.
    void callsOfQuantizeStaticAreRead() {
        const auto read = [&](const std::string& script) {
            return readText("onnxruntime", m_model, "from onnxruntime.quantization import *\n" + script);
        };
        for (const char* plain :
             {"quantize_static('a', 'b', r)\n", "q.quantize_static('a', 'b', r, extra_options={})\n",
              "quantize('a', 'b', StaticQuantConfig(r))\n"}) {
            const ImportResult result = read(plain);
            QVERIFY(result.config.quantization == presetConfig("onnxruntime-s8s8").quantization);
            QVERIFY2(result.left.empty(), joined(result.left).c_str());
        }
        QVERIFY(
            read("quantize_static('a', 'b', r, per_channel=True)\n").config.quantization.weight.perChannel);
        const ImportResult positional = read(
            "quantize_static('a', 'b', r, QuantFormat.QDQ, None, True, False, QuantType.QUInt8, "
            "QuantType.QInt16)\n");
        QVERIFY(positional.config.quantization.weight.perChannel);
        QVERIFY(!positional.config.quantization.activation.isSigned);
        QCOMPARE(positional.config.quantization.weight.bits, 16);
        const ImportResult config = read(
            "c = StaticQuantConfig(r, calibrate_method=CalibrationMethod.Entropy)\nquantize('a', 'b', c)\n");
        QCOMPARE(config.config.calibration.method, CalibrationMethod::Entropy);
        const ImportResult typo = read("quantize_static('a', 'b', r, per_chanel=True)\n");
        QVERIFY2(says(typo.left,
                      "line 2: quantize_static has no parameter 'per_chanel' (did you mean 'per_channel'?)"),
                 joined(typo.left).c_str());
        const ImportResult twice =
            read("quantize_static('a', 'b', r, per_channel=True)\nquantize_static('b', 'c', r)\n");
        QVERIFY(!twice.config.quantization.weight.perChannel);
        QVERIFY2(says(twice.left, "line 2: this call of quantize_static is ignored"),
                 joined(twice.left).c_str());
    }

    /// Lists and dictionaries that a script changes after it assigned them. What is not read is reported.
    void changesOfListsAreRead() {
        const auto read = [&](const char* changes) {
            return readText(
                "onnxruntime", m_model,
                fmt::format("NODES = [\"/stem/Conv\"]\nEXTRA = {{\"WeightSymmetric\": True}}\n{}\n"
                            "quantize_static(a, b, c, nodes_to_exclude=NODES, extra_options=EXTRA)\n",
                            changes));
        };
        const auto skipped = [](const ImportResult& result) {
            return result.config.rules.empty() ? std::vector<std::string>() : result.config.rules[0].layers;
        };
        const std::vector<std::string> both = {"/stem/Conv", "/out/Conv"};
        for (const char* change :
             {"NODES.append(\"/out/Conv\")", "NODES.extend([\"/out/Conv\"])", "NODES += [\"/out/Conv\"]",
              "MORE = [\"/out/Conv\"]\nNODES += MORE", "NAME = \"/out/Conv\"\nNODES.append(NAME)",
              "ALIAS = NODES\nALIAS.append(\"/out/Conv\")"}) {
            const ImportResult result = read(change);
            QCOMPARE(skipped(result), both);
            QVERIFY2(result.left.empty(), joined(result.left).c_str());
        }
        for (const char* change :
             {"EXTRA.update({\"ActivationSymmetric\": True})", "EXTRA[\"ActivationSymmetric\"] = True",
              "EXTRA.update(ActivationSymmetric=True)"})
            QVERIFY(read(change).config.quantization.activation.symmetric);
        for (const char* change :
             {"NODES.remove(\"/stem/Conv\")", "NODES[0] = \"/out/Conv\"", "NODES += [n for n in names]",
              "EXTRA.pop(\"WeightSymmetric\")", "NODES += [\"/out/Conv\"] + [\"/out/Relu\"]",
              "NODES.append(name)", "NODES.extend([\"/out/Conv\", name])"}) {
            const ImportResult result = read(change);
            QCOMPARE(skipped(result), std::vector<std::string>{"/stem/Conv"});
            QVERIFY(says(result.left, "line 3: this change of '"));
        }
    }

    /// A file or folder in a script can be named like another tool.
    void scriptsAreRecognizedByTheirImports() {
        const std::string paths = "MODEL = HERE / 'quark' / 'model.onnx'\n";
        QCOMPARE(guessFormat("tuned.py", paths + "quantize_static(MODEL, nodes_to_exclude=[])\n"),
                 "onnxruntime");
        QCOMPARE(guessFormat("tuned.py", paths + "from quark.onnx import ModelQuantizer\n"), "quark");
        QCOMPARE(guessFormat("tuned.py",
                             "from modelopt.onnx.quantization import quantize\n"
                             "quantize(nodes_to_exclude=[])\n"),
                 "");
    }

    void scriptsOfOtherToolsAreRefused() {
        QTemporaryDir folder;
        const std::filesystem::path path = folder.filePath("tuned.py").toStdString();
        writeFileAtomically(path,
                            "from onnxruntime.quantization import quantize_static\nquantize_static(a, b, c, "
                            "nodes_to_exclude=[])\n");
        QuantizationConfig learned;
        learned.refine.rounding = Rounding::Adaround;
        const ImportResult read = importFile(formatNamed("onnxruntime", true), m_model, learned, path, {});
        QCOMPARE(read.left.size(), 0u);
        QVERIFY(read.config.refine == RefineOptions());  // the tool does not learn
        try {
            importFile(formatNamed("quark", true), m_model, {}, path, {});
            QFAIL("accepted");
        } catch (const Error& error) {
            QCOMPARE(error.what(),
                     std::string("'tuned.py': this is a script of the format 'onnxruntime', not 'quark'"));
        }
    }

    /// The overrides of tensors, which are not imported, contain them.
    void precisionsStayBesideOverrides() {
        const std::string script =
            "quantize_static(a, b, c, weight_type=QuantType.QInt8, nodes_to_exclude=['/out/Conv'],\n"
            "                extra_options={'TensorQuantOverrides': TENSORS})\n";
        QuantizationConfig start = presetConfig("onnxruntime-s8s8");
        start.quantization.weight.bits = 4;
        start.layers[kLayer].precision = Precision::integer(8, 16);
        start.layers["/out/Conv"].precision = Precision{};
        start.precisionRules.push_back({{}, Precision::integer(4, 8)});
        const QuantizationConfig read = readText("onnxruntime", m_model, script, start).config;
        QCOMPARE(read.quantization.weight.bits, 4);
        QVERIFY(read.precisionRules == start.precisionRules);
        QVERIFY(read.layers.at(kLayer).precision == start.layers[kLayer].precision);
        QVERIFY(!read.layers.contains("/out/Conv"));
        QCOMPARE(read.rules.size(), 1u);
    }

    void powerOfTwoScalesAreReportedForQuark() {
        QuantizationConfig config = presetConfig("quark-a8w8");
        config.calibration.method = CalibrationMethod::Percentile;
        QVERIFY(!says(exported("quark", config).notices, "power_of_two"));
        config.quantization.activation.powerOfTwo = true;
        QVERIFY(says(exported("quark", config).notices, "quantization.activation.power_of_two"));
    }

    /// Quark folds batch norms by default, also those of a model that is exported with them.
    void batchNormsThatStayAreExportedToQuark() {
        QuantizationConfig config = presetConfig("quark-a8w8");
        for (const bool fold : {true, false}) {
            config.transforms.foldBatchNorm = fold;
            const ExportResult result = exported("quark", config);
            for (const std::size_t i : {std::size_t(0), result.files.size() - 1})
                QCOMPARE(readText("quark", m_model, result.files[i].text).config.transforms.foldBatchNorm,
                         fold);
        }
    }

    /// quantize_static fails, because the bias has more values than the weight has scales.
    void transposedGroupsWithScalesPerChannelStayInFloat() {
        const GraphPtr graph = namedModel(R"(
            <ir_version: 8, opset_import: ["" : 13]>
            net (float[N,2,2,2] X) => (float[N,2,2,2] Y) <float[2,1,1,1] W = {1, 2}, float[2] b = {1, 2}>
            { Y = ConvTranspose<group = 2>(X, W, b) })",
                                          {"up"});
        QuantizationConfig config = presetConfig("onnxruntime-u8s8");
        for (const bool perChannel : {true, false}) {
            config.quantization.weight.perChannel = perChannel;
            const ExportResult result =
                formatNamed("onnxruntime", false).write(exportSource(graph, config, "net"));
            QCOMPARE(says(result.notices, "cannot quantize the bias of a ConvTranspose"), perChannel);
            QCOMPARE(result.files.at(0).text.find("NODES_TO_EXCLUDE = [\n    \"up\"") != std::string::npos,
                     perChannel);
        }
    }

    /// quantize_static refuses unsigned weights next to signed activations as common types.
    void unsignedWeightsForOnnxRuntime() {
        QuantizationConfig config = presetConfig("onnxruntime-s8s8");
        config.quantization.weight.isSigned = false;
        const std::string text = exported("onnxruntime", config).files.at(0).text;
        QVERIFY(text.find("weight_type=QuantType.QInt8") != std::string::npos);
        QVERIFY(!readText("onnxruntime", m_model, text, config).config.quantization.weight.isSigned);
    }

    /// The docstrings of scripts contain the names of files.
    void namesOfFilesAreEscaped() {
        for (const char* format : {"quark", "onnxruntime", "clika", "nncf", "modelopt", "rknn"}) {
            ExportSource source =
                exportSource(m_model, presetConfig("onnxruntime-s8s8"), "new\\net\"\"\".py");
            source.model = "my\\unet\"\"\".onnx";
            for (const ExportedFile& file : formatNamed(format, false).write(source).files)
                if (file.text.starts_with("#!") || file.text.starts_with("\"\"\""))
                    QVERIFY2(compilesInPython(file.text), format);
        }
    }

    void otherBitsOfLayersAreReportedForClika() {
        QuantizationConfig config = presetConfig("clika");
        config.layers[kLayer].weightBits = 5;
        QVERIFY(says(exported("clika", config).notices, "'/stem/Conv' has w5a8 and is written with"));
    }
};

QTEST_GUILESS_MAIN(ImportSettingsTest)
#include "import_settings_test.moc"
