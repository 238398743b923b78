// SPDX-License-Identifier: Apache-2.0
// AMCT's tuning workflow as data: the current step follows from configuration and evaluations; the proposed
// layers and parameters with their reasons. The network's numbers are derived in color_data.h.
#include <QApplication>

#include "color_data.h"
#include "config/layer_choices.h"
#include "config/presets.h"
#include "panels/amct_panel.h"
#include "window_test_support.h"

using namespace quantloupe;
using namespace quantloupe::ui;

namespace {

AmctMeasurement points(const QuantizationConfig& config, double lost) {
    return {config, AmctNumber{lost, false}};
}

QuantizationConfig tuned(QuantizationConfig config) {
    config.calibration.parameters.maxPercentile = 0.9999;
    return config;
}

}  // namespace

class AmctStateTest : public QObject {
    Q_OBJECT

    QTemporaryDir m_folder;

  private Q_SLOTS:
    void initTestCase() {
        QVERIFY(m_folder.isValid());
        test::keepSettingsIn(m_folder);
    }

    void theStepFollowsFromTheEvaluations() {
        const QuantizationConfig initial = presetConfig(kAmctPreset),
                                 skipped = withLayersSkipped(initial, {"a"}), both = tuned(skipped);
        AmctFacts facts;
        facts.candidates = 3;
        facts.quantizedLayers = 5;
        facts.variants = {both};
        const auto at = [&](const QuantizationConfig& config, std::vector<AmctMeasurement> measured) {
            facts.config = config;
            facts.measured = std::move(measured);
            const AmctState state = amctState(facts);
            return std::pair(state.present, state.verdict);
        };
        QCOMPARE(at(initial, {}), std::pair(AmctStep::Initial, TuningVerdict::NotMeasured));
        QCOMPARE(at(initial, {points(initial, 0.9)}), std::pair(AmctStep::Initial, TuningVerdict::Good));
        QCOMPARE(at(initial, {points(initial, 1.1)}), std::pair(AmctStep::Skip, TuningVerdict::GoOn));
        const std::vector<AmctMeasurement> first{points(initial, 1.1)};
        QCOMPARE(at(skipped, first), std::pair(AmctStep::JudgeSkipped, TuningVerdict::NotMeasured));
        QCOMPARE(at(skipped, {first[0], points(skipped, 1)}),
                 std::pair(AmctStep::JudgeSkipped, TuningVerdict::Good));
        const std::vector<AmctMeasurement> second{first[0], points(skipped, 1.05)};
        QCOMPARE(at(skipped, second), std::pair(AmctStep::Parameters, TuningVerdict::GoOn));
        QCOMPARE(at(both, second), std::pair(AmctStep::Verdict, TuningVerdict::NotMeasured));
        QCOMPARE(at(both, {second[0], second[1], points(both, 0)}),
                 std::pair(AmctStep::Verdict, TuningVerdict::Good));
        // After an undo, the step is the same as before, although more results are known.
        QCOMPARE(at(initial, {second[0], second[1], points(both, 0)}),
                 std::pair(AmctStep::Skip, TuningVerdict::GoOn));
        QCOMPARE(at(skipped, {second[0], second[1], points(both, 0)}),
                 std::pair(AmctStep::Parameters, TuningVerdict::GoOn));  // that variant would be good enough
        QCOMPARE(at(both, {second[0], second[1], points(both, 3)}),
                 std::pair(AmctStep::Verdict, TuningVerdict::Unsuitable));
        // All variants were tried: they are not better, or cannot be evaluated.
        QCOMPARE(at(skipped, {second[0], second[1], points(both, 1.04)}),
                 std::pair(AmctStep::Verdict, TuningVerdict::Unsuitable));
        QCOMPARE(at(skipped, {second[0], second[1], AmctMeasurement(both, {})}),
                 std::pair(AmctStep::Verdict, TuningVerdict::Unsuitable));
        // Better, but not good enough: it is worth continuing from there.
        facts.target.points = 0.5;
        QCOMPARE(at(skipped, {second[0], second[1], points(both, 0.8)}),
                 std::pair(AmctStep::Parameters, TuningVerdict::GoOn));
        facts.quantizedLayers = 0;
        QCOMPARE(at(skipped, second), std::pair(AmctStep::Verdict, TuningVerdict::Removed));
    }

    void stepTwoIsOmittedWithoutCandidates() {
        AmctFacts facts;
        facts.config = presetConfig(kAmctPreset);
        facts.measured = {points(facts.config, 2)};
        facts.variants = {tuned(facts.config)};
        QVERIFY(amctState(facts).present == AmctStep::Parameters);
        facts.candidates = 1;
        QVERIFY(amctState(facts).present == AmctStep::Skip);
        // Parameters were tuned first, but layers still have to be skipped.
        facts.measured.push_back(points(tuned(facts.config), 2));
        facts.config = tuned(facts.config);
        QVERIFY(amctState(facts).present == AmctStep::Skip);
    }

