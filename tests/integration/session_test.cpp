// SPDX-License-Identifier: Apache-2.0
// The tuning loop on the bundled demo: open, skip, check the new accuracy, undo, equalize, save and open the
// configuration.
#include "session/session.h"

#include <QTemporaryDir>
#include <QtTest>

#include "base/atomic_file.h"
#include "config/config_json.h"
#include "config/presets.h"
#include "data/random_dataset.h"
#include "session/session_samples.h"
#include "session/studies/range_overview.h"
#include "support/demo.h"
#include "support/errors.h"
#include "support/npy.h"
#include "support/text_model.h"

using namespace quantloupe;

namespace {

QString states(const Evaluation& evaluation) {
    const StateCounts& c = evaluation.counts;
    return QString("%1 quantized, %2 skipped, %3 float, %4 folded, %5 fused")
        .arg(c.quantized)
        .arg(c.skipped)
        .arg(c.floating)
        .arg(c.folded)
        .arg(c.fused);
}

const std::string kWorst = "/features/features.17/conv/conv.2/Conv";

}  // namespace

class SessionTest : public QObject {
    Q_OBJECT

  private:
    std::unique_ptr<Session> m_session;

  private Q_SLOTS:
    void initTestCase() { m_session = test::openDemo({0, 200, 40}); }

    void withoutDataStatesAreKnown() {
        Session session(loadModel(test::demoFolder() / "mobilenetv2_cifar10.onnx"));
        const auto result = session.evaluate(test::demoConfig());
        QVERIFY(result->complete);
        QVERIFY(!result->quantized);
        QCOMPARE(states(*result), "65 quantized, 0 skipped, 0 float, 52 folded, 35 fused");
        const LayerResult& clip = test::layerNamed(*result, "/features/features.0/features.0.2/Clip");
        QCOMPARE(clip.host, std::string("/features/features.0/features.0.0/Conv"));
        QVERIFY(test::layerNamed(*result, "/classifier/classifier.1/Gemm").io);
    }

    /// An operator without effect between a layer and its activation changes no number.
    void identitiesBeforeActivationsChangeNothing() {
        const auto outputs = [](const std::string& nodes) {
            Session session(
                test::textModel("<ir_version: 8, opset_import: [\"\" : 13]> g (float[N,4] X) => (float[N,2] "
                                "Y) <float[4,2] W = {1, 2, 3, 4, 5, -6, 7, 8}, float[2] c = {1, -1}, "
                                "float[2,2] V = {1, 2, -3, 4}> { a = Gemm(X, W, c) " +
                                nodes + " Y = Gemm(r, V) }"));
            session.useRandomInputs(8);
            QuantizationConfig config;
            config.skipTail = false;
            const ConstantPtr values = session.outputs(config).at(0);
            return std::vector<float>(values->floats().begin(), values->floats().end());
        };
        const auto expected = outputs("r = Relu(a)");
        QCOMPARE(outputs("i = Identity(a) d = Dropout(i) r = Relu(d)"), expected);
    }

    /// Random inputs stay marked, so that no scales of noise are exported.
    void dataThatCannotBeUsedChangesNothing() {
        Session session(test::textModel(
            "<ir_version: 8, opset_import: [\"\" : 13]> g (float[N,4] X) => (float[N,4] Y) { Y = Relu(X) }"));
        session.useRandomInputs(8);
        const std::string notice = session.dataNotice();
        const DatasetPtr one = subset(randomDataset(session.graph(), 2, 3), {0});
        QVERIFY_THROWS_EXCEPTION(Error, session.setData(one, nullptr));
        QVERIFY(session.randomInputs());
        QCOMPARE(session.dataNotice(), notice);
        QCOMPARE(session.sampleCount(), std::size_t{8});
        QVERIFY_THROWS_EXCEPTION(Error, session.quantizedModel({}));
        session.setData(nullptr, nullptr);
        QVERIFY(!session.hasData() && !session.randomInputs() && session.dataNotice().empty());
    }

