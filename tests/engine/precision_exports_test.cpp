// SPDX-License-Identifier: Apache-2.0
// Precisions of layers in the formats of other tools: what they contain, and what the notices say.
#include <QtTest>
#include <nlohmann/json.hpp>

#include "base/atomic_file.h"
#include "base/input_file.h"
#include "config/layer_choices.h"
#include "interchange/export_precisions.h"
#include "interchange/gather.h"
#include "session/session.h"
#include "support/export_support.h"
#include "support/python.h"
#include "support/text_model.h"

using namespace quantloupe;

namespace {

/// One layer of each precision; /out/Add and /pool keep the network's w8a8.
QuantizationConfig mixed() {
    QuantizationConfig config;
    config.skipTail = false;
    config = withPrecision(config, {"/stem/Conv"}, Precision::float32());
    config = withPrecision(config, {"/dw/Conv"}, Precision::integer(8, 16));
    config = withPrecision(config, {"/out/Conv"}, Precision::float16());
    return withPrecision(config, {"/head/Gemm"}, Precision::integer(4, 8));
}

ExportResult exported(const char* name, const QuantizationConfig& config = mixed()) {
    LoadedModel model;
    model.graph = test::stageModel();
    model.path = "net.onnx";
    Session session(std::move(model));
    const FileFormat& format = formatNamed(name, false);
    ExportSource source = gatherExport(session, config, format);
    source.output = std::string("net") + format.ending;
    return exportTo(format, source);
}

}  // namespace

