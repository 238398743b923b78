// SPDX-License-Identifier: Apache-2.0
// Calibration within a session: statistics are gathered once, methods and parameters change without
// inference, and the results depend neither on the number of threads nor on the batch size.
#include <QTemporaryDir>
#include <QtTest>
#include <set>

#include "data/numpy_file.h"
#include "quantize/calibrate.h"
#include "support/demo.h"
#include "support/errors.h"
#include "support/text_model.h"

using namespace quantloupe;

namespace {

const std::string kLayer = "/features/features.2/conv/conv.2/Conv";

/// The stages that an evaluation had to run.
std::set<std::string> stages(Session& session, const QuantizationConfig& config,
                             EvaluationPtr* result = nullptr) {
    std::set<std::string> seen;
    EvaluationObserver observer;
    observer.progress = [&](const Progress& progress) { seen.insert(progress.stage); };
    const EvaluationPtr evaluation = session.evaluate(config, Depth::Accuracy, observer);
    if (result != nullptr) *result = evaluation;
    return seen;
}

QString failure(Session& session, const QuantizationConfig& config) {
    return test::errorOf([&] { session.evaluate(config, Depth::Accuracy); });
}

bool says(const Evaluation& evaluation, const std::string& text) {
    return std::ranges::any_of(evaluation.notices, [&](const std::string& notice) {
        return notice.find(text) != std::string::npos;
    });
}

}  // namespace

