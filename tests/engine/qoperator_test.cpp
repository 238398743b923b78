// SPDX-License-Identifier: Apache-2.0
// Conversion of Q/DQ pairs to integer operators: which layers are converted, which stay and why, and that
// both versions compute the same, here and in ONNX Runtime.
#include "interchange/onnxruntime/qoperator.h"

#include <cmath>

#include "config/config_json.h"
#include "data/random_dataset.h"
#include "interchange/gather.h"
#include "interchange/onnxruntime/run_onnxruntime.h"
#include "interchange/wording.h"
#include "session/session.h"
#include "support/exact_model.h"
#include "support/python.h"
#include "support/text_model.h"

using namespace quantloupe;
using namespace quantloupe::test;

namespace {

QuantizationConfig unsignedAffine() {
    QuantizationConfig config;
    config.skipTail = false;
    config.quantization.activation.isSigned = false;
    return config;
}

GraphPtr qdqOf(const QuantizationConfig& config) {
    Session session(LoadedModel{exactModel(), "net.onnx", {}, {}});
    session.setData(std::make_shared<Quarters>(), std::make_shared<Quarters>());
    return session.quantizedModel(config);
}

std::vector<float> outputsOf(const GraphPtr& model) {
    Session session(LoadedModel{model, "net.onnx", {}, {}});
    session.setData(std::make_shared<Quarters>(), std::make_shared<Quarters>());
    const auto values = session.outputs({}).at(0);
    return {values->floats().begin(), values->floats().end()};
}

/// Returns the scale of the codes of the output.
float stepOf(const Graph& model) {
    const Node& last = model.node(model.tensor(model.outputs()[0]).producer);
    return static_cast<float>(model.constantOf(last.input(1))->scalar());
}

double furthest(std::span<const float> a, std::span<const float> b) {
    double most = a.size() == b.size() ? 0 : INFINITY;
    for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i)
        most = std::max(most, std::abs(double(a[i]) - double(b[i])));
    return most;
}

}  // namespace

class QOperatorTest : public QObject {
    Q_OBJECT

  private:
    /// Ties of QLinearAdd are rounded as in ONNX Runtime's operator, which differs from a Q/DQ pair: one code
    /// there is up to two codes of the output.
    static void compare(const QuantizationConfig& config) {
        const GraphPtr qdq = qdqOf(config), integers = toQOperators(qdq).model;
        const auto before = outputsOf(qdq), after = outputsOf(integers);
        QVERIFY2(furthest(before, after) <= 2.02 * double(stepOf(*qdq)),
                 qPrintable(QString::number(furthest(before, after))));
    }

    /// Weights have at most 7 bits: with 8, ONNX Runtime's kernels saturate on processors without VNNI. A
    /// different code at a tie of the pool is 1.2 steps of the output.
    static void compareWithOnnxRuntime(QuantizationConfig config) {
        QUANTLOUPE_NEEDS_ONNXRUNTIME;
        config.quantization.weight.bits = std::min(config.quantization.weight.bits, 7);
        const GraphPtr qdq = qdqOf(config), integers = toQOperators(qdq).model;
        QTemporaryDir folder;
        const std::filesystem::path path = folder.filePath("q.onnx").toStdString();
        saveModel(*integers, path);
        const SampleBatches samples(std::make_shared<Quarters>(), *exactModel(), 1);
        const std::vector<float> ours = outputsOf(integers);
        const auto count = static_cast<std::int64_t>(samples.samples());
        const Dims dims{count, static_cast<std::int64_t>(ours.size()) / count};
        const RuntimeOutputs theirs = runOnnxRuntime(path, samples, {{0, dims}}, {},
                                                     qEnvironmentVariable("QUANTLOUPE_PYTHON").toStdString());
        const double apart = furthest(ours, theirs.values.at(0)->floats());
        QVERIFY2(apart <= 1.3 * double(stepOf(*qdq)),
                 qPrintable(QString::number(apart / double(stepOf(*qdq)))));
    }

    static void schemes() {
        QTest::addColumn<std::string>("json");
        QTest::newRow("uint8 affine") << std::string(R"({"activation": {"signed": false}})");
        QTest::newRow("int8 affine") << std::string(R"({})");
        QTest::newRow("per channel") << std::string(
            R"({"activation": {"signed": false}, "weight": {"per_channel": true}})");
        QTest::newRow("4-bit weights")
            << std::string(R"({"activation": {"signed": false}, "weight": {"bits": 4}})");
        QTest::newRow("float biases")
            << std::string(R"({"activation": {"signed": false}, "bias_bits": "float"})");
        QTest::newRow("symmetric") << std::string(R"({"activation": {"symmetric": true}})");
        QTest::newRow("6-bit activations") << std::string(R"({"activation": {"bits": 6}})");
    }
    static QuantizationConfig fetched() {
        return configFromJson(R"({"quantloupe": 1, "skip": {"tail": false}, "quantization": )" +
                              *static_cast<std::string*>(QTest::qData("json", qMetaTypeId<std::string>())) +
                              "}");
    }

  private Q_SLOTS:
    /// The sums of products of 8-bit codes do not fit int32.
    void deepProductsStayBetweenTheirPairs() {
        Session session(textModel(
            "<ir_version: 8, opset_import: [\"\" : 17]> g (float[N,70000] x) => (float[N,2] y) "
            "<float one = {1}, int64[2] shape = {70000, 2}> { w = Expand(one, shape) y = MatMul(x, w) }"));
        session.setData(randomDataset(session.graph(), 2, 1), randomDataset(session.graph(), 2, 2));
        QuantizationConfig config = unsignedAffine();
        config.skipTail = false;
        config.transforms.simplify = true;
        const QOperatorModel made = toQOperators(session.quantizedModel(config));
        QVERIFY(made.made.empty());
        QCOMPARE(made.kept.size(), 1u);
        QVERIFY2(made.kept.begin()->first.find("may not fit into int32") != std::string::npos,
                 made.kept.begin()->first.c_str());
    }

