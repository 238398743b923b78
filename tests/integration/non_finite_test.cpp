// SPDX-License-Identifier: Apache-2.0
// NaN and infinity in weights, masks, samples and tensors: layers that read them stay in float or are refused
// by name, and accuracies say what is undefined.
#include <QtTest>

#include "config/config_json.h"
#include "config/presets.h"
#include "support/errors.h"
#include "support/row_session.h"

using namespace quantloupe;
using test::all;
using test::RowSession;

class NonFiniteTest : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void nanInWeightsIsReported() {
        auto model = test::textModel(
            "<ir_version: 8, opset_import: [\"\" : 13]> g (float[N,4] X) => (float[N,2] Y) <float[4,2] W = "
            "{1, 2, 3, 4, 5, 6, 7, 8}> { Y = MatMul(X, W) }");
        GraphBuilder builder(*model.graph);
        builder.setConstant(*model.graph->findTensor("W"),
                            Constant::fromFloats({4, 2}, {1, 2, 3, 4, 5, 6, 7, NAN}));
        const QTemporaryDir folder;
        const std::string file = folder.filePath("nan.onnx").toStdString();
        saveModel(*builder.build(), file);
        model = loadModel(file);
        QCOMPARE(model.notices, std::vector<std::string>{"the weight 'W' contains NaN"});
        Session session(std::move(model));
        session.useRandomInputs(4);
        const QString error = test::errorOf([&] { session.evaluate(all(), Depth::Accuracy); });
        QVERIFY2(error.contains("NaN"), qPrintable(error));
    }

    /// Some masks contain the lowest number, and the sum of two such masks is infinite. Padding for a MaxPool
    /// is infinite, too.
    void masksThatBecomeInfiniteStayInFloat() {
        for (const std::string net :
             {"<float low = {-3.4028235e38}, float[4,2] W = {1, 2, 3, 4, 5, 6, 7, 8}> { on = Less(X, low) "
              "f = Cast<to = 1>(on) m = Mul(f, low) n = Mul(f, low) k = Add(m, n) s = Add(X, k) "
              "p = Softmax(s) Y = MatMul(p, W) }",
              "<int64[4] pads = {0, 1, 0, 1}, float minus_infinity = {0}, int64[1] a = {1}, float[5,2] W = "
              "{1, 2, 3, 4, 5, 6, 7, 8, 9, 1}> { q = Pad(X, pads, minus_infinity) u = Unsqueeze(q, a) m = "
              "MaxPool<kernel_shape = [2]>(u) s = Squeeze(m, a) Y = MatMul(s, W) }"}) {
            RowSession session(net, {1, 2, 3, 4, -1, 5, -3, 7, 2, 2, 1, 0});
            QuantizationConfig config = presetConfig("onnxruntime-s8s8");
            config.skipTail = false;
            const QString notices = session.notices(config);
            QVERIFY2(!notices.startsWith("error"), qPrintable(notices));
            QVERIFY(session.finite());
        }
    }

    /// Quark quantizes Max, but -inf has no scale.
    void infiniteConstantsStayInFloat() {
        RowSession session(
            "<float[4,2] W = {1, 2, 3, 4, 5, -6, 7, 8}, float minus_infinity = {0}> "
            "{ a = MatMul(X, W) Y = Max(a, minus_infinity) }",
            {1, 2, 3, 4, -5, 6, 7, 8});
        const QString said = session.notices(presetConfig("quark-xint8"));
        QVERIFY2(!said.contains("infinity"), qPrintable(said));
        QVERIFY(session.finite());
    }

    /// The message names the sample, and does not blame transforms that are not there.
    void nonFiniteSamplesAreNamed() {
        for (const float value : {INFINITY, NAN}) {
            Session session(test::textModel(
                "<ir_version: 8, opset_import: [\"\" : 13]> g (float[N,4] X) => (float[N,2] Y) "
                "<float[4,2] W = {1, 2, 3, 4, 5, -6, 7, 8}> { Y = MatMul(X, W) }"));
            const auto inputs = inputSpecsOf(session.graph());
            const auto data = [&](const std::vector<float>& values) {
                return arrayDataset({{"X", Constant::fromFloats({2, 4}, values)}}, nullptr, inputs);
            };
            session.setData(data({1, 2, 3, 4, value, 6, 7, 8}), data({1, 2, 3, 4, 5, 6, 7, 8}));
            QString said;
            const EvaluationPtr result = session.evaluate(all(), Depth::Metrics);
            for (const std::string& notice : result->notices) said += QString::fromStdString(notice) + '\n';
            QVERIFY2(said.contains("contains NaN or infinity for 1 of 2 samples (the first is 'row 1')"),
                     qPrintable(said));
            QVERIFY2(!said.contains("transforms"), qPrintable(said));
        }
    }

    /// A layer that cannot be quantized is named, and the network runs with this layer in float.
    void layersWithoutFiniteInputsStayInFloat() {
        Session session(test::textModel(
            "<ir_version: 8, opset_import: [\"\" : 13]> g (float[N,4] X) => (float[N,2] Y) "
            "<float[4,2] W = {1, 2, 3, 4, 5, -6, 7, 8}, float zero = {0}> "
            "{ l = Log(X) s = Add(l, X) n = IsNaN(s) z = Where(n, zero, s) Y = MatMul(z, W) }"));
        const auto inputs = inputSpecsOf(session.graph());
        const auto data = arrayDataset(
            {{"X", Constant::fromFloats({3, 4}, {1, 2, 3, 4, 5, 6, 7, -8, 9, 10, 11, 12})}}, nullptr, inputs);
        session.setData(data, data);
        const QString error = test::errorOf([&] { session.evaluate(all(), Depth::Metrics); });
        const std::string add = session.graph().nodes()[1].name;
        QVERIFY2(error.contains(QStringLiteral("for the sample 'row 1'")) &&
                     error.contains(QString::fromStdString("keep '" + add + "' in float")),
                 qPrintable(error));
        QuantizationConfig config = all();
        SkipRule rule;
        rule.layers = {add};
        config.rules.push_back(rule);
        for (const char* method : {"min_max", "moving_average", "percentile", "entropy", "mse", "tf_enhanced",
                                   "power_of_two_non_overflow", "power_of_two_min_mse", "ifmr", "hfmg"}) {
            setConfigKey(config, "calibration.method", method);
            const EvaluationPtr result = session.evaluate(config, Depth::Metrics);
            QCOMPARE(result->counts.quantized, std::size_t{1});
            QVERIFY2(std::isfinite(result->quantized->sqnrDb.value_or(NAN)), method);
        }
    }

    /// AIMET's Relu takes the range of its input.
    void rangesOfOtherTensorsMustBeFinite() {
        Session session(test::textModel(
            "<ir_version: 8, opset_import: [\"\" : 13]> g (float[N,4] X) => (float[N,2] Y) "
            "<float[4,2] W = {1, 2, 3, 4, 5, -6, 7, 8}> { l = Log(X) r = Relu(l) Y = MatMul(r, W) }"));
        const auto data =
            arrayDataset({{"X", Constant::fromFloats({3, 4}, {1, 2, 3, 4, 5, 6, 7, 0, 9, 10, 11, 12})}},
                         nullptr, inputSpecsOf(session.graph()));
        session.setData(data, data);
        QuantizationConfig config = presetConfig("aimet-default");
        SkipRule rule;
        rule.layers = {session.graph().nodes()[0].name, session.graph().nodes()[1].name};
        config.rules.push_back(rule);
        const QString error = test::errorOf([&] { session.evaluate(config, Depth::Accuracy); });
        QVERIFY2(error.contains(QString::fromStdString("keep '" + session.graph().nodes()[2].name + "'")),
                 qPrintable(error));
    }
};

QTEST_GUILESS_MAIN(NonFiniteTest)
#include "non_finite_test.moc"
