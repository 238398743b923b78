// SPDX-License-Identifier: Apache-2.0
// Properties of every network and scheme, on random networks: 16 bits change almost nothing, float layers
// change nothing, every layer that stays in float has a reason, and the exported model computes the same as
// the preview.
#include <QTemporaryDir>
#include <QtTest>
#include <algorithm>
#include <cmath>
#include <random>

#include "base/error.h"
#include "config/config_json.h"
#include "config/layer_choices.h"
#include "config/precision_rules.h"
#include "data/numpy_file.h"
#include "session/session.h"
#include "support/random_network.h"
#include "support/random_seed.h"
#include "support/signal_to_noise.h"
#include "support/text_model.h"

using namespace quantloupe;

class RandomGraphsTest : public QObject {
    Q_OBJECT

    QuantizationConfig randomScheme() {
        const auto coin = [this] { return m_random() % 2 == 0; };
        QuantizationConfig config;
        config.skipTail = coin();
        QuantizationOptions& scheme = config.quantization;
        scheme.weight.bits = 2 + static_cast<int>(m_random() % 15);
        scheme.weight.perChannel = coin();
        scheme.weight.symmetric = coin();
        scheme.activation.bits = 2 + static_cast<int>(m_random() % 15);
        scheme.activation.isSigned = coin();
        scheme.activation.symmetric = coin();
        scheme.activation.powerOfTwo = m_random() % 4 == 0;
        scheme.weight.powerOfTwo = scheme.activation.powerOfTwo;
        config.transforms.simplify = coin();
        config.transforms.equalization.profile = static_cast<EqualizationProfile>(m_random() % 4);
        if (m_random() % 4 == 0) config.quantization.placement = Placement::WeightedInputs;
        if (m_random() % 4 == 0) config.quantization.operators = OperatorSet::OnnxRuntime;
        constexpr const char* kMethods[] = {"min_max", "percentile", "mse", "ifmr", "entropy", "tf_enhanced"};
        setConfigKey(config, "calibration.method", kMethods[m_random() % std::size(kMethods)]);
        return config;
    }

    /// About every fourth layer.
    void keepSomeInFloat(const Session& session, QuantizationConfig& config) {
        for (const Node& node : session.graph().nodes()) {
            config.layers[node.name].quantize.reset();
            if (m_random() % 4 == 0) config.layers[node.name].quantize = false;
        }
    }

    /// About two of three layers, half of them by rules.
    void choosePrecisions(const Session& session, QuantizationConfig& config) {
        for (const Node& node : session.graph().nodes()) {
            const Precision precision = test::randomPrecision(m_random);
            if (m_random() % 3 == 0) {
                config = withPrecision(config, {node.name}, precision);
            } else if (m_random() % 2 == 0) {
                PrecisionRule rule;
                rule.covers.layers = {node.name};
                rule.precision = precision;
                config.precisionRules.push_back(rule);
            }
        }
    }

    static bool keepsAny(const QuantizationConfig& config) {
        return config.skipTail || std::ranges::any_of(config.layers, [](const auto& layer) {
                   return layer.second.quantize.has_value();
               });
    }

    /// A session on a new network with random samples, the same ones to calibrate and to evaluate.
    std::unique_ptr<Session> randomSession(std::string& text, Arithmetic arithmetic = bestArithmetic()) {
        text = test::RandomNetwork(m_random).text();
        SessionOptions options;
        options.arithmetic = arithmetic;
        auto session = std::make_unique<Session>(test::textModel(text), options);
        const std::string file = m_folder.path().toStdString() + "/x.npz";
        std::normal_distribution<float> normal(0, 1);
        std::vector<float> values(6 * 3 * 8 * 8);
        for (float& value : values) value = normal(m_random);
        saveNpz({{"X", Constant::fromFloats({6, 3, 8, 8}, values)}}, file);
        m_data = openDataset(file, inputSpecsOf(session->graph()), {});
        session->setData(m_data, m_data);
        return session;
    }

    static std::vector<float> outputsOf(Session& session, const std::optional<QuantizationConfig>& config) {
        const ConstantPtr output = session.outputs(config).at(0);
        return {output->floats().begin(), output->floats().end()};
    }

