// SPDX-License-Identifier: Apache-2.0
// Leave-one-out on a small network: the results equal the session's evaluations of the same
// edits.
#include "session/studies/leave_one_out.h"

#include <QtTest>
#include <cmath>

#include "config/layer_choices.h"
#include "config/presets.h"
#include "support/errors.h"
#include "support/text_model.h"

using namespace quantloupe;

namespace {

/// Images of 4×4 values: sines of different frequency.
class Waves final : public Dataset {
  public:
    explicit Waves(std::size_t size) : m_size(size) {}
    std::size_t size() const override { return m_size; }
    std::vector<SampleTensor> sample(std::size_t index) const override {
        SampleTensor tensor{DataType::Float32, {1, 4, 4}, std::vector<std::byte>(16 * sizeof(float))};
        auto* values = reinterpret_cast<float*>(tensor.bytes.data());
        for (std::size_t i = 0; i < 16; ++i)
            values[i] = static_cast<float>(
                std::sin(0.7 * static_cast<double>(index + 1) * static_cast<double>(i + 1)));
        return {tensor};
    }
    std::string sampleName(std::size_t index) const override { return "wave " + std::to_string(index); }
    std::optional<int> label(std::size_t) const override { return std::nullopt; }
    const std::vector<std::string>& classNames() const override { return m_none; }
    std::string description() const override { return "waves"; }
    Version version() const override { return VersionBuilder().add(std::string_view("waves")).finish(); }

  private:
    std::size_t m_size;
    std::vector<std::string> m_none;
};

std::unique_ptr<Session> pooled(std::size_t samples = 12) {
    auto session = std::make_unique<Session>(
        test::textModel("<ir_version: 8, opset_import: [\"\" : 13]> g (float[N,1,4,4] X) => (float[N,3] Y) "
                        "<float[2,1,3,3] W = {0.9, -0.31, 0.17, 0.44, -0.52, 0.73, -0.11, 0.05, 0.6, -0.2, "
                        "0.83, 0.4, -0.37, 0.29, 0.1, 0.7, "
                        "-0.66, 0.02}, float[8,3] F = {0.3, -0.8, 0.55, 0.21, 0.47, -0.36, -0.64, 0.13, "
                        "0.92, 0.4, -0.27, 0.08, 0.71, 0.35, "
                        "-0.49, -0.15, 0.6, 0.24, 0.5, -0.33, 0.18, 0.07, 0.81, -0.58}> { C = "
                        "Conv<kernel_shape = [3, 3], pads = [1, 1, 1, "
                        "1]>(X, W) P = MaxPool<kernel_shape = [2, 2], strides = [2, 2]>(C) T = Flatten(P) Y "
                        "= MatMul(T, F) }"));
    const auto data = std::make_shared<Waves>(samples);
    session->setData(data, data);
    return session;
}

QuantizationConfig fourBits() {
    QuantizationConfig config = presetConfig("default");
    config.skipTail = false;
    config.quantization.weight.bits = 4;
    return config;
}

}  // namespace