    void snapshotsGrow() {
        std::vector<EvaluationPtr> seen;
        EvaluationObserver observer;
        observer.updated = [&](EvaluationPtr snapshot) { seen.push_back(std::move(snapshot)); };
        Session session(loadModel(test::demoFolder() / "mobilenetv2_cifar10.onnx"), {0, 200, 40});
        const auto preprocess =
            loadPreprocess(*preprocessBeside(test::demoFolder() / "mobilenetv2_cifar10.onnx"));
        const auto inputs = inputSpecsOf(session.graph());
        session.setData(openDataset(test::demoFolder() / "val", inputs, preprocess),
                        openDataset(test::demoFolder() / "calibration", inputs, preprocess));
        session.evaluate(test::demoConfig(), Depth::Metrics, observer);
        QVERIFY(seen.size() >= 4);
        QVERIFY(!seen.front()->floating);  // states come first
        const auto rough =
            std::find_if(seen.begin(), seen.end(), [](const auto& s) { return s->quantized.has_value(); });
        QVERIFY((*rough)->rough);
        QCOMPARE((*rough)->quantized->samples, 40u);
        QVERIFY(seen.back()->complete && !seen.back()->rough);
        QCOMPARE(seen.back()->quantized->samples, 200u);
        for (const LayerResult& item : seen.back()->layers)
            QCOMPARE(item.local.has_value(), item.quantizable);
    }

    void skipChangesTheResultsAndUndoRestoresThem() {
        const QuantizationConfig before = test::demoConfig();
        const auto first = m_session->evaluate(before);
        QuantizationConfig config = before;
        SkipRule rule;
        rule.layers = {kWorst};
        config.rules.push_back(rule);
        const auto skipped = m_session->evaluate(config);
        QCOMPARE(states(*skipped), "64 quantized, 1 skipped, 0 float, 52 folded, 35 fused");
        QVERIFY(test::layerNamed(*skipped, kWorst).state == LayerState::Skipped);
        QVERIFY(!test::layerNamed(*skipped, kWorst).reason.empty());
        // As if quantized: the same local sensitivity as before.
        QCOMPARE(test::layerNamed(*skipped, kWorst).local->qs, test::layerNamed(*first, kWorst).local->qs);
        QVERIFY(*skipped->quantized->sqnrDb > *first->quantized->sqnrDb);

        const auto undone = m_session->evaluate(before);
        QCOMPARE(*undone->quantized->top1, *first->quantized->top1);
        QCOMPARE(*undone->quantized->sqnrDb, *first->quantized->sqnrDb);
        QVERIFY(undone->seconds.quantized == 0);  // from the cache
    }

    void skippingEverythingIsTheFloatNetwork() {
        QuantizationConfig config = test::demoConfig();
        SkipRule rule;
        rule.kind = SkipKind::Downstream;
        rule.from = "/features/features.0/features.0.0/Conv";
        config.rules.push_back(rule);
        const auto result = m_session->evaluate(config);
        QCOMPARE(result->counts.quantized, 0u);
        QCOMPARE(*result->quantized->agreement, 1.0);
        QVERIFY(*result->quantized->sqnrDb > 100);  // only the folding's rounding
    }

    void theTailIsTheClassifier() {
        QuantizationConfig config = test::demoConfig();
        config.skipTail = true;
        const auto result = m_session->evaluate(config, Depth::States);
        QVERIFY(test::layerNamed(*result, "/classifier/classifier.1/Gemm").state == LayerState::Skipped);
        QCOMPARE(result->counts.skipped, 1u);
    }

    void equalizationHelpsAndKeepsTheFunction() {
        QuantizationConfig config = test::demoConfig();
        const auto plain = m_session->evaluate(config);
        config.transforms.replaceRelu6 = ReplaceRelu6::Between;
        config.transforms.equalization.profile = EqualizationProfile::Aimet;
        const auto equalized = m_session->evaluate(config);
        QCOMPARE(equalized->equalizationSets, 19u);
        QVERIFY(*equalized->prepared->agreement == 1.0);
        QVERIFY(*equalized->quantized->top1 > *plain->quantized->top1 + 0.05);
    }

    void numbersDoNotDependOnThreads() {
        const auto one = test::openDemo({1, 60, 20})->evaluate(test::demoConfig());
        const auto two = test::openDemo({2, 60, 20})->evaluate(test::demoConfig());
        QCOMPARE(*one->quantized->sqnrDb, *two->quantized->sqnrDb);
        for (std::size_t i = 0; i < one->layers.size(); ++i) {
            if (!one->layers[i].local) continue;
            QCOMPARE(one->layers[i].local->qs, two->layers[i].local->qs);
            QCOMPARE(one->layers[i].cumulative->cosine, two->layers[i].cumulative->cosine);
        }
    }

