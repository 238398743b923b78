// SPDX-License-Identifier: Apache-2.0
// Export of AMCT's config.json, compared as text, and the notices about what it cannot express.

#include <QtTest>
#include <nlohmann/json.hpp>

#include "interchange/amct/amct_layers.h"
#include "interchange/writers.h"
#include "model/graph_builder.h"
#include "support/errors.h"
#include "support/export_support.h"
#include "support/text_model.h"

using namespace quantloupe;
using test::errorOf;

namespace {

/// Returns the model of the text with these layer names, prepared without transforms.
Prepared prepared(const std::string& text, const std::vector<std::string>& names) {
    GraphBuilder builder(*test::textModel(text).graph);
    for (std::size_t n = 0; n < names.size(); ++n) builder.node(NodeId(n)).name = names[n];
    Prepared result;
    result.source = builder.build();
    result.graph = result.source;
    return result;
}

/// All layers quantized except the named ones.
std::vector<LayerResult> states(const Prepared& p, const std::map<std::string, LayerState>& others = {}) {
    std::vector<LayerResult> result;
    for (std::size_t n = 0; n < p.source->nodeCount(); ++n) {
        LayerResult layer;
        layer.node = NodeId(n);
        layer.name = p.source->nodes()[n].name;
        layer.op = p.source->nodes()[n].op;
        layer.state = others.contains(layer.name) ? others.at(layer.name) : LayerState::Quantized;
        result.push_back(layer);
    }
    return result;
}

Prepared small() {
    return prepared(R"(
        <ir_version: 8, opset_import: ["" : 13]>
        net (float[1,2,4,4] X) => (float[1,2] Y)
        <float[2,2,1,1] A = {1,2,3,4}, float[2] v = {1,1}, float[2,1,1,1] D = {1,2}, float[2,2] W = {1,2,3,4}> {
            a = Conv(X, A)
            b = BatchNormalization(a, v, v, v, v)
            c = Conv<group = 2>(b, D)
            d = Add(b, c)
            e = GlobalAveragePool(d)
            f = Flatten(e)
            Y = Gemm<transB = 1>(f, W)
        })",
                    {"Conv_0", "BN_1", "/block.1/dw", "Add_3", "GAP_4", "Flatten_5", "fc"});
}

const std::map<std::string, LayerState> kSmallStates = {
    {"BN_1", LayerState::Folded}, {"Flatten_5", LayerState::Float}, {"fc", LayerState::Skipped}};

struct AmctExport {
    std::string json;
    std::vector<std::string> notices;
};

AmctExport exportAmct(const Prepared& p, const QuantizationConfig& config,
                      const std::vector<LayerResult>& layers) {
    ExportSource source;
    source.prepared = std::make_shared<const Prepared>(p);
    source.config = config;
    source.layers = layers;
    const ExportResult result = writeAmct(source);
    return {result.files.at(0).text, result.notices};
}

bool says(const AmctExport& result, const char* words) { return test::says(result.notices, words); }

const char* const kGolden = R"({
    "version":1,
    "batch_num":256,
    "activation_offset":true,
    "joint_quant":false,
    "do_fusion":true,
    "skip_fusion_layers":["Conv_0"],
    "/block.1/dw":{
        "quant_enable":true,
        "activation_quant_params":{
            "num_bits":8,
            "max_percentile":0.999999,
            "min_percentile":0.999999,
            "search_range":[0.7,1.3],
            "search_step":0.01,
            "act_algo":"ifmr",
            "asymmetric":false
        },
        "weight_quant_params":{
            "num_bits":8,
            "channel_wise":true,
            "wts_algo":"arq_quantize"
        }
    },
    "Conv_0":{
        "quant_enable":true,
        "activation_quant_params":{
            "num_bits":8,
            "max_percentile":0.999999,
            "min_percentile":0.999999,
            "search_range":[0.7,1.3],
            "search_step":0.01,
            "act_algo":"ifmr",
            "asymmetric":true
        },
        "weight_quant_params":{
            "num_bits":4,
            "channel_wise":true,
            "wts_algo":"arq_quantize"
        }
    },
    "fc":{
        "quant_enable":false,
        "activation_quant_params":{
            "num_bits":8,
            "max_percentile":0.999999,
            "min_percentile":0.999999,
            "search_range":[0.7,1.3],
            "search_step":0.01,
            "act_algo":"ifmr",
            "asymmetric":true
        },
        "weight_quant_params":{
            "num_bits":4,
            "channel_wise":false,
            "wts_algo":"arq_quantize"
        }
    }
}
)";

}  // namespace