class CalibrationSessionTest : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void methodsChangeWithoutInference() {
        const auto session = test::openDemo({2, 60, 20});
        QuantizationConfig config = test::demoConfig();
        config.quantization.weight.bits = 8;
        QVERIFY(stages(*session, config).contains("calibrating"));
        config.calibration.method = CalibrationMethod::MovingAverage;
        QVERIFY(!stages(*session, config).contains("calibrating"));
        config.calibration.method = CalibrationMethod::Ifmr;
        EvaluationPtr ifmr;
        QVERIFY(stages(*session, config, &ifmr).contains("calibrating"));  // the second pass, once
        QVERIFY(says(*ifmr, "computed from histograms"));
        config.calibration.parameters.bins = 2048;
        for (const auto method :
             {CalibrationMethod::Percentile, CalibrationMethod::Entropy, CalibrationMethod::Mse,
              CalibrationMethod::TfEnhanced, CalibrationMethod::PowerOfTwoMinMse,
              CalibrationMethod::PowerOfTwoNonOverflow, CalibrationMethod::Hfmg}) {
            config.calibration.method = method;
            const auto ran = stages(*session, config);
            QVERIFY(!ran.contains("calibrating"));
            QVERIFY(ran.contains("quantized network"));
        }
        config.calibration.method = CalibrationMethod::Ifmr;
        config.calibration.parameters.searchRange = {0.3, 1.0};
        config.layers[kLayer].calibrationMethod = CalibrationMethod::Hfmg;
        config.layers[kLayer].activationBits = 6;
        QVERIFY(!stages(*session, config).contains("calibrating"));
        // Results from stored statistics equal those of a new session.
        EvaluationPtr warm;
        stages(*session, config, &warm);
        const EvaluationPtr cold = test::openDemo({1, 60, 20})->evaluate(config, Depth::Accuracy);
        QCOMPARE(*warm->quantized->sqnrDb, *cold->quantized->sqnrDb);
    }

    void layerMethodAffectsOnlyItsLayer() {
        const auto session = test::openDemo({2, 40, 20});
        QuantizationConfig config = test::demoConfig();
        config.quantization.weight.bits = 8;
        const EvaluationPtr before = session->evaluate(config);
        config.layers[kLayer].calibrationMethod = CalibrationMethod::Percentile;
        config.layers[kLayer].calibrationParameters.percentile = 0.9;
        const EvaluationPtr after = session->evaluate(config);
        std::set<std::string> changed;
        for (std::size_t l = 0; l < before->layers.size(); ++l)
            if (before->layers[l].local && before->layers[l].local->qs != after->layers[l].local->qs)
                changed.insert(before->layers[l].name);
        // The layer, which is clipped strongly, and those that read its output.
        QVERIFY(changed.contains(kLayer));
        QVERIFY2(changed.size() <= 3, fmt::format("{}", changed.size()).c_str());
    }

    void statisticsDoNotDependOnBatchOrThreads() {
        const auto file = test::demoFolder() / "mobilenetv2_cifar10.onnx";
        const GraphPtr graph = loadModel(file).graph;
        const Prepared prepared = prepare(graph, {});
        const auto data = openDataset(test::demoFolder() / "calibration", inputSpecsOf(*graph),
                                      loadPreprocess(*preprocessBeside(file)));
        const auto some = subset(data, spreadEvenly(data->size(), 23));
        std::vector<TensorId> tensors;
        for (const Node& node : prepared.graph->nodes())
            if (node.op == "Clip" || node.op == "Add" || node.op == "Gemm") tensors.push_back(node.output());
        std::vector<std::vector<Version>> versions;
        std::vector<std::vector<float>> averages;
        for (const auto& [batch, threads] : {std::pair{1u, 1}, std::pair{1u, 2}, std::pair{4u, 2}}) {
            const SampleBatches batches(some, *graph, batch);
            const Workers workers(threads);
            const RunControl control{workers, {}, {}};
            Statistics statistics = calibrateRanges(prepared, tensors, batches, control);
            addMissingDistributions(prepared, tensors, {true, {8}}, batches, control, statistics);
            versions.emplace_back();
            averages.emplace_back();
            for (const TensorId tensor : tensors) {
                const TensorStatistics& known = statistics.at(tensor);
                QCOMPARE(known.history.samples(), std::size_t(23));
                QCOMPARE(known.count, known.distribution->count);
                versions.back().push_back(known.distribution->version);
                averages.back().push_back(known.history.average(0.01).second);
            }
        }
        QVERIFY(versions[0] == versions[1]);
        // Another batch lets the float network round differently in a few values, but not in their number or
        // order of samples.
        QVERIFY(averages[0] == averages[1]);
        for (std::size_t t = 0; t < tensors.size(); ++t)
            QVERIFY(std::abs(averages[2][t] / averages[0][t] - 1) < 1e-5f);
    }

    void errorNamesTheNonFiniteTensor() {
        auto model = test::textModel(
            "<ir_version: 8, opset_import: [\"\" : 13]> g (float[N,4] X) => (float[N,4] Y) "
            "{ A = Sqrt (X) B = Add (A, X) Y = Add (B, A) }");
        QTemporaryDir folder;
        const std::filesystem::path file = folder.path().toStdString() + "/x.npy";
        std::vector<float> values(40, 1.0f);
        values[4 * 7 + 2] = -1;  // the square root of row 7 is NaN
        saveNpz({{"X", Constant::fromFloats({10, 4}, values)}}, folder.path().toStdString() + "/x.npz");
        Session session(std::move(model));
        const auto data =
            openDataset(folder.path().toStdString() + "/x.npz", inputSpecsOf(session.graph()), {});
        session.setData(data, data);
        QuantizationConfig config;
        config.skipTail = false;
        const QString message = failure(session, config);
        QVERIFY2(message.contains("'A'") && message.contains("Sqrt") && message.contains("NaN") &&
                     message.contains(QString::fromStdString(data->sampleName(7))),
                 qPrintable(message));
    }

    void fewerSamplesThanRequestedAreReported() {
        const auto session = test::openDemo({2, 20, 10});
        QuantizationConfig config = test::demoConfig();
        config.calibration.samples = 1'000'000;
        QVERIFY(says(*session->evaluate(config, Depth::Rough), "1000000 were requested"));
        config.calibration.samples = 8;
        const EvaluationPtr few = session->evaluate(config, Depth::Rough);
        QCOMPARE(few->calibrationSamples, std::size_t(8));
        QVERIFY(!says(*few, "were requested"));
    }

    void badParametersNameTheLayer() {
        const auto session = test::openDemo({2, 20, 10});
        QuantizationConfig config = test::demoConfig();
        config.calibration.method = CalibrationMethod::Ifmr;
        config.layers[kLayer].calibrationParameters.searchStep = 0.7;
        const QString message = failure(*session, config);
        QVERIFY2(message.contains("search_step: 0.7 is larger") &&
                     message.contains(QString::fromStdString(kLayer)),
                 qPrintable(message));
        config.layers.clear();
        config.calibration.parameters.searchStep = 0.6;  // just fits, in decimal
        QCOMPARE(failure(*session, config), QString());
        config.calibration.method = CalibrationMethod::Entropy;
        config.calibration.parameters.quantizedBins = 256;
        QVERIFY(failure(*session, config).contains("num_quantized_bins 256 is more than num_bins 128"));
    }

    void searchesAtTheEdgeAreReported() {
        const auto session = test::openDemo({2, 20, 10});
        QuantizationConfig config = test::demoConfig();
        config.calibration.method = CalibrationMethod::Ifmr;
        config.quantization.activation.bits = 4;
        QVERIFY(says(*session->evaluate(config, Depth::Rough), "at the edge of the search range"));
    }
};

QTEST_GUILESS_MAIN(CalibrationSessionTest)
#include "calibration_session_test.moc"
