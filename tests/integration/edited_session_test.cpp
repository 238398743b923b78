// SPDX-License-Identifier: Apache-2.0
// After edits, a session has the same results as a new one: no cached result ignores a setting that it
// depends on.
#include <QtTest>

#include "data/random_dataset.h"
#include "session/session.h"
#include "support/text_model.h"

using namespace quantloupe;

class EditedSessionTest : public QObject {
    Q_OBJECT

    static std::unique_ptr<Session> open(const QString& network) {
        auto session = std::make_unique<Session>(
            test::textModel("<ir_version: 8, opset_import: [\"\" : 13]> net " + network.toStdString()));
        session->setData(randomDataset(session->graph(), 64, 3), randomDataset(session->graph(), 32, 4));
        return session;
    }

    /// Evaluates the configurations one after the other, and the last one in a new session.
    static void compare(const QString& network, const std::vector<QuantizationConfig>& configs) {
        const auto edited = open(network);
        EvaluationPtr last;
        for (const QuantizationConfig& config : configs) last = edited->evaluate(config);
        const EvaluationPtr fresh = open(network)->evaluate(configs.back());
        QCOMPARE(last->counts.quantized, fresh->counts.quantized);
        QCOMPARE(last->quantized->sqnrDb.value(), fresh->quantized->sqnrDb.value());
        QVERIFY(fresh->quantized->sqnrDb.value() > 10);
        for (std::size_t i = 0; i < fresh->layers.size(); ++i)
            QCOMPARE(last->layers[i].state, fresh->layers[i].state);
    }

    static QuantizationConfig allLayers() {
        QuantizationConfig config;
        config.skipTail = false;
        return config;
    }

  private Q_SLOTS:
    /// Weights of -1, 0 and 1 have the same values with 8 and with 4 bits, but other codes.
    void learnedRoundingDependsOnTheScales() {
        QuantizationConfig eight = allLayers(), four;
        eight.refine.rounding = Rounding::Adaround;
        four = eight;
        four.quantization.weight.bits = 4;
        compare(
            "(float[N,4] x) => (float[N,2] y) <float[4,4] w = {1, -1, 0, 1, 0, 1, 1, -1, 1, 1, -1, 0, 0, 1, "
            "-1, 1}, "
            "float[4] b = {0.5, 0, 0.25, 0}, float[4,2] v = {1, -1, 0, 1, 1, 1, -1, 0}, float[2] c = {0.125, "
            "0}> "
            "{ a = Gemm(x, w, b)\n r = Relu(a)\n y = Gemm(r, v, c) }",
            {eight, four});
    }

    /// With a precision, the network also has conversions.
    void operatorsChangeANetworkWithPrecisions() {
        QuantizationConfig aimet = allLayers(), quark;
        aimet.layers["Gemm_3"].precision = Precision::integer(8, 16);
        aimet.quantization.operators = OperatorSet::Aimet;
        quark = aimet;
        quark.quantization.operators = OperatorSet::Quark;
        const QString network =
            "(float[N,4] x) => (float[N,4] t, float[N,2] y) <float[4,4] w = {1, -1, 0.5, 1, 0, 1, 1, -1, 1, "
            "1, "
            "-1, 0.25, 0, 1, -1, 1}, float[4,2] v = {1, -1, 0.5, 1, 1, 1, -1, 0.25}> "
            "{ a = Gemm(x, w)\n t = Tanh(a)\n b = Gemm(x, w)\n y = Gemm(b, v) }";
        compare(network, {aimet, quark});
        compare(network, {quark, aimet});
    }

    void symmetryChangesANetworkWithPrecisions() {
        QuantizationConfig affine = allLayers(), symmetric;
        affine.layers["Gemm_2"].precision = Precision::integer(8, 16);
        affine.quantization.operators = OperatorSet::OnnxRuntime;
        symmetric = affine;
        symmetric.quantization.activation.symmetric = symmetric.quantization.activation.isSigned = true;
        compare(
            "(float[N,4] x) => (float[N,2] y) <float[4,4] w = {1, -1, 0.5, 1, 0, 1, 1, -1, 1, 1, -1, 0.25, "
            "0, 1, -1, 1}, float[4,2] v = {1, -1, 0.5, 1, 1, 1, -1, 0.25}> "
            "{ a = Gemm(x, w)\n r = Relu(a)\n y = Gemm(r, v) }",
            {affine, symmetric});
    }
};

QTEST_GUILESS_MAIN(EditedSessionTest)
#include "edited_session_test.moc"
