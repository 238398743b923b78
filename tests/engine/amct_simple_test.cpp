// SPDX-License-Identifier: Apache-2.0
// AMCT's simplified configuration: a golden file, the precedence of its parts, and rejected files.
#include "config/presets.h"
#include "model/graph_builder.h"
#include "support/export_support.h"

using namespace quantloupe;
using namespace quantloupe::test;

namespace {

/// A Gemm and two convolutions are weighted, one of them over groups.
QuantizationConfig tuned() {
    QuantizationConfig config;
    config.skipTail = false;
    config.quantization.placement = Placement::WeightedInputs;
    config.quantization.weight.perChannel = true;
    config.quantization.weight.perChannelProducts = false;
    config.quantization.weight.restricted = false;
    config.quantization.weight.method = WeightMethod::Arq;
    config.calibration.method = CalibrationMethod::Ifmr;
    CalibrationParameters& parameters = config.calibration.parameters;
    parameters.maxPercentile = parameters.minPercentile = 0.9999;
    parameters.searchRange = {{0.6, 1.2}};
    parameters.searchStep = 0.02;
    config.transforms.skipFolding = {"/dw/Conv"};
    config.layers["/out/Conv"].weightBits = 4;
    SkipRule rule;
    rule.layers = {"/head/Gemm", "/stem/Conv"};
    config.rules = {rule};
    return config;
}

std::string written(const QuantizationConfig& config) {
    return formatNamed("amct-simple", false)
        .write(exportSource(stageModel(), config, "net.cfg"))
        .files[0]
        .text;
}

}  // namespace

