// SPDX-License-Identifier: Apache-2.0
// Small networks and settings that occur rarely, evaluated in a session.
#include <QtTest>
#include <cmath>

#include "data/random_dataset.h"
#include "quantize/plan.h"
#include "session/session.h"
#include "support/errors.h"
#include "support/text_model.h"

using namespace quantloupe;

class RareNetworksTest : public QObject {
    Q_OBJECT

    /// `text`: "(float[N,4] X) => (float[N,4] Y) { ... }".
    static std::unique_ptr<Session> opened(const std::string& text) {
        auto session = std::make_unique<Session>(
            test::textModel("<ir_version: 8, opset_import: [\"\" : 13]> g " + text));
        session->setData(randomDataset(session->graph(), 32, 1), randomDataset(session->graph(), 32, 2));
        return session;
    }
    static QuantizationConfig everything() {
        QuantizationConfig config;
        config.skipTail = false;
        return config;
    }

  private Q_SLOTS:
    /// ONNX Runtime refuses such equations, too. The result would have been written beyond its end.
    void repeatedDimensionsOfEinsumAreRefused() {
        const QString error = test::errorOf([] {
            const auto session =
                opened("(float[N,4] X) => (float[N,4,4] Y) { Y = Einsum<equation = \"ab->abb\">(X) }");
            session->evaluate(everything());
        });
        QVERIFY2(error.contains(QStringLiteral("the result has the dimension 'b' twice")), qPrintable(error));
    }

    /// The fused operator has no kernel for float64.
    void swishInFloat64IsEvaluated() {
        const auto session = opened(
            "(float[N,4] X) => (float[N,2] Y) <float[4,4] V = {1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 2, 3, 4, 5, 6, "
            "7}, "
            "float[4,2] W = {1, 2, 3, 4, 5, 6, 7, 8}> { a = MatMul(X, V)\n d = Cast<to = 11>(a)\n s = "
            "Sigmoid(d)\n m = "
            "Mul(d, s)\n f = Cast<to = 1>(m)\n Y = MatMul(f, W) }");
        const EvaluationPtr result = session->evaluate(everything());
        QCOMPARE(result->unevaluated, std::string());
        QVERIFY(result->quantized->sqnrDb.has_value());
    }

    /// The network is evaluated up to the product.
    void productsOfCodesThatRepeatAnOperandAreNotEvaluated() {
        const auto session = opened(
            "(float[N,1,2,3] X) => (int32[N,4,2,5] Y) <float[3,3] V = {1, 2, 3, 4, 5, 6, 7, 8, 9}, "
            "uint8[4,3,5] W = "
            "{1,2,3,4,5,6,7,8,9,1,2,3,4,5,6,1,2,3,4,5,6,7,8,9,1,2,3,4,5,6,1,2,3,4,5,6,7,8,9,1,2,3,4,5,6,1,2,"
            "3,4,5,6,7,8,"
            "9,1,2,3,4,5,6}> { a = MatMul(X, V)\n q, s, z = DynamicQuantizeLinear(a)\n Y = MatMulInteger(q, "
            "W, z) }");
        const EvaluationPtr result = session->evaluate(everything());
        QVERIFY2(result->unevaluated.find("their leading dimensions differ") != std::string::npos,
                 result->unevaluated.c_str());
    }

    void softmaxKeepsItsRangeWithPowersOfTwo() {
        const auto session = opened(
            "(float[N,4] X) => (float[N,4] Y) <float[4,4] W = {1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 2, 3, 4, 5, 6, "
            "7}> { p = "
            "Softmax(X)\n Y = MatMul(p, W) }");
        QuantizationConfig config = everything();
        config.quantization.operators = OperatorSet::OnnxRuntime;
        config.quantization.activation.powerOfTwo = true;
        for (const CalibrationMethod method :
             {CalibrationMethod::MinMax, CalibrationMethod::PowerOfTwoMinMse}) {
            config.calibration.method = method;
            const auto plan = session->plan(config);
            const TensorId softmax = *plan->prepared->graph->findTensor("p");
            QCOMPARE(plan->tensors.at(softmax).scale, std::ldexp(1.0f, -8));  // 1/255 is closest to it
        }
    }

    /// A layer converts its input to its own bits, also without a precision of its own.
    void mixedBitsHaveVotes() {
        const auto session = opened(
            "(float[N,4] X) => (float[N,4] Y) <float[4,4] V = {1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 2, 3, 4, 5, 6, "
            "7}, "
            "float[4,4] W = {1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 2, 3, 4, 5, 6, 7}> { a = MatMul(X, V)\n Y = "
            "MatMul(a, W) }");
        QuantizationConfig config = everything();
        config.quantization.activation.symmetric = true;
        config.layers["MatMul_0"].precision = Precision::integer(8, 8);
        config.layers["MatMul_0"].calibrationMethod = CalibrationMethod::PowerOfTwoMinMse;
        config.layers["MatMul_0"].calibrationParameters.mode = PowerOfTwoMode::MostCommon;
        config.layers["MatMul_1"].activationBits = 4;
        QCOMPARE(test::errorOf([&] { session->evaluate(config); }), QString());
    }
};

QTEST_GUILESS_MAIN(RareNetworksTest)
#include "rare_networks_test.moc"