class AmctTest : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void batchSizes() {
        const auto of = [](const std::string& shape) {
            return amctBatchSize(*test::textModel("<ir_version: 8, opset_import: [\"\" : 13]> net (float[" +
                                                  shape + "] x) => (float[" + shape + "] y) { y = Relu(x) }")
                                      .graph);
        };
        QCOMPARE(of("4, 2"), std::optional<std::int64_t>(4));
        QCOMPARE(of("N, 2"), std::nullopt);
        QCOMPARE(of("0, 2"), std::nullopt);
    }

    void goldenText() {
        QuantizationConfig config;
        config.quantization.weight.bits = 4;
        config.quantization.weight.perChannel = true;
        config.transforms.skipFolding = {"BN_1"};
        config.transforms.equalization.profile = EqualizationProfile::Aimet;
        config.layers["Conv_0"].activationSymmetric = true;  // the input of /block.1/dw
        config.wholeTail = true;
        const Prepared p = small();
        const AmctExport result = exportAmct(p, config, states(p, kSmallStates));
        QCOMPARE(result.json.c_str(), kGolden);
        QVERIFY(nlohmann::json::accept(result.json));
        QVERIFY(says(result, "AMCT calibrates activations with ifmr, while the preview used min_max"));
        QVERIFY(says(result, "batch_num 256 gives 256 samples (calibration.samples is 256)"));
        QVERIFY(says(result, "AMCT has no tail rule: resolved to 1 layer"));
        QVERIFY(says(result, "AMCT does not quantize Add: 1 layer is left out"));
        QVERIFY(says(result, "AMCT does not quantize GlobalAveragePool: 1 layer is left out"));
        QVERIFY(says(
            result,
            "4 weight bits become 8, because AMCT supports 4 only with one group and an even number of input "
            "channels: /block.1/dw"));
        QVERIFY(says(result, "AMCT's configuration cannot express equalization"));
        // The skipped Gemm would lose its per-channel weights, which is irrelevant for a float layer.
        QVERIFY(test::joined(result.notices).find("per tensor") == std::string::npos);
    }

    void schemeAndWidths() {
        QuantizationConfig config;
        config.quantization.activation = {8, false, true};
        config.quantization.weight = {6, false, true};
        config.transforms.foldBatchNorm = false;
        config.layers["Conv_0"].weightBits = 3;
        config.layers["/block.1/dw"].weightPerChannel = false;
        config.skipTail = false;
        const Prepared p = small();
        const AmctExport result = exportAmct(p, config, states(p));
        const auto json = nlohmann::json::parse(result.json);
        QCOMPARE(json["activation_offset"].get<bool>(), false);
        QCOMPARE(json["do_fusion"].get<bool>(), false);
        QCOMPARE(json["Conv_0"]["activation_quant_params"]["asymmetric"].get<bool>(), false);
        QCOMPARE(json["Conv_0"]["weight_quant_params"]["num_bits"].get<int>(), 8);
        QCOMPARE(json["/block.1/dw"]["weight_quant_params"]["num_bits"].get<int>(), 6);
        QCOMPARE(json["/block.1/dw"]["weight_quant_params"]["channel_wise"].get<bool>(), false);
        QCOMPARE(json["fc"]["weight_quant_params"]["num_bits"].get<int>(), 8);
        QCOMPARE(json["fc"]["weight_quant_params"]["channel_wise"].get<bool>(), false);
        QVERIFY(says(result, "3 weight bits become 8, because AMCT supports only 4, 6, 7 and 8: Conv_0"));
        QVERIFY(
            says(result,
                 "6 weight bits become 8, because AMCT supports 6 and 7 only in two-dimensional Conv: fc"));
        QVERIFY(says(result, "AMCT has no per-channel weights in Gemm, so they become per tensor: fc"));
        QVERIFY(says(result, "AMCT's activations are signed"));
        QVERIFY(test::joined(result.notices).find("rule:") == std::string::npos);
    }

    /// A Flatten keeps the scale of its input, so the layer after it gets the settings of the layer before
    /// it.
    void inputSettingsPassThroughFlatten() {
        QuantizationConfig config;
        config.layers["GAP_4"].activationSymmetric = true;
        config.layers["GAP_4"].activationBits = 16;
        const Prepared p = small();
        const auto json = nlohmann::json::parse(exportAmct(p, config, states(p)).json);
        QCOMPARE(json["fc"]["activation_quant_params"]["asymmetric"].get<bool>(), false);
        QCOMPARE(json["fc"]["activation_quant_params"]["num_bits"].get<int>(), 16);
        QCOMPARE(json["Conv_0"]["activation_quant_params"]["asymmetric"].get<bool>(), true);
    }

    /// Every reason why AMCT does not quantize a layer of a supported type.
    void layersThatAmctCannotQuantize() {
        const Prepared p = prepared(R"(
            <ir_version: 8, opset_import: ["" : 13]>
            net (float[1,2,2,2] X, float[2,2,1,1] V, float[2,2] M) => (float[1,2,1,1] Y, float[2,2] Z)
            <float[2,2,1,1] S = {1,2,3,4}, float[2,2] G = {1,2,3,4}, float[2,2] H = {1,2,3,4}, float[2,2] I = {1,2,3,4},
             float[2,2,1,1] T = {1,2,3,4}, float[2,2,1,1] O = {1,2,3,4}> {
                a = Conv(X, S)
                b = Conv(a, S)
                c = Conv(b, V)
                d = AveragePool<kernel_shape = [1, 1]>(c)
                e = ConvTranspose<dilations = [2, 2]>(d, T)
                f = ConvTranspose(e, O)
                Y = AveragePool<kernel_shape = [2, 2]>(f)
                g = Gemm<transA = 1>(M, G)
                h = MatMul(H, g)
                i = MatMul(g, h)
                Z = MatMul(i, I)
            })",
                                    {"shared_1", "shared_2", "running", "pool", "dilated", "deconv", "global",
                                     "transposed", "left", "both", "right"});
        const AmctExport result = exportAmct(p, QuantizationConfig{}, states(p));
        std::vector<std::string> layers;
        const auto json = nlohmann::json::parse(result.json);
        for (const auto& item : json.items())
            if (item.value().is_object()) layers.push_back(item.key());
        QCOMPARE(layers, (std::vector<std::string>{"deconv", "pool", "right"}));
        QVERIFY(says(result,
                     "leaves this Conv in float, because its weight is shared with another layer: shared_1, "
                     "shared_2"));
        QVERIFY(says(result, "leaves this Conv in float, because its weight is not a constant: running"));
        QVERIFY(says(result, "its window covers the whole input (a global pool): global"));
        QVERIFY(says(result, "only without dilation: dilated"));
        QVERIFY(says(result, "its first operand is transposed (transA): transposed"));
        QVERIFY(
            says(result, "its second operand is not a constant or is shared with another layer: left, both"));
    }

    void threeDimensionalConvIsSymmetric() {
        const Prepared p = prepared(R"(
            <ir_version: 8, opset_import: ["" : 13]>
            net (float[1,1,2,2,2] X) => (float[1,1,2,2,2] Y) <float[1,1,1,1,1] W = {1}> { Y = Conv(X, W) })",
                                    {"Conv_0"});
        const AmctExport result = exportAmct(p, QuantizationConfig{}, states(p));
        QVERIFY(!nlohmann::json::parse(result.json)["Conv_0"]["activation_quant_params"]["asymmetric"]
                     .get<bool>());
        QVERIFY(says(result, "only with symmetric activations, so these become symmetric: Conv_0"));
        QuantizationConfig wide;
        wide.quantization.activation.bits = 16;
        const AmctExport narrowed = exportAmct(p, wide, states(p));
        QCOMPARE(
            nlohmann::json::parse(narrowed.json)["Conv_0"]["activation_quant_params"]["num_bits"].get<int>(),
            8);
        QVERIFY(says(narrowed, "16 activation bits become 8"));
    }

    void batchNormAfterGemmIsReported() {
        const Prepared p = prepared(R"(
            <ir_version: 8, opset_import: ["" : 13]>
            net (float[1,2] X) => (float[1,2] Y) <float[2,2] W = {1,2,3,4}, float[2] v = {1,1}> {
                a = Gemm(X, W)
                Y = BatchNormalization(a, v, v, v, v)
            })",
                                    {"fc", "bn"});
        std::vector<LayerResult> layers = states(p, {{"bn", LayerState::Folded}});
        layers[1].host = "fc";
        QVERIFY(says(exportAmct(p, QuantizationConfig{}, layers),
                     "AMCT folds batch norms only into convolutions"));
        QVERIFY(test::joined(exportAmct(small(), {}, states(small(), kSmallStates)).notices).find("folds") ==
                std::string::npos);
    }

    void refuses() {
        const Prepared p = small();
        const std::map<std::string, LayerState> off = {
            {"Conv_0", LayerState::Skipped}, {"/block.1/dw", LayerState::Skipped}, {"fc", LayerState::Float}};
        QVERIFY(errorOf([&] {
                    exportAmct(p, {}, states(p, off));
                }).contains("none of the layers that AMCT can quantize is quantized"));
        const Prepared reserved = prepared(R"(
            <ir_version: 8, opset_import: ["" : 13]>
            net (float[1,1,2,2] X) => (float[1,1,2,2] Y) <float[1,1,1,1] W = {1}> { Y = Conv(X, W) })",
                                           {"do_fusion"});
        QVERIFY(errorOf([&] {
                    exportAmct(reserved, {}, states(reserved));
                }).contains("the layer 'do_fusion' has the same name as a key of AMCT's configuration"));
    }

    void batchesFollowTheCalibration() {
        QuantizationConfig config;
        config.skipTail = false;
        config.calibration.samples = 20;
        const auto exported = [&](const char* format, const GraphPtr& graph) {
            return formatNamed(format, false).write(test::exportSource(graph, config, "x.json"));
        };
        const auto fixed = [](int batch) {
            return test::namedModel(fmt::format(R"(<ir_version: 8, opset_import: ["" : 13]>
                net (float[{0},2] X) => (float[{0},2] Y) <float[2,2] W = {{1,2,3,4}}> {{ Y = MatMul(X, W) }})",
                                                batch),
                                    {"/stem/Conv"});
        };
        QVERIFY(exported("amct", fixed(8)).files[0].text.find("\"batch_num\":3,") != std::string::npos);
        QVERIFY(exported("amct-simple", fixed(8)).files[0].text.find("batch_num : 3\n") != std::string::npos);
        QVERIFY(exported("amct", fixed(1)).files[0].text.find("\"batch_num\":20,") != std::string::npos);
        const ExportResult open = exported("amct", test::stageModel());
        QVERIFY(open.files[0].text.find("\"batch_num\":1,") != std::string::npos);
        QVERIFY(test::says(open.notices,
                           "batch_num is 1, because the model has no fixed batch size: calibrate AMCT with "
                           "one batch of all calibration samples (at most 20"));
        const ImportResult back =
            test::readText("amct", fixed(8), R"({"batch_num": 3, "/stem/Conv": {"quant_enable": true}})");
        QCOMPARE(back.config.calibration.samples, 24);
        QVERIFY(back.left.empty());
        const ImportResult one =
            test::readText("amct", fixed(8), R"({"batch_num": 1, "/stem/Conv": {"quant_enable": true}})");
        QCOMPARE(one.config.calibration.samples, 8);
        const ImportResult dynamic = test::readText(
            "amct", test::stageModel(), R"({"batch_num": 1, "/stem/Conv": {"quant_enable": true}})");
        QCOMPARE(dynamic.config.calibration.samples, QuantizationConfig().calibration.samples);
        QVERIFY(test::says(dynamic.taken,
                           "batch_num 1: one batch of all calibration samples (calibration.samples"));
    }
};

QTEST_GUILESS_MAIN(AmctTest)
#include "amct_test.moc"
