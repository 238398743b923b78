// SPDX-License-Identifier: Apache-2.0
// The same inputs give the same numbers, regardless of previous evaluations, the number of threads and the
// memory limit.
#include <QtTest>
#include <random>

#include "config/config_json.h"
#include "config/layer_choices.h"
#include "config/presets.h"
#include "support/demo.h"
#include "support/random_seed.h"

using namespace quantloupe;

namespace {

constexpr std::size_t kSamples = 48;

class DeterminismTest : public QObject {
    Q_OBJECT

    std::vector<std::string> m_layers;

    QuantizationConfig edited(QuantizationConfig config, std::mt19937& random) const {
        const std::string& layer = m_layers[random() % m_layers.size()];
        switch (random() % 10) {
            case 0:
                config.quantization.weight.bits = 4 + static_cast<int>(random() % 5);
                return config;
            case 1:
                config.quantization.weight.perChannel = !config.quantization.weight.perChannel;
                return config;
            case 2:
                config.quantization.activation.symmetric = !config.quantization.activation.symmetric;
                return config;
            case 3:
                config.transforms.equalization.profile =
                    config.transforms.equalization.profile == EqualizationProfile::Off
                        ? EqualizationProfile::Aimet
                        : EqualizationProfile::Off;
                config.transforms.replaceRelu6 =
                    config.transforms.equalization.profile == EqualizationProfile::Off
                        ? ReplaceRelu6::None
                        : ReplaceRelu6::Between;
                return config;
            case 4:
                config.layers[layer].weightBits = 2 + static_cast<int>(random() % 7);
                return config;
            case 5:
                config.rules.clear();
                return config;
            default:
                break;
        }
        return withLayersSkipped(config, {layer});
    }

    static void compare(const Evaluation& one, const Evaluation& other) {
        QCOMPARE(*one.classes, *other.classes);
        QCOMPARE(*one.quantized->sqnrDb, *other.quantized->sqnrDb);  // of every output value, in double
        QCOMPARE(*one.quantized->maxAbsDiff, *other.quantized->maxAbsDiff);
        QCOMPARE(*one.quantized->top1, *other.quantized->top1);
        for (std::size_t l = 0; l < one.layers.size(); ++l) {
            QCOMPARE(one.layers[l].state, other.layers[l].state);
            if (!one.layers[l].cumulative || !other.layers[l].cumulative) continue;
            QCOMPARE(one.layers[l].cumulative->qs, other.layers[l].cumulative->qs);
            QCOMPARE(one.layers[l].local->qs, other.layers[l].local->qs);
        }
    }

  private Q_SLOTS:
    void editsEqualColdEvaluations() {
        std::mt19937 random(test::randomSeed());
        const auto session = test::openDemo({2, kSamples, 16, std::size_t{64} << 20});
        QuantizationConfig config = presetConfig("default");
        const EvaluationPtr base = session->evaluate(config, Depth::Accuracy);
        for (const LayerResult& layer : base->layers)
            if (layer.quantizable) m_layers.push_back(layer.name);
        std::vector<QuantizationConfig> history{config};
        for (int edit = 0; edit < 250; ++edit) {
            config = random() % 8 == 0 ? history[random() % history.size()] : edited(config, random);
            history.push_back(config);
            const bool checked = edit % 20 == 0;
            const EvaluationPtr warm = session->evaluate(config, checked ? Depth::Metrics : Depth::Accuracy);
            if (!checked) continue;
            // Another number of threads; no memory for activations; no cached results.
            const auto cold = test::openDemo(
                {1 + edit / 20 % 2, kSamples, 16, std::size_t{edit % 40 == 0 ? 0u : 1u} << 24});
            compare(*warm, *cold->evaluate(config, Depth::Metrics));
            if (QTest::currentTestFailed()) return;
        }
        QVERIFY(session->activationBytes() <= session->activationBudget());
    }
};

}  // namespace

QTEST_GUILESS_MAIN(DeterminismTest)
#include "determinism_test.moc"
