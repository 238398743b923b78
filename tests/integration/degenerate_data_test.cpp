// SPDX-License-Identifier: Apache-2.0
// Data, weights and schemes that are degenerate for quantization: each is computed or rejected with a
// message, without failures.
#include <QTemporaryDir>
#include <QtTest>

#include "config/config_json.h"
#include "config/presets.h"
#include "data/numpy_file.h"
#include "model/graph_builder.h"
#include "model/load_model.h"
#include "session/session.h"
#include "support/errors.h"
#include "support/row_session.h"

using namespace quantloupe;
using test::all;
using test::RowSession;

namespace {

const char* const kNet =
    "<float[4,2] W = {1, 2, 3, 4, 5, -6, 7, 8}, float[2] c = {1, -1}> { Y = Gemm(X, W, c) }";

}  // namespace

class DegenerateDataTest : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void everyMethodAcceptsConstantData_data() {
        QTest::addColumn<QString>("method");
        QTest::addColumn<float>("value");
        for (const char* method : {"min_max", "moving_average", "percentile", "entropy", "mse", "tf_enhanced",
                                   "power_of_two_non_overflow", "power_of_two_min_mse", "ifmr", "hfmg"})
            for (const float value : {0.0f, 3.0f, -1e-30f, 1e30f})
                QTest::addRow("%s of %g", method, double(value)) << method << value;
    }
    void everyMethodAcceptsConstantData() {
        QFETCH(QString, method);
        QFETCH(float, value);
        QuantizationConfig config = all();
        setConfigKey(config, "calibration.method", method.toStdString());
        RowSession session(kNet, std::vector<float>(12, value));
        const QString said = session.notices(config);
        QVERIFY2(!said.startsWith("error"), qPrintable(said));
        QVERIFY(session.finite());
    }

    void oneSampleAndZeroWeights() {
        RowSession session(
            "<float[4,2] W = {0, 0, 0, 0, 0, 0, 0, 0}, float[2] c = {0, 0}> { Y = Gemm(X, W, c) }",
            {1, 2, 3, 4});
        QVERIFY(session.notices(all()).contains(
            "calibration of 'Y': all values are 0 in all calibration samples"));
        QVERIFY(session.finite());
    }

    void vanishingWeightsAreReported() {
        QuantizationConfig config = all();
        config.quantization.weight.bits = 4;
        config.quantization.weight.powerOfTwo = true;
        // 2e-38 / 7 is not a normal number: the scale becomes 1.
        RowSession session(
            "<float[4,2] W = {2e-38, 0, 0, 0, 0, 0, 0, 0}, float[2] c = {1, -1}> { Y = Gemm(X, W, c) }",
            {1, 2, 3, 4});
        const QString said = session.notices(config);
        QVERIFY2(said.contains("layer 'Gemm_0': all its weights round to 0 with 4 bits; give it more bits"),
                 qPrintable(said));
    }

    void biasesBeyond32BitsAreReported() {
        RowSession session(
            "<float[4,2] W = {1e-9, 0, 0, 0, 0, 0, 0, 1e-9}, float[2] c = {1000000, -1}> { Y = Gemm(X, W, c) "
            "}",
            {1e-3f, 2e-3f, 3e-3f, 4e-3f});
        QuantizationConfig config = all();
        config.quantization.operators = OperatorSet::Quark;  // keeps the scale of the weights
        QString said = session.notices(config);
        QVERIFY2(
            said.contains("layer 'Gemm_0': 2 bias values do not fit int32 and are clipped; keep it in float"),
            qPrintable(said));
        config.quantization.operators = OperatorSet::Layers;
        said = session.notices(config);
        QVERIFY2(!said.contains("do not fit"), qPrintable(said));
        config.quantization.weight.powerOfTwo = true;  // other scales would not be powers of two
        said = session.notices(config);
        QVERIFY2(said.contains("do not fit"), qPrintable(said));
    }

    /// With 16 bits, scales are so small that ordinary biases exceed int32.
    void biasesFitWith16Bits() {
        Session session(
            test::textModel("<ir_version: 8, opset_import: [\"\" : 13]> g (float[N,4] X) => (float[N,2] Y) "
                            "<float[4,2] W = {0.5, -1, 2, 0.25, 1, -0.5, 0.75, 1}, float[2] c = {9, -12}> "
                            "{ s = Gemm(X, W, c) Y = Relu(s) }"));
        const auto inputs = inputSpecsOf(session.graph());
        std::vector<float> x(64);
        for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i * 37 % 64) / 64 - 0.5f;
        const DatasetPtr data = arrayDataset({{"X", Constant::fromFloats({16, 4}, x)}}, nullptr, inputs);
        session.setData(data, data);
        QuantizationConfig config = all();
        config.quantization.weight.bits = config.quantization.activation.bits = 16;
        const EvaluationPtr result = session.evaluate(config, Depth::Accuracy);
        QVERIFY2(*result->quantized->sqnrDb > 80, qPrintable(QString::number(*result->quantized->sqnrDb)));
    }

    /// The initial state has no quantizer, but the metrics of the layer need it.
    void initialStatesFromInputs() {
        QString net =
            "<ir_version: 8, opset_import: [\"\" : 13]> g (float[N,3,2] X, float[N,2] h) => "
            "(float[1,N,2] Y) <float[1,6,2] W = {%1}, float[1,6,2] R = {%1}, int64[1] a = {0}> "
            "{ t = Transpose<perm = [1, 0, 2]>(X) i = Unsqueeze(h, a) "
            "all, Y = GRU<hidden_size = 2>(t, W, R, , , i) }";
        Session session(
            test::textModel(net.arg("0.5, -1, 2, 0.25, 1, -0.5, 0.75, 1, -2, 0.5, 1, -0.25").toStdString()));
        session.useRandomInputs(4);
        const EvaluationPtr result = session.evaluate(all(), Depth::Metrics);
        const auto gru = std::ranges::find(result->layers, "GRU", &LayerResult::op);
        QCOMPARE(gru->state, LayerState::Quantized);
        QVERIFY(gru->local && gru->local->sqnrDb > 20);
    }

    void fixedBatchesNameTheOperator() {
        Session session(test::textModel(
            "<ir_version: 8, opset_import: [\"\" : 13]> g (float[4,3,3] X) => (float[4,3,3] Y) "
            "<float[3,3] W = {1, 2, 3, 4, 5, 6, 7, 8, 9}> { a = MatMul(X, W) Y = RandomNormalLike(a) }"));
        session.useRandomInputs(4);
        const QString error = test::errorOf([&] { session.outputs(std::nullopt); });
        QVERIFY2(error.contains("(RandomNormalLike): the operator RandomNormalLike is not supported") &&
                     error.contains("fixed at 4"),
                 qPrintable(error));
    }

    void computedWeightsAreReported() {
        RowSession session(
            "<float[4,2] V = {1, 2, 3, 4, 5, -6, 7, 8}, float s = {2}> { W = Mul(V, s) Y = MatMul(X, W) }",
            {1, 2, 3, 4, -5, 6, 7, 8});
        QuantizationConfig config = all();
        QVERIFY2(
            session.notices(config).contains(
                "1 layer stays in float, because weights or biases are computed from constants: turn on"),
            qPrintable(session.notices(config)));
        config.transforms.simplify = true;
        QVERIFY(!session.notices(config).contains("are computed from constants"));
    }

    /// Layers after an operator that cannot run have no ranges, so nothing is migrated there.
    void outliersOfTheEvaluatedPartAreMigrated() {
        Session session(test::textModel(
            "<ir_version: 8, opset_import: [\"\" : 13, \"own\" : 1]> g (float[N,4] X) => (float[N,4] Y) "
            "<float[4,4] V = {1, 2, 3, 4, 5, -6, 7, 8, 1, 2, 3, 4, 5, 6, 7, 8}, float[4,4] W = {1, 2, 3, 4, "
            "5, -6, 7, 8, 1, 2, 3, 4, 5, 6, 7, 8}> { a = MatMul(X, V) b = own.Unknown(a) Y = MatMul(b, W) "
            "}"));
        session.useRandomInputs(8);
        QuantizationConfig config = all();
        config.refine.migration = 0.5;
        const EvaluationPtr result = session.evaluate(config, Depth::Metrics);
        QCOMPARE(result->migratedInputs, std::size_t{1});
        QCOMPARE(result->counts.quantized, std::size_t{1});
    }

    void outputsThatCannotBeComparedAreLeftOut() {
        const std::string net =
            "<ir_version: 8, opset_import: [\"\" : 13]> g (float[N,4] X) => (int64[N,1] I, float[3] A, "
            "float[N,2] Y) <float[4,2] W = {1, 2, 3, 4, 5, -6, 7, 8}, float[3] c = {1, 2, 3}> { Y = "
            "MatMul(X, W) I = ArgMax<axis = 1>(Y) A = Relu(c) }";
        Session session(test::textModel(net));
        session.useRandomInputs(200);
        const auto outputs = session.outputs(std::nullopt);
        QCOMPARE(outputs.size(), std::size_t{3});
        QCOMPARE(outputs[0]->type(), DataType::Int64);
        QCOMPARE(toString(outputs[0]->dims()), std::string("200\u00d71"));
        QCOMPARE(toString(outputs[1]->dims()), std::string("3"));  // the same for all samples
        QCOMPARE(toString(outputs[2]->dims()), std::string("200\u00d72"));
        const double sqnr = session.evaluate(all(), Depth::Metrics)->quantized->sqnrDb.value_or(0);
        QVERIFY2(sqnr > 20, qPrintable(QString::number(sqnr)));

        Session none(
            test::textModel("<ir_version: 8, opset_import: [\"\" : 13]> g (float[N,4] X) => (int64[N,1] I) { "
                            "I = ArgMax<axis = 1>(X) }"));
        none.useRandomInputs(6);
        const QString error = test::errorOf([&] { none.evaluate(all(), Depth::Accuracy); });
        QVERIFY2(error.contains("'I' is int64"), qPrintable(error));
    }

    /// Labels of pixels, decoded characters: the scores that they are computed from are compared.
    void integersAreComparedByTheirScores() {
        const auto evaluated = [](const char* outputs, const char* nodes) {
            Session session(test::textModel(
                QString("<ir_version: 8, opset_import: [\"\" : 13]> g (float[N,4] X) => (%1) <float[4,2] W = "
                        "{1, 2, 3, "
                        "4, 5, -6, 7, 8}, int64 Zero = {0}> { Y = MatMul(X, W) I = ArgMax<axis = 1>(Y) %2 }")
                    .arg(outputs, nodes)
                    .toStdString()));
            session.useRandomInputs(200);
            return session.evaluate(all(), Depth::Metrics);
        };
        for (const EvaluationPtr& result :
             {evaluated("int64[N,1] I", ""),
              evaluated("int64[2,K] P", "G = Greater(I, Zero) P = NonZero(G)")}) {
            QVERIFY(result->quantized->sqnrDb.value_or(0) > 20);
            QVERIFY(!result->quantized->agreement);
            QVERIFY(!result->unevaluated.empty());
        }
    }

    void fewerSamplesThanRequestedAreReported() {
        QuantizationConfig config = all();
        config.calibration.samples = 10;
        RowSession session(kNet, {1, 2, 3, 4, 5, 6, 7, 8});
        QVERIFY(session.notices(config).contains(
            "calibrated on 2 samples: 10 were requested, but there are no more"));
        config.calibration.samples = 2;
        QVERIFY(!session.notices(config).contains("requested"));
    }

    void emptyCalibrationDataIsRefused() {
        QTemporaryDir folder;
        const GraphPtr graph = test::textModel(
                                   "<ir_version: 8, opset_import: [\"\" : 13]> g (float[N,3,8,8] X) => "
                                   "(float[N,3,8,8] Y) { Y = Relu(X) }")
                                   .graph;
        const QString error =
            test::errorOf([&] { openDataset(folder.path().toStdString(), inputSpecsOf(*graph), {}); });
        QVERIFY2(error.contains("contains no samples"), qPrintable(error));
    }

    void parametersOutOfRangeAreReported_data() {
        QTest::addColumn<QString>("key");
        QTest::addColumn<QString>("value");
        QTest::addColumn<QString>("said");
        const auto row = [](const char* key, const char* value, const char* said) {
            QTest::addRow("%s=%s", key, value) << key << value << said;
        };
        row("calibration.parameters.percentile", "0.5", "percentile");
        row("calibration.parameters.percentile", "1.01", "percentile");
        row("calibration.parameters.max_percentile", "0.4", "max_percentile");
        row("calibration.parameters.search_step", "0", "search_step");
        row("calibration.samples", "0", "samples");
        row("quantization.activation.bits", "1", "bits");
        row("quantization.weight.bits", "17", "bits");
        row("quantization.bias_bits", "12", "bias_bits");
        row("quantization.npu_positions.max_loops", "0", "max_loops");
        row("quantization.operators", "some", "operators");
    }
    void parametersOutOfRangeAreReported() {
        QFETCH(QString, key);
        QFETCH(QString, value);
        QFETCH(QString, said);
        QuantizationConfig config;
        const QString error =
            test::errorOf([&] { setConfigKey(config, key.toStdString(), value.toStdString()); });
        QVERIFY2(error.contains(said), qPrintable(error));
    }

    /// Boxes in pixels and scores from 0 to 1 in one tensor, as at the end of YOLO: all scores become 0.
    void joinedTensorsOfDifferentRangesAreReported() {
        const std::vector<float> values{-3, 2, 1, 4, 2, -1, 3, 0};
        const auto noticesOf = [&](const char* factor) {
            const QString net = QStringLiteral(
                                    "<float[1] c = {%1}> { m = ReduceMax<axes = [1]>(X) large = Mul(m, c) "
                                    "small = Sigmoid(m) Y = Concat<axis = 1>(large, small) }")
                                    .arg(QLatin1String(factor));
            return RowSession(net.toStdString(), values).notices(all());
        };
        QVERIFY2(noticesOf("100").contains("joins tensors of which one has a range"),
                 qPrintable(noticesOf("100")));
        QVERIFY(!noticesOf("1").contains("joins tensors"));
    }

    void stepLargerThanItsRangeIsReported() {
        QuantizationConfig config = all();
        config.calibration.method = CalibrationMethod::Ifmr;
        config.calibration.parameters.searchStep = 0.7;
        RowSession session(kNet, {1, 2, 3, 4, 5, 6, 7, 8});
        QVERIFY(session.notices(config).contains(
            "search_step: 0.7 is larger than the width of search_range [0.7, 1.3]; choose a smaller step"));
    }
};

QTEST_GUILESS_MAIN(DegenerateDataTest)
#include "degenerate_data_test.moc"