    /// Compares the preview with the exported model. Integer kernels scale exact sums, the exported model
    /// sums scaled values: where results stay in float, their last bits differ, which can move one value to
    /// the next code. Then the simulation, which adds like the exported model, is compared instead, and
    /// `moved` is increased.
    double sqnrOfExport(Session& session, const std::string& text, const QuantizationConfig& config,
                        double least, int& moved) {
        LoadedModel exported;
        exported.graph = session.quantizedModel(config);
        Session again(std::move(exported));
        again.setData(m_data, m_data);
        const auto found = outputsOf(again, std::nullopt);
        const double sqnr = test::sqnrDb(outputsOf(session, config), found);
        if (sqnr >= least) return sqnr;
        ++moved;
        SessionOptions options;
        options.arithmetic = Arithmetic::Simulation;
        Session simulation(test::textModel(text), options);
        simulation.setData(m_data, m_data);
        return test::sqnrDb(outputsOf(simulation, config), found);
    }

  private Q_SLOTS:
    void initTestCase() {
        m_random.seed(test::randomSeed());
        QVERIFY(m_folder.isValid());
    }

    void sixteenBitsChangeAlmostNothing() {
        for (int round = 0; round < 40; ++round) {
            std::string text;
            const auto session = randomSession(text);
            QuantizationConfig config;
            config.skipTail = false;
            config.quantization.weight.bits = config.quantization.activation.bits = 16;
            config.quantization.weight.perChannel = true;
            config.quantization.biasBits =
                kFloatBias;  // a bias in the product of two scales this fine does not fit into 32 bits
            const auto exact = outputsOf(*session, std::nullopt), found = outputsOf(*session, config);
            float largest = 0, off = 0;
            for (std::size_t i = 0; i < exact.size(); ++i) {
                largest = std::max(largest, std::fabs(exact[i]));
                off = std::max(off, std::fabs(exact[i] - found[i]));
            }
            QVERIFY2(off <= 1e-3f * largest,
                     qPrintable(QStringLiteral("%1 of %2 in %3").arg(off).arg(largest).arg(text.c_str())));
        }
    }

    void layersInFloatChangeNothing() {
        for (int round = 0; round < 40; ++round) {
            std::string text;
            const auto session = randomSession(text);
            QuantizationConfig config = randomScheme();
            config.transforms = {};
            config.transforms.simplify = false;
            for (const Node& node : session->graph().nodes()) config.layers[node.name].quantize = false;
            const auto exact = outputsOf(*session, std::nullopt), found = outputsOf(*session, config);
            QVERIFY2(exact == found, text.c_str());
        }
    }

    void floatLayersHaveAReason() {
        for (int round = 0; round < 40; ++round) {
            std::string text;
            const auto session = randomSession(text);
            const EvaluationPtr result = session->evaluate(randomScheme(), Depth::Accuracy);
            QCOMPARE(result->layers.size(), session->graph().nodes().size());
            for (const LayerResult& layer : result->layers)
                if (layer.state == LayerState::Skipped || layer.state == LayerState::Float)
                    QVERIFY2(!layer.reason.empty(), (layer.name + " in " + text).c_str());
        }
    }

    void theExportedModelComputesThePreview() {
        constexpr int kRounds = 40;
        int moved = 0;
        for (int round = 0; round < kRounds; ++round) {
            std::string text;
            const auto session = randomSession(text);
            QuantizationConfig config = randomScheme();
            if (round % 2 == 0) keepSomeInFloat(*session, config);
            const bool inCodes =
                config.quantization.placement == Placement::InputsAndOutputs && !keepsAny(config);
            const double least = inCodes ? 200 : 130;
            const double sqnr = sqnrOfExport(*session, text, config, least, moved);
            QVERIFY2(sqnr >= least,
                     fmt::format("{} dB, at least {}: {}", sqnr, least, text + configToJson(config)).c_str());
        }
        QVERIFY2(moved <= kRounds / 10, qPrintable(QStringLiteral("%1 of %2").arg(moved).arg(kRounds)));
    }