    void completedStepsHaveACheckMarkAndAResult() {
        const QuantizationConfig initial = presetConfig(kAmctPreset),
                                 skipped = withLayersSkipped(initial, {"a"});
        AmctFacts facts;
        facts.config = tuned(skipped);
        facts.measured = {points(initial, 4), points(skipped, 3), points(skipped, 2.5),
                          points(facts.config, 2)};
        const AmctState state = amctState(facts);
        QCOMPARE(state.done, (std::array<bool, kAmctSteps>{true, true, true, true, true}));
        QCOMPARE(state.numbers[0]->value, 4.0);
        QVERIFY(!state.numbers[1] && !state.numbers[3]);
        QCOMPARE(state.numbers[2]->value, 2.5);  // the newest
        QCOMPARE(state.numbers[4]->value, 2.0);
        facts.config = initial;
        QCOMPARE(amctState(facts).done, (std::array<bool, kAmctSteps>{true, false, false, false, false}));
        // All variants were tried, but none was applied.
        facts.config = skipped;
        facts.variants = {tuned(skipped)};
        QCOMPARE(amctState(facts).done, (std::array<bool, kAmctSteps>{true, true, true, true, false}));
        facts.variants.push_back(initial);
        facts.variants.back().quantization.activation.symmetric = true;
        QCOMPARE(amctState(facts).done, (std::array<bool, kAmctSteps>{true, true, true, false, false}));
    }

    void anyPresetHasAnInitialConfiguration() {
        for (const PresetInfo& preset : presets()) {
            QuantizationConfig config = presetConfig(preset.name);
            QVERIFY2(haveSameResults(amctInitial(config), config), preset.name.c_str());
            config.quantization.weight.bits = 6;  // not part of the steps
            QuantizationConfig changed = tuned(withLayersSkipped(config, {"a"}));
            changed.layers["b"].weightMethod = WeightMethod::Mse;
            changed.layers["b"].weightBits = 8;
            QuantizationConfig initial = config;
            initial.layers["b"].weightBits = 8;
            QVERIFY2(haveSameResults(amctInitial(changed), initial), preset.name.c_str());
        }
        QuantizationConfig unknown = presetConfig("default");
        unknown.preset = "of a later version";
        QVERIFY(haveSameResults(amctInitial(tuned(unknown)), unknown));
    }

    void cosmeticFieldsAreIgnored() {
        const QuantizationConfig config = presetConfig(kAmctPreset);
        QuantizationConfig other = config;
        other.layers["a"].comment = "look at this";
        other.exports.floatWeights = true;
        SkipRule off;
        off.layers = {"a"};
        off.off = true;
        other.rules.push_back(off);
        other.precisionRules.push_back({off, Precision::float16()});
        QVERIFY(haveSameResults(config, other));
        QVERIFY(findMeasurement({points(other, 1)}, config));
        QVERIFY(!findMeasurement({points(tuned(other), 1)}, config));
    }

    void resultsAreLostPointsOrDecibels() {
        Accuracy floating, quantized;
        QVERIFY(!amctNumber(floating, quantized, false));
        quantized.sqnrDb = 20;
        QVERIFY(amctNumber(floating, quantized, false)->inDecibels);
        quantized.agreement = 0.97;
        QVERIFY(amctNumber(floating, quantized, false)->inDecibels);  // too few samples
        quantized.samples = 100;
        QVERIFY(std::abs(amctNumber(floating, quantized, false)->value - 3) < 1e-9);
        floating.top1 = 0.935, quantized.top1 = 0.925;
        const AmctNumber number = *amctNumber(floating, quantized, false);
        QVERIFY(std::abs(number.value - 1) < 1e-9 && !number.inDecibels);
        QVERIFY(AmctTarget().met(number));  // exactly 1 point, despite floating-point rounding
        QCOMPARE(amctNumber(floating, quantized, true)->value, 20.0);
        QVERIFY(!AmctTarget().met({20, true}));
        QVERIFY(AmctTarget().met({std::numeric_limits<double>::infinity(), true}));
        QCOMPARE(amctGain({2, false}, {3, false}), 1.0);
        QCOMPARE(amctGain({2, true}, {3, true}), -1.0);
    }

    void candidatesAreFirstLastSmallAndDissimilarLayers() {
        Document document;
        // X - Conv_0 - Relu_1 - Conv_2 - Relu_3 - Conv_4 - Relu_5 - Y: the ends are the first and the last
        // with weights.
        QVERIFY(test::openAndWait(document, test::writeModel(m_folder)));
        std::vector<LayerResult> layers = document.layers();
        for (LayerResult& layer : layers)
            if (layer.quantizable)
                layer.state = LayerState::Quantized, layer.local = TensorDifference{0.01, 0.999, 40};
        layers[0].parameters = 50;
        layers[2].parameters = 1000;
        layers[4].parameters = 1000;
        layers[2].local->cosine = 0.98;
        layers[4].local->cosine = std::numeric_limits<double>::quiet_NaN();
        auto found = skipCandidates(*document.graph(), layers);
        QCOMPARE(found.size(), std::size_t(4));
        QCOMPARE(found[0].quantized, std::vector{NodeId(0)});
        QCOMPARE(found[1].quantized, std::vector{NodeId(4)});
        QCOMPARE(found[2].quantized, std::vector{NodeId(0)});
        QCOMPARE(found[2].detail, std::uint64_t(100));
        QCOMPARE(found[3].quantized, std::vector{NodeId(2)});
        layers[0].state = LayerState::Skipped;
        found = skipCandidates(*document.graph(), layers);
        QVERIFY(found[0].quantized.empty());
        QCOMPARE(found[0].inFloat, std::size_t(1));
        layers[2].local->cosine = 0.99;  // not below
        QVERIFY(skipCandidates(*document.graph(), layers)[3].quantized.empty());
        QVERIFY(skipCandidates(*document.graph(), {}).empty());
    }