    void aThresholdSkipsLayersBeyondIt() {
        QuantizationConfig config = test::demoConfig();
        const auto plain = m_session->evaluate(config);
        std::vector<double> values;
        for (const LayerResult& one : plain->layers)
            if (one.quantizable) values.push_back(one.local->qs);
        std::ranges::sort(values);
        SkipRule rule;
        rule.kind = SkipKind::Threshold;
        rule.threshold = (values[values.size() - 4] + values[values.size() - 5]) / 2;
        config.rules = {rule};
        const auto skipped = m_session->evaluate(config);
        QCOMPARE(skipped->counts.skipped, 4u);
        QVERIFY(test::layerNamed(*skipped, kWorst).state == LayerState::Skipped);
        QVERIFY2(test::layerNamed(*skipped, kWorst).reason.starts_with("skipped by rule 1: local QS above"),
                 test::layerNamed(*skipped, kWorst).reason.c_str());
        QCOMPARE(std::ranges::count(skipped->covered[0], true), 4);
        QVERIFY(skipped->config == config);  // the resolved layers are not the user's own choices

        // The same as skipping those layers by name, whatever else is skipped.
        QuantizationConfig byName = test::demoConfig();
        SkipRule nodes;
        for (const LayerResult& one : plain->layers)
            if (one.quantizable && one.local->qs > rule.threshold) nodes.layers.push_back(one.name);
        byName.rules = {nodes};
        QCOMPARE(*m_session->evaluate(byName)->quantized->sqnrDb, *skipped->quantized->sqnrDb);

        // Beyond a bound of the network's own metrics: evaluated without the rule, so that the result does
        // not oscillate.
        config.rules[0].metric = SkipMetric::CumulativeSqnr;
        config.rules[0].below = true;
        config.rules[0].threshold = 10;
        const auto expected = std::ranges::count_if(plain->layers, [](const LayerResult& one) {
            return one.quantizable && one.cumulative->sqnrDb < 10;
        });
        QVERIFY(expected > 0 && expected < 65);
        QCOMPARE(static_cast<std::ptrdiff_t>(m_session->evaluate(config)->counts.skipped), expected);
        QCOMPARE(static_cast<std::ptrdiff_t>(m_session->evaluate(config)->counts.skipped), expected);
    }

    void aThresholdWithoutDataIsReported() {
        Session session(loadModel(test::demoFolder() / "mobilenetv2_cifar10.onnx"));
        QuantizationConfig config = test::demoConfig();
        SkipRule rule;
        rule.kind = SkipKind::Threshold;
        config.rules = {rule};
        const auto none = session.evaluate(config, Depth::States);
        QCOMPARE(none->counts.skipped, 0u);
        QVERIFY(std::ranges::any_of(
            none->notices, [](const auto& text) { return text.find("needs data") != std::string::npos; }));
        // The sensitivity of the weights needs no data.
        config.rules[0].metric = SkipMetric::WeightQs;
        QVERIFY(session.evaluate(config, Depth::States)->counts.skipped > 0);
    }

    void layerSettingOverridesRules() {
        QuantizationConfig config = test::demoConfig();
        SkipRule all;
        all.kind = SkipKind::Type;
        all.op = "Conv";
        config.rules.push_back(all);
        config.layers[kWorst].quantize = true;
        config.layers[kWorst].weightBits = 8;
        const auto result = m_session->evaluate(config);
        QVERIFY(test::layerNamed(*result, kWorst).state == LayerState::Quantized);
        QVERIFY(test::layerNamed(*result, kWorst).local->qs < 0.2);  // 1.0 with 4 bits
    }

    /// With min-max, the range of an affine quantizer ends at the limits of its tensor's values.
    void rangesEqualThoseOfTheQuantizedTensor() {
        for (const Placement placement : {Placement::InputsAndOutputs, Placement::WeightedInputs}) {
            QuantizationConfig config = presetConfig("w4a8");
            config.quantization.placement = placement;
            std::size_t compared = 0;
            for (const LayerRanges& layer : rangeOverview(*m_session, config)) {
                if (!layer.weight) continue;
                const std::string& name = m_session->graph().node(layer.node).name;
                QVERIFY2(
                    layer.outputMax > 0 && std::abs(layer.output.high - layer.outputMax) <= layer.output.step,
                    name.c_str());
                QVERIFY2(std::abs(layer.output.low - std::min(layer.outputMin, 0.0)) <= layer.output.step,
                         name.c_str());
                ++compared;
            }
            QCOMPARE(compared, std::size_t(53));
        }
    }