class LeaveOneOutTest : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void operatorsThatPassAScaleMoveWithItsOwner() {
        const auto session = pooled();
        const LayerSweep sweep = leaveOneOut(*session, fourBits(), {0, {}}, {});
        QStringList moved;
        for (const LayerEffect& layer : sweep.layers)
            moved << QString::fromStdString(
                layer.name + " with " +
                (layer.movedWith.valid() ? session->graph().node(layer.movedWith).name : "none"));
        QCOMPARE(moved, (QStringList{"Conv_0 with none", "MaxPool_1 with Conv_0", "Flatten_2 with Conv_0",
                                     "MatMul_3 with none"}));
        QVERIFY(sweep.layers[0].sqnrDb.has_value());
        QCOMPARE(sweep.layers[1].sqnrDb, sweep.layers[0].sqnrDb);
        QCOMPARE(sweep.layers[2].value, sweep.layers[0].value);
        QVERIFY(sweep.layers[3].sqnrDb != sweep.layers[0].sqnrDb);
    }

    void quantizedModelsAreRefused() {
        Session session(test::textModel(
            "<ir_version: 8, opset_import: [\"\" : 13]> g (float[N,1,4,4] X) => (float[N,1,4,4] Y) "
            "<float S = {0.1}, int8 Z = {0}> { Q = QuantizeLinear(X, S, Z) D = DequantizeLinear(Q, S, Z) Y = "
            "Relu(D) }"));
        const auto data = std::make_shared<Waves>(12);
        session.setData(data, data);
        const QString error = test::errorOf([&] { leaveOneOut(session, fourBits(), {0, {}}, {}); });
        QVERIFY2(error.contains("already quantized"), qPrintable(error));
    }

    /// The agreement of twelve samples was compared, in which most layers gain nothing.
    void fewSamplesWithoutLabelsAreComparedByTheSqnr() {
        const LayerSweep few = leaveOneOut(*pooled(), fourBits(), {0, {}}, {});
        QCOMPARE(few.metric, TaskMetric::Sqnr);
        QCOMPARE(few.baseline, few.baselineSqnrDb.value_or(0));
        QVERIFY(few.layers[0].change > 0 && few.layers[3].change > 0);
        QCOMPARE(few.layers[0].change, *few.layers[0].sqnrDb - few.baseline);
        QCOMPARE(few.layers[0].value, *few.layers[0].sqnrDb);
        QVERIFY(!few.layers[0].paired);
        const LayerSweep many = leaveOneOut(*pooled(20), fourBits(), {0, {}}, {});
        QCOMPARE(many.metric, TaskMetric::Agreement);
        QVERIFY(many.layers[0].paired.has_value());
    }

    void resultsEqualThoseOfTheEdit() {
        const auto session = pooled();
        const LayerSweep out = leaveOneOut(*session, fourBits(), {0, {}}, {});
        const auto measured = [&](const std::vector<std::string>& skipped) {
            return session->evaluate(withLayersSkipped(fourBits(), skipped), Depth::Accuracy)
                ->quantized->sqnrDb;
        };
        QCOMPARE(out.baselineSqnrDb, measured({}));
        QCOMPARE(out.layers[0].sqnrDb, measured({"Conv_0", "MaxPool_1", "Flatten_2"}));
        QCOMPARE(out.layers[3].sqnrDb, measured({"MatMul_3"}));
        QVERIFY(*out.layers[3].sqnrDb > *out.baselineSqnrDb);
    }

    /// A cancelled measurement in the background keeps the layers measured so far, and shows them meanwhile.
    void layersMeasuredInTheBackgroundAreKept() {
        const auto valuesOf = [](Session& session) {
            std::vector<std::optional<double>> values;
            const EvaluationPtr evaluation = session.evaluate(fourBits());
            for (const LayerResult& layer : evaluation->layers) values.push_back(layer.leaveOneOut);
            return values;
        };
        const auto whole = pooled();
        whole->evaluate(fourBits());
        const WorkDone beforeWhole = whole->workDone();
        whole->measureInBackground(fourBits(), 0);
        const WorkDone ofWhole = whole->workDone() - beforeWhole;
        QVERIFY(leaveOneOutComplete(whole->evaluate(fourBits())->layers));

        const auto session = pooled();
        session->evaluate(fourBits());
        CancelToken token;
        EvaluationPtr snapshot;
        EvaluationObserver observer;
        observer.progress = [](const Progress&) { QTest::qSleep(1100); };  // snapshots are a second apart
        observer.updated = [&](const EvaluationPtr& evaluation) {
            snapshot = evaluation;
            token.cancel();
        };
        QVERIFY_THROWS_EXCEPTION(Cancelled, session->measureInBackground(fourBits(), 0, observer, token));
        QVERIFY(snapshot && snapshot->layers[0].leaveOneOut && snapshot->layers[3].cumulative);
        QVERIFY(!snapshot->layers[3].leaveOneOut && !leaveOneOutComplete(snapshot->layers));
        QVERIFY(valuesOf(*session)[0].has_value());

        const WorkDone before = session->workDone();
        session->measureInBackground(fourBits(), 0);
        QVERIFY((session->workDone() - before).computed < ofWhole.computed);
        QVERIFY(valuesOf(*session) == valuesOf(*whole));
    }
};

QTEST_GUILESS_MAIN(LeaveOneOutTest)
#include "leave_one_out_test.moc"
