// SPDX-License-Identifier: Apache-2.0
// Import of AMCT's config.json: round trips, the sample in its documentation, and every check that AMCT does.
#include <nlohmann/json.hpp>

#include "config/presets.h"
#include "model/graph_builder.h"
#include "support/export_support.h"

using namespace quantloupe;
using namespace quantloupe::test;

namespace {

/// The names of the documentation's sample.
GraphPtr sampleModel() {
    return namedModel(R"(
        <ir_version: 8, opset_import: ["" : 13]>
        net (float[1,2,4,4] X) => (float[1,2] Y)
        <float[2,2,1,1] A = {1,2,3,4}, float[2,2,1,1] B = {1,2,3,4}, float[2,2] W = {1,2,3,4}> {
            a = Conv(X, A)
            b = Conv(a, B)
            c = GlobalAveragePool(b)
            d = Flatten(c)
            Y = Gemm(d, W)
        })",
                      {"MobilenetV2/Conv/Conv2D", "MobilenetV2/Conv_1/Conv2D", "pool", "flatten", "Logits"});
}

/// The sample in AMCT's documentation, verbatim.
const char* const kSample =
    R"({ "version":1, "activation_offset":true, "do_fusion":true, "skip_fusion_layers":[], "MobilenetV2/Conv/Conv2D":{ "quant_enable":true, "activation_quant_params":{ "max_percentile":0.999999, "min_percentile":0.999999, "search_range":[ 0.7, 1.3 ], "search_step":0.01, "act_algo":"ifmr", "asymmetric":false }, "weight_quant_params":{ "wts_algo":"arq_quantize", "channel_wise":true } }, "MobilenetV2/Conv_1/Conv2D":{ "quant_enable":true, "activation_quant_params":{ "max_percentile":0.999999, "min_percentile":0.999999, "search_range":[ 0.7, 1.3 ], "search_step":0.01, "act_algo":"ifmr", "asymmetric":false }, "weight_quant_params":{ "wts_algo":"arq_quantize", "channel_wise":true } } })";

std::string all(const std::string& globals, const std::string& entry, const char* layer = "/stem/Conv") {
    return "{" + globals + (globals.empty() ? "" : ", ") + "\"" + layer + "\": {" + entry + "}}";
}
std::string activation(const std::string& keys) {
    return R"("quant_enable": true, "activation_quant_params": {)" + keys + "}";
}
std::string weight(const std::string& keys) {
    return R"("quant_enable": true, "weight_quant_params": {)" + keys + "}";
}

GraphPtr special(const char* op) {
    const std::string name = op;
    if (name == "Conv3d")
        return namedModel(R"(<ir_version: 8, opset_import: ["" : 13]>
            net (float[1,1,2,2,2] X) => (float[1,1,2,2,2] Y) <float[1,1,1,1,1] W = {1}> { Y = Conv(X, W) })",
                          {"/stem/Conv"});
    if (name == "MatMul")
        return namedModel(R"(<ir_version: 8, opset_import: ["" : 13]>
            net (float[1,2] X) => (float[1,2] Y) <float[2,2] W = {1,2,3,4}> { Y = MatMul(X, W) })",
                          {"/stem/Conv"});
    if (name == "reserved")
        return namedModel(R"(<ir_version: 8, opset_import: ["" : 13]>
            net (float[1,2] X) => (float[1,2] Y) <float[2,2] W = {1,2,3,4}> { Y = MatMul(X, W) })",
                          {"do_fusion"});
    if (name == "nan" || name == "inf" || name == "tiny" || name == "double") {
        GraphBuilder builder(*stageModel());
        const auto set = [&](const char* tensor, ConstantPtr value) {
            builder.setConstant(builder.tensor(tensor), std::move(value));
        };
        constexpr float kInfinity = std::numeric_limits<float>::infinity();
        if (name == "nan") set("A", Constant::fromFloats({2, 2, 1, 1}, {1, 2, std::nanf(""), 4}));
        if (name == "inf") set("c", Constant::fromFloats({3}, {0, 1, kInfinity}));
        if (name == "tiny") set("A", Constant::fromFloats({2, 2, 1, 1}, {1e-40F, 0, 0, 0}));
        if (name == "double")
            set("A", Constant::fromBytes(DataType::Float64, {2, 2, 1, 1}, std::vector<std::byte>(32)));
        return builder.build();
    }
    return namedModel(R"(<ir_version: 8, opset_import: ["" : 13]>
        net (float[1,2] X) => (float[1,2] Y) <float s = {1}, uint8 z = {0}> { q = QuantizeLinear(X, s, z) Y = DequantizeLinear(q, s, z) })",
                      {"q", "dq"});
}

}  // namespace

