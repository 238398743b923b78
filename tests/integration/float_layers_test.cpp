// SPDX-License-Identifier: Apache-2.0
// Layers that quantization leaves in float, because their values have no codes or a file cannot express it.
#include <QtTest>

#include "config/presets.h"
#include "model/graph_builder.h"
#include "session/session.h"
#include "support/text_model.h"

using namespace quantloupe;

namespace {

QuantizationConfig withTail() {
    QuantizationConfig config;
    config.skipTail = false;
    return config;
}

}  // namespace

class FloatLayersTest : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    /// A mask of the network with infinite values stays in float, and so does the Softmax after it.
    void infiniteMasksStayInFloat() {
        auto model = test::textModel(
            "<ir_version: 8, opset_import: [\"\" : 13]> g (float[N,4] X) => (float[N,2] Y) <float[4] m = {0, "
            "0, 0, 0}, float[4,4] V = {1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 2, 3, 4, 5, 6, 7}, float[4,2] W = {1, "
            "2, 3, 4, 5, 6, 7, 8}> { s = MatMul(X, V) a = Add(s, m) p = Softmax(a) Y = MatMul(p, W) }");
        GraphBuilder builder(*model.graph);
        builder.setConstant(*model.graph->findTensor("m"), Constant::fromFloats({4}, {0, 0, -INFINITY, 0}));
        model.graph = builder.build();
        Session session(std::move(model));
        session.useRandomInputs(4);
        QuantizationConfig config = presetConfig("onnxruntime-s8s8");
        config.skipTail = false;
        const EvaluationPtr result = session.evaluate(config, Depth::Metrics);
        for (const LayerResult& layer : result->layers)
            QCOMPARE(layer.state == LayerState::Quantized, layer.op == "MatMul");
    }

    /// Exporters write a MaxPool with SAME padding as a Pad with -infinity and a MaxPool, whose result is
    /// finite.
    void maxPoolRemovesInfinitePadding() {
        for (const float padding : {-INFINITY, INFINITY}) {
            auto model = test::textModel(
                "<ir_version: 8, opset_import: [\"\" : 13]> g (float[N,1,4] X) => (float[N,1,3] Y) <int64[6] "
                "pads = {0, 0, 0, 0, 0, 1}, float value = {0}, float[1,1,1] V = {2}, float[1,1,2] W = {1, "
                "-2}> { c = Conv(X, V) p = Pad(c, pads, value) m = MaxPool<kernel_shape = [2]>(p) Y = "
                "Conv(m, W) }");
            GraphBuilder builder(*model.graph);
            builder.setConstant(*model.graph->findTensor("value"), Constant::fromFloats({}, {padding}));
            model.graph = builder.build();
            Session session(std::move(model));
            session.useRandomInputs(4);
            const EvaluationPtr result = session.evaluate(withTail(), Depth::Metrics);
            const auto& layers = result->layers;
            QCOMPARE(layers[0].state, LayerState::Quantized);
            QCOMPARE(layers[1].state, LayerState::Float);
            QCOMPARE(layers[2].state, LayerState::Float);
            QCOMPARE(layers[3].state, padding < 0 ? LayerState::Quantized : LayerState::Float);
            if (padding < 0) QVERIFY(*result->quantized->sqnrDb > 25);
        }
    }

    /// The mask's range would leave few codes for the scores.
    void masksBeforeSoftmaxStayInFloat() {
        Session session(test::textModel(
            "<ir_version: 8, opset_import: [\"\" : 13]> g (float[N,4] X, float[N,4] M) => (float[N,2] Y) "
            "<float[4,4] V = {1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 2, 3, 4, 5, 6, 7}, float low = {-10000}, float "
            "zero = {0}, float[4,2] W = {1, -2, 3, 4, -5, 6, 7, 8}> { s = MatMul(X, V) on = Less(M, zero) f "
            "= Cast<to = 1>(on) m = Mul(f, low) a = Add(s, m) p = Softmax(a) Y = MatMul(p, W) }"));
        session.useRandomInputs(64);
        const auto stateOfSum = [&](QuantizationConfig config) {
            config.skipTail = false;
            const EvaluationPtr result = session.evaluate(config, Depth::Metrics);
            const auto sum = std::ranges::find(result->layers, "Add", &LayerResult::op);
            return std::pair(sum->state, *result->quantized->sqnrDb);
        };
        const auto [state, sqnr] = stateOfSum({});
        QCOMPARE(state, LayerState::Float);
        QVERIFY2(sqnr > 25, qPrintable(QString::number(sqnr)));
        // ONNX Runtime quantizes this sum, so its presets do, too.
        const auto [imitated, less] = stateOfSum(presetConfig("onnxruntime-u8s8"));
        QCOMPARE(imitated, LayerState::Quantized);
        QVERIFY2(less < 10, qPrintable(QString::number(less)));
    }

    /// Numbers that are computed from shapes become indices and paddings; codes would change these.
    void numbersFromShapesStayInFloat() {
        Session session(test::textModel(
            "<ir_version: 8, opset_import: [\"\" : 13]> g (float[N,4] X) => (float[N,2] Y) <int64[1] one = "
            "{1}, float step = {0.499}, float[4,4] V = {1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 2, 3, 4, 5, 6, 7}, "
            "float[2,2] W = {1, 2, 3, -4}> { v = MatMul(X, V) s = Shape(v) n = Gather(s, one) f = Cast<to = "
            "1>(n) h = Mul(f, step) c = Ceil(h) i = Sub(c, step) z = Cast<to = 7>(i) j = Concat<axis = 0>(z, "
            "one) x = Gather<axis = 1>(v, j) Y = MatMul(x, W) }"));
        session.useRandomInputs(4);
        QuantizationConfig config = presetConfig("onnxruntime-s8s8");
        config.skipTail = false;
        const EvaluationPtr result = session.evaluate(config, Depth::Metrics);
        for (const LayerResult& layer : result->layers)
            if (layer.name.starts_with("Mul") || layer.name.starts_with("Sub"))
                QVERIFY2(layer.reason.find("does not depend on the data") != std::string::npos,
                         layer.reason.c_str());
        // The preview is the network that is exported.
        const ConstantPtr floating = session.outputs(std::nullopt).at(0);
        const ConstantPtr quantized = session.outputs(config).at(0);
        double signal = 0, noise = 0;
        for (std::size_t i = 0; i < floating->floats().size(); ++i) {
            signal += std::pow(floating->floats()[i], 2);
            noise += std::pow(floating->floats()[i] - quantized->floats()[i], 2);
        }
        QVERIFY(std::abs(10 * std::log10(signal / noise) - *result->quantized->sqnrDb) < 0.01);
    }

    /// A file cannot quantize a tensor that is both an input and an output, so the preview does not either.
    void outputsThatAreInputsStayInFloat() {
        Session session(test::textModel(
            "<ir_version: 8, opset_import: [\"\" : 13]> g (float[N,2] X) => (float[N,2] X, float[N,2] Y) "
            "<float[2,2] V = {1, 2, 3, 4}, float[2,2] W = {1, -2, 3, 5}> { s = MatMul(X, V) Y = MatMul(s, W) "
            "}"));
        session.useRandomInputs(4);
        const EvaluationPtr result = session.evaluate(withTail(), Depth::Metrics);
        QCOMPARE(result->layers[0].state, LayerState::Float);
        QVERIFY2(result->layers[0].reason.find("both an input and an output") != std::string::npos,
                 result->layers[0].reason.c_str());
        QCOMPARE(result->layers[1].state, LayerState::Quantized);
        const std::vector<ConstantPtr> quantized = session.outputs(withTail());
        QVERIFY(std::ranges::equal(quantized[0]->floats(), session.outputs(std::nullopt)[0]->floats()));
    }

    void weightsComputedFromConstantsNeedSimplify() {
        Session session(test::textModel(
            "<ir_version: 8, opset_import: [\"\" : 13]> g (float[N,4] X) => (float[N,2] Y) "
            "<float[4,2] V = {1, 2, 3, 4, 5, -6, 7, 8}, float G = {2}> { W = Mul(V, G) Y = MatMul(X, W) }"));
        QuantizationConfig config = withTail();
        const EvaluationPtr before = session.evaluate(config, Depth::States);
        const std::string& reason = before->layers.back().reason;
        QVERIFY2(reason.find("--simplify") != std::string::npos, reason.c_str());
        config.transforms.simplify = true;
        const EvaluationPtr after = session.evaluate(config, Depth::States);
        QCOMPARE(after->layers.back().state, LayerState::Quantized);
    }
};

QTEST_GUILESS_MAIN(FloatLayersTest)
#include "float_layers_test.moc"