    // The first layer may have few parameters, too: it is one layer.
    void aLayerInSeveralGroupsCountsOnce() {
        std::vector<SkipCandidates> groups(4);
        groups[0].quantized = {NodeId(0), NodeId(1)};
        groups[2].quantized = {NodeId(0), NodeId(4)};
        groups[3].quantized = {NodeId(4)};
        QCOMPARE(amctLayersLeft(groups), std::size_t(3));
        QCOMPARE(amctLayersLeft({}), std::size_t(0));
    }

    void nextStepIsNotACompletedStep() {
        AmctState state;
        state.present = AmctStep::Skip;
        QCOMPARE(amctNextWords(state), QStringLiteral("Next: step 2."));
        state.present = AmctStep::Parameters;
        state.untried = 3;
        QCOMPARE(amctNextWords(state), QStringLiteral("Next: step 4."));
        state.done[static_cast<std::size_t>(AmctStep::Parameters)] = true;
        QVERIFY2(amctNextWords(state).contains("3 of its variants"), qPrintable(amctNextWords(state)));
        state.untried = 0;
        QVERIFY2(amctNextWords(state).contains("one of its variants is better"),
                 qPrintable(amctNextWords(state)));
        QVERIFY(!amctNextWords(state).contains("Next: step"));
    }

    void eachInputHasItsFirstLayer() {
        Document document;
        const auto path = test::writeModel(
            m_folder,
            QStringLiteral(
                R"(<ir_version: 8, opset_import: ["" : 13]> two (float[N,2,4,4] X, float[N,2,4,4] Z) => (float[N,2,4,4] Y, float[N,2,4,4] B)
            <float[2,2,1,1] V = {1, 0.5, -1, 0.25}, float[2,2,1,1] W = {1, 2, -1, 3}, float[2,2,1,1] U = {1, 0, -1, 1}>
            { R = Relu(X) A = Conv(R, V) B = Conv(Z, W) S = Add(A, B) Y = Conv(S, U) })"),
            QStringLiteral("two.onnx"));
        QVERIFY(test::openAndWait(document, path));
        std::vector<LayerResult> layers = document.layers();
        for (LayerResult& layer : layers)
            if (layer.quantizable) layer.state = LayerState::Quantized;
        const auto found = skipCandidates(*document.graph(), layers);
        const auto names = [&](std::size_t reason) {
            QStringList list;
            for (const NodeId node : found[reason].quantized)
                list << QString::fromStdString(document.graph()->node(node).op +
                                               std::to_string(node.index()));
            return list.join(QLatin1Char(' '));
        };
        QCOMPARE(names(0), QStringLiteral("Conv1 Conv2"));  // a Relu before the first is none
        QCOMPARE(names(1), QStringLiteral("Conv2 Conv4"));  // a branch ends where its output is
    }

    void eachVariantChangesOneSettingThatAmctAllows() {
        const QuantizationConfig amct = presetConfig(kAmctPreset);
        const auto variants = amctVariants(amct);
        QVERIFY(variants.size() >= 7);
        for (const AmctVariant& variant : variants) {
            QVERIFY(!haveSameResults(variant.edit.next, amct));
            // only the settings of step 4
            QVERIFY(haveSameResults(amctSkippedOnly(variant.edit.next), amct));
            const auto& parameters = variant.edit.next.calibration.parameters;
            const bool ifmr = parameters.maxPercentile || parameters.searchRange || parameters.searchStep;
            QVERIFY2(!(ifmr && parameters.numOfBins), qPrintable(variant.title));  // AMCT rejects both
            QVERIFY(!variant.why.isEmpty());
        }
        QuantizationConfig hfmg = amct;
        hfmg.calibration.method = CalibrationMethod::Hfmg;
        int bins = 0;
        for (const AmctVariant& variant : amctVariants(hfmg))
            bins += variant.edit.next.calibration.parameters.numOfBins.has_value();
        QCOMPARE(bins, 3);  // the fourth is the current one
        for (const AmctVariant& variant : amctVariants(presetConfig("default")))
            QVERIFY(variant.edit.next.calibration.parameters == CalibrationParameters{});
    }
};

QTEST_MAIN(AmctStateTest)
#include "amct_state_test.moc"