class AmctSimpleTest : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void namesAreEscaped() {
        for (const std::string name : {"tab\tthere", "new\nline", "quote\"d", "back\\slash", "bell\a7"}) {
            GraphBuilder builder(*stageModel());
            builder.node(NodeId(0)).name = name;
            const GraphPtr graph = builder.build();
            QuantizationConfig config = presetConfig("amct-default");
            config.skipTail = false;
            config.layers[name].quantize = false;
            const std::string text =
                formatNamed("amct-simple", false).write(exportSource(graph, config, "net.cfg")).files[0].text;
            const QuantizationConfig read = readText("amct-simple", graph, text).config;
            QCOMPARE(read.rules.size(), std::size_t(1));
            QCOMPARE(read.rules[0].layers, std::vector<std::string>{name});
        }
    }

    void goldenFileRoundTrip() {
        const QuantizationConfig config = tuned();
        const std::string text = written(config);
        QVERIFY(matchesGolden(text, "amct.cfg"));
        const ImportResult back = readText("amct-simple", stageModel(), text);
        QVERIFY(back.config.quantization == config.quantization);
        QVERIFY(back.config.calibration == config.calibration);
        QVERIFY(back.config.transforms == config.transforms);
        QCOMPARE(back.config.layers.size(), 1u);
        QCOMPARE(*back.config.layers.at("/out/Conv").weightBits, 4);
        QCOMPARE(back.config.rules.size(), 1u);
        QCOMPARE(back.config.rules[0].layers, (std::vector<std::string>{"/stem/Conv", "/head/Gemm"}));
        QCOMPARE(written(back.config), text);
    }

    void layerOverridesTypeOverridesCommonConfig() {
        const ImportResult result = readText("amct-simple", stageModel(), R"(
            # a comment
            common_config { arq_quantize { channel_wise: true, quant_bits: 8 } ifmr_quantize { asymmetric: false } }
            override_layer_types : { layer_type : 'Gemm' calibration_config : { hfmg_quantize : { num_of_bins : 1024 } } }
            override_layer_configs : { layer_name : "/out/Conv" calibration_config : { arq_quantize : { channel_wise : false quant_bits : 4 } } }
            skip_layers : "/dw/Conv"
        )");
        const QuantizationConfig& c = result.config;
        QVERIFY(c.quantization.weight.perChannel);
        QVERIFY(c.quantization.activation.symmetric);
        QCOMPARE(*c.layers.at("/out/Conv").weightBits, 4);
        QCOMPARE(*c.layers.at("/out/Conv").weightPerChannel, false);
        // Symmetry is not inherited across algorithms.
        const LayerSettings& head = c.layers.at("/head/Gemm");
        QVERIFY(*head.calibrationMethod == CalibrationMethod::Hfmg);
        QCOMPARE(*head.activationSymmetric, false);
        QCOMPARE(c.rules[0].layers, std::vector<std::string>{"/dw/Conv"});
    }

    void unsupportedInheritedWidthsBecomeEightBits() {
        const ImportResult result =
            readText("amct-simple", stageModel(),
                     "common_config { arq_quantize { channel_wise: true quant_bits: 4 } }\n");
        QCOMPARE(*result.config.layers.at("/dw/Conv").weightBits, 8);
        QVERIFY(readFailure("amct-simple", stageModel(),
                            "override_layer_configs { layer_name: '/dw/Conv' calibration_config { "
                            "arq_quantize { quant_bits: 4 } } }")
                    .find("num_bits 4 needs one group") != std::string::npos);
    }

    void booleansAreThoseOfProtobuf() {
        for (const auto& [text, wanted] :
             {std::pair("true", true), std::pair("True", true), std::pair("t", true),
              std::pair("false", false), std::pair("False", false), std::pair("f", false)})
            QCOMPARE(readText("amct-simple", stageModel(),
                              fmt::format("common_config {{ arq_quantize {{ channel_wise : {} }} }}\n", text))
                         .config.quantization.weight.perChannel,
                     wanted);
    }

    void badFiles_data() {
        QTest::addColumn<std::string>("text");
        QTest::addColumn<std::string>("message");
        const auto row = [](const char* name, std::string text, std::string message) {
            QTest::newRow(name) << text << message;
        };
        row("empty", "# nothing\n", "the file is empty");
        row("11 twice", "skip_layers : \"/dw/Conv\"\nskip_layers : \"/dw/Conv\"\n",
            "line 2: skip_layers names '/dw/Conv' twice");
        row("11 missing", "skip_layers : \"/dw/conv\"",
            "line 1: skip_layers: the model has no layer '/dw/conv' (did you mean '/dw/Conv'");
        row("11 type", "skip_layers : \"/pool\"",
            "'/pool' is a GlobalAveragePool that AMCT does not quantize");
        row("11 everything", "skip_layer_types : \"Conv\"\nskip_layer_types : \"Gemm\"\n",
            "leave no layer to quantize");
        row("12 type", "skip_layer_types : \"Relu\"",
            "line 1: skip_layer_types: AMCT does not quantize Relu");
        row("12 twice", "skip_layer_types : \"Conv\"\nskip_layer_types : \"Conv\"",
            "line 2: skip_layer_types names Conv twice");
        row("field", "skip_layer : \"/dw/Conv\"",
            "line 1: unknown field skip_layer (did you mean 'skip_layers'");
        row("open message", "\ncommon_config : {\n", "line 2: the '{' of common_config is never closed");
        row("open text", "skip_layers : \"/dw\n", "line 1: the string of skip_layers is never closed");
        row("no value", "batch_num :\n", "line 1: expected a value after batch_num");
        row("no colon", "batch_num 1\n", "line 1: expected ':' or '{' after batch_num");
        row("junk", "= 1", "line 1: expected a field name");
        row("no name", "override_layer_configs : { calibration_config : {} }",
            "line 1: override_layer_configs needs layer_name");
        row("no calibration", "override_layer_types : { layer_type : \"Conv\" }",
            "line 1: override_layer_types needs a calibration_config");
        row("type of value", "batch_num : many", "Type of batch_num should be a whole number");
        row("range", "common_config { ifmr_quantize { search_step: 9 } }", "search_step must be in");
        row("width", "common_config { ifmr_quantize { dst_type: INT7 } }",
            "line 1: dst_type must be INT4, INT8 or INT16, not INT7");
        row("algorithm", "common_config { kl_quantize { } }",
            "line 1: unknown field kl_quantize in a calibration_config");
    }
    void badFiles() {
        QFETCH(std::string, text);
        QFETCH(std::string, message);
        const std::string said = readFailure("amct-simple", stageModel(), text);
        QVERIFY2(said.find(message) != std::string::npos, said.c_str());
    }
};

QTEST_GUILESS_MAIN(AmctSimpleTest)
#include "amct_simple_test.moc"