    void configurationsSaveAndOpen() {
        QTemporaryDir folder;
        const std::filesystem::path file = folder.path().toStdString() + "/config.json";
        QuantizationConfig config = test::demoConfig();
        config.layers[kWorst].comment = "the worst";
        saveConfig(config, file);
        QVERIFY(loadConfig(file) == config);
    }

    void cancelLeavesTheSessionUsable() {
        const CancelToken cancel;
        EvaluationObserver observer;
        observer.progress = [&](const Progress&) { cancel.cancel(); };
        QuantizationConfig config = test::demoConfig();
        config.quantization.weight.bits = 5;
        QVERIFY_EXCEPTION_THROWN(m_session->evaluate(config, Depth::Metrics, observer, cancel), Cancelled);
        QVERIFY(m_session->evaluate(config)->complete);
    }

    void unsupportedOperatorsStopTheEvaluationOnly() {
        Session session(
            test::textModel("<ir_version: 8, opset_import: [\"\" : 13]> g (float[N,4] X) => (float[N,4] Y) "
                            "{ Y = RandomNormalLike (X) }"));
        setRows(session);
        QCOMPARE(session.evaluate({}, Depth::States)->layers.size(), 1u);
        const QString error = test::errorOf([&] { session.evaluate({}); });
        QVERIFY2(error.contains("RandomNormalLike"), qPrintable(error));
    }

    /// NonZero's output has a different shape for every sample: the part before it is quantized and compared.
    void networksAreEvaluatedUpToTheirFrontier() {
        Session session(test::textModel(R"(<ir_version: 8, opset_import: ["" : 13]>
            g (float[N,4] X) => (int64[K,2] Y, float[N,4] Z) <float[4,4] W = {1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 2, 3, 4, 5, 6, 7}, float[4,4] V = {1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 2, 3, 4, 5, 6, 7}>
            { A = MatMul (X, W) B = Relu (A) T = NonZero (B) Y = Transpose (T) Z = MatMul (B, V) })"));
        setRows(session);
        QuantizationConfig config;
        config.skipTail = false;
        const EvaluationPtr result = session.evaluate(config);
        QVERIFY(result->complete);
        const auto layer = [&](const char* name) {
            return result->layers[session.graph().findNode(name)->index()];
        };
        QCOMPARE(layer("MatMul_0").state, LayerState::Quantized);
        QVERIFY(layer("MatMul_0").local.has_value());
        QCOMPARE(layer("NonZero_2").state, LayerState::Float);
        QVERIFY(QString::fromStdString(layer("NonZero_2").reason).startsWith("not evaluated: "));
        QVERIFY(result->quantized && result->quantized->sqnrDb && !result->quantized->agreement);
        QVERIFY(std::any_of(result->notices.begin(), result->notices.end(), [](const std::string& notice) {
            return notice.find("NonZero_2") != std::string::npos;
        }));
        // The outputs of the float network are evaluated to the end, sample by sample.
        const auto outputs = session.outputs(std::nullopt);
        QCOMPARE(outputs[0]->type(), DataType::Int64);
        QCOMPARE(outputs[1]->dims(), (Dims{2, 4}));
    }

    /// Data is often sorted by class, and accuracies are displayed while an evaluation runs.
    void theFirstSamplesAreSpreadEvenly() {
        const GraphPtr graph = test::textModel(R"(<ir_version: 8, opset_import: ["" : 13]>
            g (float[N,4] X) => (float[N,4] Y) { Y = Relu (X) })")
                                   .graph;
        SessionSamples samples(graph, {});
        samples.setRandom(1000);
        for (std::size_t count = 100; count <= 1000; count += 100)
            for (std::size_t part = 0; part < 1000; part += 250) {
                const auto begin = samples.order().begin();
                const auto here = std::count_if(begin, begin + static_cast<std::ptrdiff_t>(count),
                                                [&](std::size_t s) { return s >= part && s < part + 250; });
                QVERIFY(std::abs(static_cast<double>(here) - static_cast<double>(count) / 4) <= 6);
            }
    }

  private:
    /// Two rows of four numbers.
    static void setRows(Session& session) {
        QTemporaryDir folder;
        const std::filesystem::path file = folder.path().toStdString() + "/x.npy";
        writeFileAtomically(file, test::npyOfFloats("2, 4", {1, -2, 3, 0.5f, -1, 2, 0.25f, 4}).toStdString());
        const auto data = openDataset(file, inputSpecsOf(session.graph()), {});
        session.setData(data, data);
    }
};

QTEST_GUILESS_MAIN(SessionTest)
#include "session_test.moc"