class ReadAmctTest : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void sampleOfTheDocumentation() {
        const ImportResult result = readText("amct", sampleModel(), kSample);
        const QuantizationConfig& c = result.config;
        QCOMPARE(c.rules.size(), 1u);
        QCOMPARE(c.rules[0].layers, std::vector<std::string>{"Logits"});  // it has no entry
        QVERIFY(says(result.taken, "without an entry, which AMCT treats as skipped: Logits"));
        QVERIFY(!c.skipTail);
        QVERIFY(c.quantization.activation.symmetric);  // the layers' asymmetric overrides activation_offset
        QVERIFY(c.quantization.weight.perChannel && !c.quantization.weight.restricted);
        QVERIFY(c.quantization.weight.method == WeightMethod::Arq);
        QVERIFY(c.calibration.method == CalibrationMethod::Ifmr);
        QCOMPARE(*c.calibration.parameters.searchRange, (std::array{0.7, 1.3}));
        QVERIFY(c.transforms.foldBatchNorm);
        QVERIFY(c.layers.empty());
    }

    void roundTrips() {
        QuantizationConfig config;
        config.skipTail = false;
        config.calibration.method = CalibrationMethod::Hfmg;
        config.calibration.parameters.numOfBins = 2048;
        config.quantization.placement = Placement::WeightedInputs;
        config.quantization.weight.perChannel = true;
        config.quantization.weight.perChannelProducts = false;
        config.quantization.weight.restricted = false;
        config.quantization.weight.method = WeightMethod::Arq;
        config.transforms.skipFolding = {"/dw/Conv"};
        config.layers["/dw/Conv"].activationSymmetric = true;
        config.layers["/dw/Conv"].calibrationMethod = CalibrationMethod::Ifmr;
        config.layers["/dw/Conv"].calibrationParameters.searchRange = {0.5, 1.0};
        config.layers["/dw/Conv"].calibrationParameters.searchStep = 0.5;
        config.layers["/out/Conv"].weightBits = 4;
        SkipRule rule;
        rule.layers = {"/head/Gemm"};
        config.rules = {rule};
        const std::string text =
            formatNamed("amct", false).write(exportSource(stageModel(), config, "x.json")).files[0].text;
        QVERIFY(matchesGolden(text, "amct.json"));
        const ImportResult back = readText("amct", stageModel(), text);
        QCOMPARE(back.config.rules.size(), 1u);
        QVERIFY(back.config.rules[0] == rule);
        QVERIFY(back.config.transforms == config.transforms);
        QVERIFY(back.config.quantization == config.quantization);
        QVERIFY(back.config.calibration == config.calibration);
        const LayerSettings& own = back.config.layers.at("/dw/Conv");
        QCOMPARE(*own.activationSymmetric, true);
        QVERIFY(*own.calibrationMethod == CalibrationMethod::Ifmr);
        QCOMPARE(*own.calibrationParameters.searchStep, 0.5);
        QCOMPARE(*back.config.layers.at("/out/Conv").weightBits, 4);
        // Exporting it again gives the same text.
        QCOMPARE(
            formatNamed("amct", false).write(exportSource(stageModel(), back.config, "x.json")).files[0].text,
            text);
    }

    // Settings of a disabled layer apply when it is enabled.
    void parametersOfDisabledLayersSurvive() {
        const std::string text =
            R"({"version": 1, "batch_num": 1, "activation_offset": true, "do_fusion": true, "skip_fusion_layers": [],
            "/stem/Conv": {"quant_enable": true, "activation_quant_params": {"asymmetric": true}},
            "/dw/Conv": {"quant_enable": true, "activation_quant_params": {"asymmetric": true}},
            "/out/Conv": {"quant_enable": false,
                "activation_quant_params": {"num_bits": 8, "max_percentile": 0.999, "min_percentile": 0.998, "search_range": [0.8, 1.2],
                                            "search_step": 0.02, "act_algo": "ifmr", "asymmetric": false},
                "weight_quant_params": {"num_bits": 4, "wts_algo": "arq_quantize", "channel_wise": false}},
            "/head/Gemm": {"quant_enable": false, "activation_quant_params": {"act_algo": "hfmg", "num_of_bins": 1024, "asymmetric": true}}})";
        const ImportResult first = readText("amct", stageModel(), text);
        QVERIFY2(first.left.empty(), joined(first.left).c_str());
        const LayerSettings& own = first.config.layers.at("/out/Conv");
        QCOMPARE(*own.weightBits, 4);
        QCOMPARE(*own.weightPerChannel, false);
        QCOMPARE(*own.activationSymmetric, true);
        QCOMPARE(*own.calibrationParameters.maxPercentile, 0.999);
        QVERIFY(!own.quantize);  // a rule keeps it in float
        const std::string written = formatNamed("amct", false)
                                        .write(exportSource(stageModel(), first.config, "x.json"))
                                        .files[0]
                                        .text;
        const auto before = nlohmann::json::parse(text), after = nlohmann::json::parse(written);
        for (const auto& [key, value] : before["/out/Conv"].items())
            QCOMPARE(after["/out/Conv"][key].dump(), value.dump());
        QCOMPARE(after["/head/Gemm"]["quant_enable"].get<bool>(), false);
        QCOMPARE(after["/head/Gemm"]["activation_quant_params"]["num_of_bins"].get<int>(), 1024);
        const ImportResult again = readText("amct", stageModel(), written);
        QVERIFY(again.config == first.config);

        const ImportResult migrated = readText("amct", stageModel(), R"({"/stem/Conv": {"quant_enable": true},
            "/out/Conv": {"quant_enable": false, "dmq_balancer_param": 0.5, "weight_quant_params": {"wts_algo": "ada_quantize", "warm_start": 0.3}}})");
        QVERIFY(says(migrated.left, "dmq_balancer_param has no counterpart here: /out/Conv"));
        QVERIFY(says(migrated.left, "wts_algo ada_quantize of layers in float is not kept"));
        QVERIFY(says(migrated.left,
                     "num_iteration, reg_param, beta_range and warm_start of ada_quantize have no "
                     "counterpart here: /out/Conv"));
    }

    void anOffsetWithoutEffectIsReported() {
        const ImportResult sample = readText("amct", sampleModel(), kSample);
        QVERIFY(says(sample.taken,
                     "activation_offset true has no effect, since every layer sets asymmetric to false; an "
                     "export writes it as false"));
        const ImportResult mixed = readText(
            "amct", stageModel(), R"({"activation_offset": true, "/stem/Conv": {"quant_enable": true},
            "/dw/Conv": {"quant_enable": true, "activation_quant_params": {"asymmetric": false}}})");
        QVERIFY(joined(mixed.taken).find("activation_offset") == std::string::npos);
    }

    void unmatchedNamesComeFirst() {
        const ImportResult partly = readText(
            "amct", stageModel(),
            R"({"joint_quant": true, "/stem/Conv": {"quant_enable": true}, "/pool": {"quant_enable": true},
            "/out/Con": {"quant_enable": true}, "/dw/Cnv": {"quant_enable": true}})");
        QCOMPARE(partly.left.size(), 4u);
        for (const std::size_t i : {0u, 1u})
            QVERIFY2(partly.left[i].starts_with("the model has no layer '"), partly.left[i].c_str());
        const std::string none = readFailure(
            "amct", stageModel(), R"({"skip_fusion_layers": ["/a/Conv"], "/stem/Con": {"quant_enable": true},
            "/b/Conv": {"quant_enable": true}, "/c/Conv": {"quant_enable": false}})");
        for (const char* words : {"none of its 3 layers is in the model",
                                  "'/stem/Con' (did you mean '/stem/Conv'", "'/b/Conv'", "'/c/Conv'"})
            QVERIFY2(none.find(words) != std::string::npos, none.c_str());
    }

    void minimalFormat() {
        QuantizationConfig config;
        config.wholeTail = true;
        config.calibration.method = CalibrationMethod::Hfmg;
        config.layers["/out/Conv"].weightBits = 4;
        const ExportResult result =
            formatNamed("amct-minimal", false).write(exportSource(stageModel(), config, "x.json"));
        QVERIFY(matchesGolden(result.files[0].text, "amct_minimal.json"));
        for (const char* absent : {"batch_num", "joint_quant", "num_bits", "hfmg"})
            QVERIFY2(result.files[0].text.find(absent) == std::string::npos, absent);
        QVERIFY(says(result.notices, "this format has no num_bits, so all weights have 8 bits: /out/Conv"));
        QVERIFY(says(result.notices, "this format has no hfmg"));
        readText("amct-minimal", stageModel(), result.files[0].text);
    }

    void defaultsAndPrecedence() {
        const ImportResult bare = readText("amct", stageModel(), all("", R"("quant_enable": true)"));
        QVERIFY(!bare.config.quantization.activation.symmetric);  // activation_offset is true
        QVERIFY(bare.config.quantization.weight.perChannel);
        QCOMPARE(bare.config.quantization.weight.bits, 8);
        QVERIFY(bare.config.calibration.method == CalibrationMethod::Ifmr);
        const ImportResult symmetric =
            readText("amct", stageModel(), all("\"activation_offset\": false", R"("quant_enable": true)"));
        QVERIFY(symmetric.config.quantization.activation.symmetric);
        const ImportResult own = readText(
            "amct", stageModel(), all("\"activation_offset\": false", activation("\"asymmetric\": true")));
        QVERIFY(!own.config.quantization.activation.symmetric);
        const ImportResult bins =
            readText("amct", stageModel(), all("", activation("\"num_of_bins\": 1024")));
        QVERIFY(bins.config.calibration.method == CalibrationMethod::Hfmg);  // inferred from the key
        // decimally equal
        readText("amct", stageModel(),
                 all("", activation("\"search_range\": [0.7, 1.3], \"search_step\": 0.6")));
        // whole numbers where floats are expected
        readText("amct", stageModel(), all("", activation("\"max_percentile\": 1")));
    }

    void oddFilesAreReviewed() {
        const auto text =
            R"({"/stem/Conv": {"quant_enable": true}, "/dw/Conv": {"activation_quant_params": {}},
                             "/out/Con": {"quant_enable": true}, "/pool": {"quant_enable": true}, "batch_num": 3, "joint_quant": true,
                             "tensor_quantize": [{"layer_name": "/out/Add", "input_index": 0}]})";
        const ImportResult result = readText("amct", stageModel(), text);
        QVERIFY(says(result.left, "quant_enable is missing, which AMCT treats as false: /dw/Conv"));
        QVERIFY(says(result.left, "the model has no layer '/out/Con' (did you mean '/out/Conv'"));
        QVERIFY(says(result.left,
                     "layer /pool does not support quant: GlobalAveragePool is not a layer type of AMCT"));
        QVERIFY(says(result.left, "joint_quant has no counterpart here"));
        QVERIFY(says(result.left, "batch_num 3 counts batches"));
        QVERIFY(says(result.left, "tensor_quantize of '/out/Add'"));
        const ImportResult nuq = readText(
            "amct", stageModel(), all("", weight("\"wts_algo\": \"nuq_quantize\", \"num_steps\": 16")));
        QVERIFY(says(nuq.left, "nuq_quantize is obsolete"));
        const ImportResult ada = readText(
            "amct", stageModel(), all("", weight("\"wts_algo\": \"ada_quantize\", \"reg_param\": 0.01")));
        QVERIFY(ada.config.refine.rounding == Rounding::Adaround);
        const ImportResult migrated =
            readText("amct", stageModel(), all("", "\"quant_enable\": true, \"dmq_balancer_param\": 0.5"));
        QVERIFY(says(migrated.left, "dmq_balancer_param has no counterpart here: /stem/Conv"));
    }

    void checks_data() {
        QTest::addColumn<std::string>("text");
        QTest::addColumn<std::string>("message");
        QTest::addColumn<QString>("model");
        const auto row = [](const char* name, std::string text, std::string message, const char* model = "") {
            QTest::newRow(name) << text << message << QString(model);
        };
        const std::string on = R"("quant_enable": true)";
        row("1 duplicate key", R"({"version": 1, "version": 1})", "duplicate key 'version'");
        row("1 duplicate layer", R"({"/stem/Conv": {}, "/stem/Conv": {}})", "duplicate key '/stem/Conv'");
        row("2 unknown key", R"({"verson": 1})", "verson is an invalid layer name or parameter");
        row("4 unknown parameter", all("", activation("\"percentile\": 1")),
            "Unknown parameter percentile in activation_quant_params of layer /stem/Conv");
        row("4 unknown of weights", all("", weight("\"bits\": 8")),
            "Unknown parameter bits in weight_quant_params of layer /stem/Conv");
        row("4 unknown with a hint", all("", weight("\"num_bit\": 8")), "(did you mean 'num_bits'?)");
        row("5 range", all("", activation("\"search_range\": [0.7, 1, 1.3]")),
            "must be a list of two numbers, not [0.7,1,1.3]");
        row("4 unknown of the layer", all("", on + ", \"quant\": 1"),
            "Unknown parameter quant in layer /stem/Conv");
        row("5 version", all("\"version\": \"1\"", on), "Type of version should be a whole number, not '1'");
        row("5 enable", all("", "\"quant_enable\": 1"),
            "Type of quant_enable should be true or false, not 1, in layer /stem/Conv");
        row("5 percentile", all("", activation("\"max_percentile\": \"1\"")),
            "Type of activation_quant_params.max_percentile should be a number");
        row("5 fusion", all("\"do_fusion\": 1", on), "Type of do_fusion should be true or false, not 1");
        row("5 object", all("", "\"quant_enable\": true, \"weight_quant_params\": []"),
            "Type of weight_quant_params should be an object");
        row("6 version 2", all("\"version\": 2", on), "The version must be 1, not 2");
        row("6 batches", all("\"batch_num\": 0", on), "batch_num must be from 1 to 1000000, not 0");
        row("6 percentile", all("", activation("\"max_percentile\": 0.5")),
            "max_percentile must be in (0.5, 1], not 0.5, in layer /stem/Conv");
        row("6 range", all("", activation("\"search_range\": [1.3, 0.7]")),
            "search_range must be two increasing numbers above 0");
        row("6 bins", all("", activation("\"num_of_bins\": 1000")),
            "num_of_bins must be one of 1024, 2048, 4096, 8192, not 1000");
        row("6 bits", all("", weight("\"num_bits\": 5")),
            "num_bits must be one of 4, 6, 7, 8, not 5, in layer /stem/Conv");
        row("6 algorithm", all("", activation("\"act_algo\": \"kl\"")),
            "act_algo must be ifmr or hfmg, not 'kl'");
        row("6 migration", all("", on + ", \"dmq_balancer_param\": 0.9"),
            "dmq_balancer_param must be in [0.2, 0.8], in layer /stem/Conv");
        row("6 precision", all("\"fakequant_precision_mode\": \"FP8\"", on),
            "fakequant_precision_mode must be DEFAULT or FORCE_FP16_QUANT");
        row("6 beta", all("", weight("\"wts_algo\": \"ada_quantize\", \"beta_range\": [2, 20]")),
            "beta_range must be two decreasing numbers");
        row("7 mixed", all("", activation("\"search_step\": 0.01, \"num_of_bins\": 1024")),
            "they can not appear at the same time, in layer /stem/Conv");
        row("7 key of the other", all("", activation("\"act_algo\": \"hfmg\", \"search_step\": 0.01")),
            "search_step is not a valid parameter of hfmg");
        row("7 of weights", all("", weight("\"num_steps\": 16")),
            "num_steps is not a valid parameter of arq_quantize, in layer /stem/Conv");
        row("8 channels of Gemm", all("", weight("\"channel_wise\": true"), "/head/Gemm"),
            "channel_wise must be False for layer type Gemm, in layer /head/Gemm");
        row("9 step", all("", activation("\"search_step\": 0.7")),
            "search_step must be in (0, 0.6], the width of the search range, not 0.7");
        row("10 fusion text", all("\"skip_fusion_layers\": \"a\"", on),
            "Type of skip_fusion_layers should be a list of names");
        row("10 fusion number", all("\"skip_fusion_layers\": [1]", on),
            "skip_fusion_layers should be a list of names, but contains 1");
        row("10 fusion twice", all("\"skip_fusion_layers\": [\"/dw/Conv\", \"/dw/Conv\"]", on),
            "skip_fusion_layers names '/dw/Conv' twice");
        row("10 fusion unknown", all("\"skip_fusion_layers\": [\"/dw/conv\"]", on),
            "the model has no layer '/dw/conv' (did you mean '/dw/Conv'");
        row("10 fusion type", all("\"skip_fusion_layers\": [\"/out/Add\"]", on),
            "'/out/Add' is a Add, but only Conv can be fused");
        row("13 nothing on", all("", "\"quant_enable\": false"), "No quant enable layer");
        row("14 three dimensions", all("", activation("\"asymmetric\": true")),
            "current layer /stem/Conv only support act symmetric quant", "Conv3d");
        row("15 wide MatMul", all("", activation("\"num_bits\": 16")),
            "num_bits 16 is supported only for Conv and ConvTranspose", "MatMul");
        row("16 reserved name", all("", on),
            "the layer 'do_fusion' has the same name as a key of AMCT's configuration", "reserved");
        row("17 quantized model", all("", on), "the model is quantized already (QuantizeLinear 'q')",
            "quantized");
        row("18 NaN", all("", on), "'A' contains nan, so that it has no valid scale, in layer /stem/Conv",
            "nan");
        row("18 infinite bias", all("", on, "/head/Gemm"),
            "'c' contains inf, so that it has no valid scale, in layer /head/Gemm", "inf");
        row("18 no reciprocal", all("", on),
            "'A' is so small (largest magnitude 9.99995e-41) that its scale has no reciprocal, in layer "
            "/stem/Conv",
            "tiny");
        row("18 type", all("", on),
            "'A' is of type float64: AMCT quantizes float16 and float32, in layer /stem/Conv", "double");
        row("retraining", all("", "\"retrain_enable\": true"), "this is a retraining configuration");
        row("tensor type", all("\"tensor_quantize\": [{\"layer_name\": \"/pool\", \"input_index\": 0}]", on),
            "tensor_quantize supports only MaxPool and Add");
        row("6 bits in Gemm", all("", weight("\"num_bits\": 6"), "/head/Gemm"),
            "num_bits 6 is supported only for two-dimensional Conv, in layer /head/Gemm");
        row("4 bits in groups", all("", weight("\"num_bits\": 4"), "/dw/Conv"), "num_bits 4 needs one group");
        row("no object", "[]", "an object was expected");
        row("broken", "{\"version\": 1,", "not valid JSON");
    }
    void checks() {
        QFETCH(std::string, text);
        QFETCH(std::string, message);
        QFETCH(QString, model);
        const GraphPtr graph = model.isEmpty() ? stageModel() : special(qPrintable(model));
        const std::string said = readFailure("amct", graph, text);
        QVERIFY2(said.find(message) != std::string::npos, said.c_str());
    }
};

QTEST_GUILESS_MAIN(ReadAmctTest)
#include "read_amct_test.moc"