class PrecisionExportsTest : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void tpuMlir() {
        const ExportResult result = exported("tpu-mlir");
        QCOMPARE(result.files[0].text,
                 std::string(
                     "# op_name   quantize_mode\na2_Conv F32\na3_Clip F32\nb2_Conv F16\nb3_Clip F16\nd_Conv "
                     "F16\n"));
        QVERIFY(test::says(result.notices, "TPU-MLIR has no w8a16: 1 layer becomes F16: /dw/Conv"));
        QVERIFY(test::says(result.notices, "TPU-MLIR has no w4a8: 1 layer becomes INT8: /head/Gemm"));
        QVERIFY(result.files[1].model->findNode("/stem/Conv"));
        for (const auto& file : result.files) QVERIFY(!file.executable);
    }

    /// A 1x1 convolution without an activation is merged into the convolution after it, whose line counts.
    void tpuMlirMergesConvolutions() {
        const auto table = [](const char* first, const char* second, const char* name, Precision precision,
                              std::vector<std::string>* notices = nullptr) {
            const std::string text = fmt::format(
                "<ir_version: 8, opset_import: [\"\" : 13]> net (float[1,4,6,6] x) => (float[1,8,H,W] y) "
                "<float[6,4,1,1] w1 = {{{}}}, float[8,6,3,3] w2 = {{{}}}>\n"
                "{{\na = Conv{}(x, w1)\nb = Conv{}(a, w2)\ny = Relu(b)\n}}",
                fmt::join(std::vector<int>(24, 1), ","), fmt::join(std::vector<int>(432, 1), ","), first,
                second);
            Session session(test::textModel(text));
            const FileFormat& format = formatNamed("tpu-mlir", false);
            QuantizationConfig config;
            config.skipTail = false;
            ExportSource source = gatherExport(session, withPrecision(config, {name}, precision), format);
            source.output = "net.qtable";
            const ExportResult result = exportTo(format, source);
            if (notices != nullptr) *notices = result.notices;
            return result.files[0].text.substr(std::string("# op_name   quantize_mode\n").size());
        };
        std::vector<std::string> notices;
        QCOMPARE(table("", "", "Conv_0", Precision::float32(), &notices),
                 std::string("a_Conv F32\nb_Conv F32\ny_Relu F32\n"));
        QVERIFY(test::says(notices, "TPU-MLIR merges 'Conv_0' into 'Conv_1', so both become F32"));
        QCOMPARE(table("", "", "Conv_1", Precision::float16()),
                 std::string("a_Conv F16\nb_Conv F16\ny_Relu F16\n"));
        QCOMPARE(table("", "<pads = [1, 1, 1, 1]>", "Conv_0", Precision::float32(), &notices),
                 std::string("a_Conv F32\n"));
        QVERIFY(!test::says(notices, "merges"));
        QCOMPARE(table("<auto_pad = \"SAME_UPPER\">", "", "Conv_0", Precision::float32()),
                 std::string("a_Conv F32\n"));
    }

    void tidl() {
        const ExportResult result = exported("tidl");
        QCOMPARE(result.files[0].text, std::string(R"({
  "tensor_bits": 8,
  "deny_list:layer_name": "/stem/Conv, /stem/Clip, /out/Conv",
  "advanced_options:output_feature_16bit_names_list": "b2, b3",
  "advanced_options:params_16bit_names_list": ""
}
)"));
        QVERIFY(test::says(result.notices, "TIDL has no w8a16: 1 layer becomes w16a16: /dw/Conv"));
        QVERIFY(
            test::says(result.notices, "TIDL has no float16: 1 layer becomes float32 on the CPU: /out/Conv"));
    }

    /// Only names that are written matter: in the lists, a comma or a space would separate two names.
    void tidlRefusesNamesWithSeparators() {
        const auto write = [](const QuantizationConfig& config) {
            LoadedModel model;
            model.graph = test::namedModel(R"(<ir_version: 8, opset_import: ["" : 13]>
                net (float[N,2,4,4] X) => (float[N,2,4,4] Y) <float[2,2,1,1] A = {1,2,3,4}> { Y = Conv(X, A) })",
                                           {"block, conv"});
            model.path = "net.onnx";
            Session session(std::move(model));
            const FileFormat& format = formatNamed("tidl", false);
            ExportSource source = gatherExport(session, config, format);
            source.output = "net.json";
            return exportTo(format, source).files[0].text;
        };
        QuantizationConfig config;
        config.skipTail = false;
        QVERIFY(write(config).find("\"deny_list:layer_name\": \"\"") != std::string::npos);
        config.layers["block, conv"].quantize = false;
        try {
            write(config);
            QFAIL("two names were written");
        } catch (const Error& error) {
            QVERIFY2(std::string_view(error.what()).find("'block, conv'") != std::string_view::npos,
                     error.what());
        }
    }

    void pulsar2() {
        const ExportResult result = exported("pulsar2");
        QCOMPARE(result.files[0].text, std::string(R"({
  "quant": {
    "layer_configs": [
      {
        "layer_names": [
          "/stem/Conv",
          "/stem/Clip",
          "/out/Conv"
        ],
        "data_type": "FP32"
      },
      {
        "layer_names": [
          "/dw/Conv",
          "/dw/Clip"
        ],
        "data_type": "S16"
      }
    ]
  }
}
)"));
        QVERIFY(test::says(result.notices, "Pulsar2 has no float16: 1 layer becomes FP32: /out/Conv"));
        // Its default has 8 bits.
        QuantizationConfig wide;
        wide.skipTail = false;
        wide.quantization.activation.bits = 16;
        const std::string text = exported("pulsar2", wide).files[0].text;
        QVERIFY(text.find("\"data_type\": \"S16\"") != std::string::npos);
        QVERIFY(text.find("/stem/Conv") != std::string::npos);
    }

    void rknn() {
        const ExportResult result = exported("rknn");
        QVERIFY(test::compilesInPython(result.files[0].text));
        QVERIFY(test::says(result.notices, "RKNN-Toolkit2 has no float32: 1 layer becomes float16"));
        QTemporaryDir folder;
        const std::string script = folder.path().toStdString() + "/set.py",
                          cfg = folder.path().toStdString() + "/n.cfg";
        const std::string parameters =
            "quantize_parameters:\n    a2:\n        scale: [1.0e-06]\n    a3:\n    b2:\n    b3:\n    d_mm:\n "
            "   "
            "d:\n";
        writeFileAtomically(script, result.files[0].text);
        for (const char* before :
             {"custom_quantize_layers: {}\n", "custom_quantize_layers:\n    old: float16\n"}) {
            writeFileAtomically(cfg, before + parameters);
            QVERIFY(test::runsInPython({QString::fromStdString(script), QString::fromStdString(cfg)}));
            QCOMPARE(readFile(cfg),
                     "custom_quantize_layers:\n    a2: float16\n    a3: float16\n    b2: float16\n    b3: "
                     "float16\n    d: float16\n    d_mm: float16\n" +
                         parameters);
        }
        writeFileAtomically(cfg, "custom_quantize_layers: {}\nquantize_parameters:\n    other:\n");
        QVERIFY(test::runPython({QString::fromStdString(script), QString::fromStdString(cfg)}) != 0);
    }

    /// Nothing is lost silently in the formats that existed before.
    void otherFormatsReportWhatTheyCannotExpress() {
        for (const char* name :
             {"amct", "amct-simple", "clika", "nncf", "modelopt", "amct-minimal", "onnxruntime"}) {
            const ExportResult result = exported(name);
            QVERIFY2(test::says(result.notices,
                                "has no float16 for single layers: 1 layer stays in float32: /out/Conv"),
                     name);
            QVERIFY2(test::joined(exported(name, {}).notices).find("float16") == std::string::npos, name);
        }
        for (const char* name : {"nncf", "modelopt", "amct-minimal"}) {
            const auto notices = exported(name).notices;
            QVERIFY2(test::says(notices,
                                "has one precision for all quantized layers: 1 layer with w8a16 gets w8a8: "
                                "/dw/Conv"),
                     name);
            QVERIFY2(test::says(notices, "1 layer with w4a8 gets w8a8: /head/Gemm"), name);
        }
        for (const ExportedFile& file : exported("nncf").files)
            if (file.model)
                for (const Node& node : file.model->nodes()) QVERIFY(node.op != "Identity");
    }

    /// AMCT's bits belong to the inputs of layers, and so does a precision.
    void amctHasTheBitsOfInputs() {
        const std::string text = exported("amct").files[0].text;
        const std::size_t layer = text.find("\"/dw/Conv\"");
        QVERIFY(layer != std::string::npos);
        QVERIFY(text.find("\"num_bits\":16", layer) < text.find("\"/", layer + 3));
        QVERIFY(text.find("\"quant_enable\":false", text.find("\"/out/Conv\"")) <
                text.find("\"weight_quant_params\"", text.find("\"/out/Conv\"")));
    }

    /// A layer without a precision reads its input in the default 8 bits, even if the pool before it has 16.
    void amctHasTheBitsOfConvertedInputs() {
        QuantizationConfig config;
        config.skipTail = false;
        config = withPrecision(config, {"/pool"}, Precision::integer(8, 16));
        const auto json = nlohmann::json::parse(exported("amct", config).files[0].text);
        QCOMPARE(json["/head/Gemm"]["activation_quant_params"]["num_bits"].get<int>(), 8);
    }

    /// Without precisions nothing changes: the configuration is the user's own.
    void withoutPrecisionsTheSourceIsUnchanged() {
        QuantizationConfig config;
        config.layers["/dw/Conv"].weightBits = 4;
        QVERIFY(forOtherTools(*test::stageModel(), config) == config);
        QVERIFY(withoutConversions(config) == config);
    }
};

QTEST_GUILESS_MAIN(PrecisionExportsTest)
#include "precision_exports_test.moc"