    /// With conversions between neighbors and layers in float16, every second network in integers.
    void theExportedModelOfMixedPrecisionsComputesThePreview() {
        constexpr int kRounds = 60;
        std::size_t conversions = 0, halves = 0;
        int moved = 0;
        for (int round = 0; round < kRounds; ++round) {
            std::string text;
            const auto session =
                randomSession(text, round % 2 == 0 ? Arithmetic::Simulation : bestArithmetic());
            QuantizationConfig config = randomScheme();
            choosePrecisions(*session, config);
            conversions += session->prepare(config)->conversions.size();
            const GraphPtr exported = session->quantizedModel(config);
            for (const Node& node : exported->nodes()) halves += node.op == "Cast";
            const double sqnr = sqnrOfExport(*session, text, config, 130, moved);
            QVERIFY2(sqnr >= 130, fmt::format("{} dB: {}", sqnr, text + configToJson(config)).c_str());
        }
        QVERIFY(conversions > 50 && halves > 50);
        QVERIFY2(moved <= kRounds / 10, qPrintable(QStringLiteral("%1 of %2").arg(moved).arg(kRounds)));
    }

    /// Precisions that equal those of the network change nothing.
    void theNetworksOwnPrecisionChangesNothing() {
        for (int round = 0; round < 40; ++round) {
            std::string text;
            const auto session = randomSession(text);
            QuantizationConfig config = randomScheme();
            if (round % 2 == 0) keepSomeInFloat(*session, config);
            QuantizationConfig named = config;
            const auto precisions = precisionsOf(session->graph(), config);
            for (const Node& node : session->graph().nodes())
                named = withPrecision(named, {node.name},
                                      precisions[session->graph().findNode(node.name)->index()]);
            QVERIFY2(outputsOf(*session, config) == outputsOf(*session, named),
                     (text + configToJson(named)).c_str());
        }
    }

    /// 5 and 8 bits both represent 1, 0 and -1 exactly, but as different codes: cached results of one must
    /// not be used for the other. For some scales of the activations, the codes make no difference.
    void equalWeightsWithOtherCodesAreComputedAgain() {
        QuantizationConfig config;
        config.skipTail = false;
        // outputs stay float: the last bit of a sum is seen
        config.quantization.placement = Placement::WeightedInputs;
        bool differ = false;
        for (int attempt = 0; attempt < 20 && !differ; ++attempt) {
            const auto session =
                std::make_unique<Session>(test::textModel(R"(<ir_version: 8, opset_import: ["" : 13]>
                net (float[N,2,4,4] X) => (float[N,2,4,4] Y) <float[2,2,1,1] W = {1, 0, -1, 1}, float[2,2,1,1] Z = {1, -1, 1, 1}>
                { A = Conv(X, W) B = Relu(A) C = Conv(B, Z) Y = Relu(C) })"));
            std::normal_distribution<float> normal(0, 1);
            std::vector<float> values(2000 * 2 * 4 * 4);
            for (float& value : values) value = normal(m_random);
            const auto data = arrayDataset({{"X", Constant::fromFloats({2000, 2, 4, 4}, values)}}, nullptr,
                                           inputSpecsOf(session->graph()));
            config.quantization.weight.bits = 8;
            Session fresh(LoadedModel{session->model()});
            fresh.setData(data, data);
            const auto wanted = outputsOf(fresh, config);
            session->setData(data, data);
            config.quantization.weight.bits = 5;
            differ = outputsOf(*session, config) != wanted;
            config.quantization.weight.bits = 8;
            QVERIFY(outputsOf(*session, config) == wanted);
        }
        QVERIFY2(differ, "the codes make no difference, so nothing was tested");
    }

    void intermediateEditChangesNothing() {
        for (int round = 0; round < 40; ++round) {
            std::string text;
            const auto session = randomSession(text);
            QuantizationConfig config = randomScheme();
            Session fresh(test::textModel(text));
            fresh.setData(m_data, m_data);
            session->evaluate(config, Depth::Metrics);
            for (int edit = 0; edit < 3; ++edit) {
                keepSomeInFloat(*session, config);
                if (round % 2 == 0) choosePrecisions(*session, config);
                session->evaluate(config, Depth::Metrics);
            }
            QVERIFY2(outputsOf(*session, config) == outputsOf(fresh, config),
                     (text + configToJson(config)).c_str());
        }
    }

  private:
    std::mt19937 m_random;
    QTemporaryDir m_folder;
    DatasetPtr m_data;
};

QTEST_APPLESS_MAIN(RandomGraphsTest)
#include "random_graphs_test.moc"