    /// Biases of 1 with products in units of less than 1e-10.
    void clippedBiasesAreReported() {
        Session session(textModel(
            "<ir_version: 8, opset_import: [\"\" : 17]> g (float[N,2] x) => (float[N,2] y) "
            "<float[2,2] w = {0.000000001, 0, 0, 0.000000001}, float[2] b = {1, 1}> { y = Gemm(x, w, b) }"));
        session.setData(randomDataset(session.graph(), 4, 1), randomDataset(session.graph(), 4, 2));
        QuantizationConfig config = unsignedAffine();
        for (const int bits : {kFloatBias, 16}) {
            config.quantization.biasBits = bits;
            QCOMPARE(biasNotices(*session.plan(config)).size(), 1u);
        }
        config.quantization.biasBits = 32;
        QVERIFY(biasNotices(*session.plan(config)).empty());
    }

    void everyLayerIsConverted() {
        const QOperatorModel made = toQOperators(qdqOf(unsignedAffine()));
        QCOMPARE(made.made, (std::map<std::string, std::size_t>{{"Flatten", 1},
                                                                {"QGemm", 1},
                                                                {"QLinearAdd", 1},
                                                                {"QLinearConv", 3},
                                                                {"QLinearGlobalAveragePool", 1}}));
        QVERIFY(made.kept.empty());
        QVERIFY(made.roundedBiases.empty());
        std::size_t pairs = 0;
        for (const Node& node : made.model->nodes())
            pairs += node.op == "QuantizeLinear" || node.op == "DequantizeLinear";
        QCOMPARE(pairs, 2u);  // the input's and the output's
        QVERIFY(made.model->findNode("/stem/Conv") && made.model->findNode("/head/Gemm"));
        QCOMPARE(made.model->facts().opsets.at("com.microsoft"), 1);
        QVERIFY(made.model->facts().metadata.contains("quantloupe.config"));
    }

    void bothComputeTheSame_data() { schemes(); }
    void bothComputeTheSame() { compare(fetched()); }

    void onnxRuntimeComputesTheSame_data() { schemes(); }
    void onnxRuntimeComputesTheSame() { compareWithOnnxRuntime(fetched()); }

    void skippedLayersStayInFloat() {
        QuantizationConfig config = unsignedAffine();
        SkipRule rule;
        rule.layers = {"/dw/Conv"};
        config.rules = {rule};
        const GraphPtr model = toQOperators(qdqOf(config)).model;
        QCOMPARE(model->node(*model->findNode("/dw/Conv")).op, std::string("Conv"));
        QCOMPARE(model->node(*model->findNode("/out/Conv")).op, std::string("QLinearConv"));
        compare(config);
    }

    void layersBetweenPairsAreReported() {
        QuantizationConfig symmetric = unsignedAffine();
        symmetric.quantization.activation.isSigned = true;
        symmetric.quantization.activation.symmetric = true;
        const QOperatorModel relu = toQOperators(qdqOf(symmetric));
        QCOMPARE(relu.kept.at("the codes exceed the output range of the Relu or Clip after it"),
                 (std::vector<std::string>{"/stem/Conv", "/dw/Conv"}));
        QCOMPARE(relu.made.at("QLinearConv"), 1u);

        QuantizationConfig wide = unsignedAffine();
        wide.layers["/out/Conv"].activationBits = 16;
        const QOperatorModel sixteen = toQOperators(qdqOf(wide));
        QCOMPARE(sixteen.kept.at("integer operators support only 8-bit codes"),
                 (std::vector<std::string>{"/out/Conv", "/out/Add"}));
        QCOMPARE(sixteen.made.at("QLinearConv"), 2u);

        QuantizationConfig biases = unsignedAffine();
        biases.quantization.biasBits = kFloatBias;
        QCOMPARE(toQOperators(qdqOf(biases)).made.at("QLinearConv"), 3u);  // they become int32
    }

    void itIsAFormat() {
        Session session(LoadedModel{exactModel(), "net.onnx", {}, {}});
        session.setData(std::make_shared<Quarters>(), std::make_shared<Quarters>());
        QuantizationConfig config = unsignedAffine();
        config.quantization.activation.symmetric = true;
        config.quantization.activation.isSigned = true;
        const ExportResult result =
            formatNamed("qoperator", false)
                .write(gatherExport(session, config, formatNamed("qoperator", false)));
        QVERIFY(
            says(result.notices,
                 "2 layers stay in float between Q/DQ pairs, each because the codes exceed the output range "
                 "of the Relu or Clip"));
        // Only with unsigned activations, or between Q/DQ pairs.
        QVERIFY(!says(result.notices, "can saturate"));
        for (const char* format : {"qoperator", "qdq"}) {
            config.quantization.activation.isSigned = format == std::string("qdq");
            QVERIFY(says(formatNamed(format, false)
                             .write(gatherExport(session, config, formatNamed(format, false)))
                             .notices,
                         "can saturate with 8-bit weights"));
        }
        QTemporaryDir folder;
        const auto path = writeExport(result, folder.filePath("q.onnx").toStdString()).at(0);
        const ImportResult back = importFile(formatNamed("qoperator", true), exactModel(), {}, path);
        QVERIFY(back.config == config);
    }
};

QTEST_GUILESS_MAIN(QOperatorTest)
#include "qoperator_test.moc"
