// SPDX-License-Identifier: Apache-2.0
// The tuning panel by mouse and keyboard: clicks and input change the configuration accordingly, and errors
// appear next to the invalid input.
#include "panels/tuning_panel.h"

#include <QComboBox>
#include <QPushButton>
#include <QSettings>
#include <QTest>

#include "config/config_json.h"
#include "config/layer_choices.h"
#include "config/presets.h"
#include "panels/calibration_form.h"
#include "panels/calibration_section.h"
#include "ui_test_support.h"
#include "widgets/aligned_rows.h"
#include "widgets/number_field.h"

using namespace quantloupe;
using namespace quantloupe::ui;

class TuningPanelTest : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void initTestCase() { test::keepSettingsIn(m_folder); }
    void init() {
        QSettings().clear();
        m_document = std::make_unique<Document>();
        QVERIFY(test::openAndWait(*m_document, test::writeModel(m_folder)));
        m_panel = std::make_unique<TuningPanel>(m_document.get());
        m_panel->resize(420, 1600);
        m_panel->show();
        QVERIFY(QTest::qWaitForWindowExposed(m_panel.get()));
    }
    void cleanup() {
        m_panel.reset();
        m_document.reset();
    }

    /// The controls of all sections begin at the same horizontal position, also the indented ones.
    void controlsAreAligned() {
        std::set<int> places;
        std::size_t rows = 0;
        for (auto* label : m_panel->findChildren<QLabel*>(kRowLabel)) {
            const QLayout* row = label->parentWidget()->layout();
            const QWidget* control = row->itemAt(row->indexOf(label) + 1)->widget();
            if (!control->isVisible()) continue;
            places.insert(control->mapTo(m_panel.get(), QPoint()).x());
            ++rows;
            QVERIFY2(label->heightForWidth(label->width()) <= label->height() + 1, qPrintable(label->text()));
        }
        QVERIFY(rows >= 8);
        QCOMPARE(places.size(), std::size_t(1));
    }

    void aQuantizedModelIsReported() {
        const auto banner = [&] {
            for (auto* label : m_panel->findChildren<QLabel*>())
                if (label->isVisible() && label->text().contains(QStringLiteral("already quantized")))
                    return true;
            return false;
        };
        auto* preset = named<QComboBox>("Preset");
        QVERIFY(preset && preset->isEnabled());
        QVERIFY(!banner());
        const auto path = test::writeModel(
            m_folder,
            QStringLiteral(R"(<ir_version: 8, opset_import: ["" : 13]> q (float[N,2] X) => (float[N,2] Y)
            <float S = {0.5}, int8 Z = {0}> { Q = QuantizeLinear(X, S, Z) D = DequantizeLinear(Q, S, Z) Y = Relu(D) })"),
            QStringLiteral("quantized.onnx"));
        QVERIFY(test::openAndWait(*m_document, path));
        QVERIFY(banner());
        QVERIFY(!preset->isEnabled());
        QVERIFY(test::openAndWait(*m_document, test::writeModel(m_folder)));
        QVERIFY(!banner());
        QVERIFY(preset->isEnabled());
    }

    void aRuleIsSwitchedOffAndOn() {
        const std::string layer = m_document->graph()->nodes()[0].name;
        const auto state = [&] { return m_document->layers()[0].state; };
        QVERIFY(m_document->edit({withLayersSkipped(config(), {layer}), QStringLiteral("skip"), {}}));
        QVERIFY(QTest::qWaitFor([&] { return !m_document->evaluating() && state() == LayerState::Skipped; },
                                20000));
        const auto entries = m_document->history().entries().size();
        const QString name = QStringLiteral("Rule: layer ") + QString::fromStdString(layer);
        auto* on = named<QAbstractButton>(qPrintable(name));
        QVERIFY(on && on->isChecked());
        QTest::mouseClick(on, Qt::LeftButton);
        QCOMPARE(config().rules.size(), std::size_t{1});
        QVERIFY(config().rules[0].off);
        QVERIFY(state() == LayerState::Quantized);  // at once
        QVERIFY(QTest::qWaitFor([&] { return !m_document->evaluating(); }, 20000));
        QVERIFY(state() == LayerState::Quantized);
        QCOMPARE(m_document->history().entries().size(), entries);  // as it was evaluated without the rule
        bool told = false;
        for (auto* label : m_panel->findChildren<QLabel*>())
            told = told || label->text().startsWith(QStringLiteral("off \u00b7 1 layer"));
        QVERIFY(told);
        on = named<QAbstractButton>(qPrintable(name));
        QVERIFY(on && !on->isChecked());
        on->setFocus();
        QTest::keyClick(on, Qt::Key_Space);
        QVERIFY(!config().rules[0].off);
        QVERIFY(state() == LayerState::Skipped);
        QTRY_VERIFY(named<QAbstractButton>(qPrintable(name))->hasFocus());
        m_document->undoStack()->undo();
        QVERIFY(config().rules[0].off);
    }

    void everyProfileOfEqualizationCanBeChosen() {
        auto* box = named<QComboBox>("Cross-layer equalization");
        QVERIFY(box);
        const EqualizationProfile wanted[] = {EqualizationProfile::Aimet, EqualizationProfile::Quark,
                                              EqualizationProfile::Quantloupe, EqualizationProfile::Off};
        for (const EqualizationProfile profile : wanted) {
            // Uses the arrow keys: selecting list entries by first letter would be ambiguous.
            box->setFocus();
            const int target = static_cast<int>(profile);
            while (box->currentIndex() != target)
                QTest::keyClick(box, box->currentIndex() < target ? Qt::Key_Down : Qt::Key_Up);
            QVERIFY(config().transforms.equalization.profile == profile);
            QCOMPARE(named<NumberField>("Weight threshold")->isVisible(),
                     profile == EqualizationProfile::Quark);
            QCOMPARE(named<QAbstractButton>("Include biases in the ranges", true)->isVisible(),
                     profile == EqualizationProfile::Quark || profile == EqualizationProfile::Quantloupe);
        }
        QVERIFY(!named<NumberField>("Passes")->isVisible());
    }

    void invalidPassesAreMarkedInTheField() {
        m_document->edit(changeConfig(config(), QStringLiteral("on"), [](QuantizationConfig& c) {
            c.transforms.equalization.profile = EqualizationProfile::Aimet;
        }));
        auto* field = named<NumberField>("Passes");
        type(field, "7");
        QCOMPARE(config().transforms.equalization.steps, 7);
        type(field, "7000");
        QCOMPARE(config().transforms.equalization.steps, 7);
        QVERIFY2(field->complaint().contains(QStringLiteral("steps")), qPrintable(field->complaint()));
        QCOMPARE(field->text(), QStringLiteral("7000"));  // stays to be corrected
        field->setFocus();
        QTest::keyClick(field, Qt::Key_Escape);
        QCOMPARE(field->text(), QStringLiteral("7"));
        QVERIFY(field->complaint().isEmpty());
        type(field, "7000");
        QVERIFY(!field->complaint().isEmpty());
        type(field, "7");  // the value that it has
        QVERIFY(field->complaint().isEmpty());
        QTest::mouseClick(named<QAbstractButton>("Until converged", true), Qt::LeftButton);
        QCOMPARE(config().transforms.equalization.steps, -1);
        QVERIFY(!field->isVisible());
        QVERIFY(named<NumberField>("Convergence threshold")->isVisible());
    }

    void oneClickAppliesAimetsEqualizeModel() {
        auto* button = named<QAbstractButton>("Use AIMET's equalize_model", true);
        QVERIFY(button);
        QTest::mouseClick(button, Qt::LeftButton);
        const TransformOptions& transforms = config().transforms;
        QVERIFY(transforms.foldBatchNorm && transforms.highBiasFold);
        QCOMPARE(transforms.replaceRelu6, ReplaceRelu6::Between);
        QCOMPARE(transforms.equalization.profile, EqualizationProfile::Aimet);
        QCOMPARE(transforms.equalization.steps, 1);
        m_document->undoStack()->undo();
        QCOMPARE(config().transforms.equalization.profile, EqualizationProfile::Off);  // one step
    }

    void biasCorrectionAndRoundingAreClicked() {
        const std::pair<const char*, BiasCorrection> choices[] = {{"analytic", BiasCorrection::Analytic},
                                                                  {"empirical", BiasCorrection::Empirical},
                                                                  {"off", BiasCorrection::Off}};
        for (const auto& [text, value] : choices) {
            auto* button = named<QPushButton>(text, true);
            QVERIFY(button);
            QTest::mouseClick(button, Qt::LeftButton);
            QVERIFY(config().refine.biasCorrection == value);
        }
        auto* rounding = named<QAbstractButton>("Learned rounding", true);
        QTest::mouseClick(rounding, Qt::LeftButton);
        QVERIFY(config().refine.rounding == Rounding::Adaround);
        rounding->setFocus();
        QTest::keyClick(rounding, Qt::Key_Space);
        QVERIFY(config().refine.rounding == Rounding::Nearest);
    }

    void invalidMigrationIsMarkedInTheField() {
        auto* field = named<NumberField>("Outlier migration");
        QVERIFY(field);
        QCOMPARE(field->text(), QStringLiteral("0"));
        type(field, "0.5");
        QCOMPARE(config().refine.migration, 0.5);
        type(field, "2");
        QCOMPARE(config().refine.migration, 0.5);
        QVERIFY(field->complaint().contains(QStringLiteral("0 to 1")));
    }

    void methodShowsOnlyItsParameters() {
        const std::pair<CalibrationMethod, QStringList> expected[] = {
            {CalibrationMethod::MinMax, {}},
            {CalibrationMethod::MovingAverage, {"averaging_constant"}},
            {CalibrationMethod::Percentile, {"percentile", "num_bins"}},
            {CalibrationMethod::Entropy, {"num_bins", "num_quantized_bins"}},
            {CalibrationMethod::Mse, {"search_range", "search_step"}},
            {CalibrationMethod::TfEnhanced, {}},
            {CalibrationMethod::PowerOfTwoMinMse, {"num_bins"}},
            {CalibrationMethod::Ifmr, {"max_percentile", "min_percentile", "search_range", "search_step"}},
            {CalibrationMethod::Hfmg, {"num_of_bins"}},
        };
        const auto* form = m_panel->findChild<CalibrationForm*>();
        for (const auto& [method, keys] : expected) {
            m_document->edit(changeConfig(config(), QStringLiteral("method"),
                                          [m = method](QuantizationConfig& c) { c.calibration.method = m; }));
            QStringList seen;
            for (const char* key :
                 {"averaging_constant", "percentile", "max_percentile", "min_percentile", "search_range",
                  "search_step", "num_bins", "num_quantized_bins", "num_of_bins"})
                if (form->field(QString::fromLatin1(key))->isVisible()) seen << QString::fromLatin1(key);
            std::ranges::sort(seen);
            QStringList wanted = keys;
            std::ranges::sort(wanted);
            QCOMPARE(seen, wanted);
        }
    }

    void wrongParametersShowTheirOwnMessages() {
        m_document->edit(changeConfig(config(), QStringLiteral("method"), [](QuantizationConfig& c) {
            c.calibration.method = CalibrationMethod::Ifmr;
        }));
        const auto* form = m_panel->findChild<CalibrationForm*>();
        NumberField* end = form->field(QStringLiteral("search_range"), 1);
        QCOMPARE(end->placeholderText(), QStringLiteral("1.3"));
        type(end, "1.8");
        // The limit that was not entered is the default, shown in gray.
        QVERIFY((config().calibration.parameters.searchRange == std::array<double, 2>{0.7, 1.8}));
        type(end, "0.5");
        QVERIFY((config().calibration.parameters.searchRange == std::array<double, 2>{0.7, 1.8}));
        QVERIFY2(end->complaint().contains(QStringLiteral("search_range")), qPrintable(end->complaint()));
        type(end, "1.8");
        NumberField* percentile = form->field(QStringLiteral("max_percentile"));
        type(percentile, "0.999");
        QCOMPARE(config().calibration.parameters.maxPercentile.value_or(0), 0.999);
        type(percentile, "");
        QVERIFY(!config().calibration.parameters.maxPercentile);
        type(percentile, "many");
        QVERIFY(!percentile->complaint().isEmpty());
        QVERIFY(!config().calibration.parameters.maxPercentile);
    }

    void everyPresetIsListed() {
        auto* box = named<QComboBox>("Preset");
        QCOMPARE(box->count(), static_cast<int>(presets().size()));
        for (std::size_t i = 0; i < presets().size(); ++i) {
            box->setFocus();
            while (box->currentIndex() != static_cast<int>(i))
                QTest::keyClick(box, box->currentIndex() < static_cast<int>(i) ? Qt::Key_Down : Qt::Key_Up);
            QCOMPARE(config().preset, presets()[i].name);
            QVERIFY(!differsFromPreset(config()));
        }
    }

    void advancedSettingsCollapseAndRememberTheirState() {
        auto* heading = named<SectionHeading>("Advanced");
        auto* scales = named<QAbstractButton>("Power-of-two weight scales", true);
        QVERIFY(!scales->isVisible());
        QTest::mouseClick(heading, Qt::LeftButton);
        QVERIFY(scales->isVisible());
        QTest::mouseClick(scales, Qt::LeftButton);
        QVERIFY(config().quantization.weight.powerOfTwo);
        QTest::mouseClick(named<QAbstractButton>("Restricted range", true), Qt::LeftButton);
        QVERIFY(!config().quantization.weight.restricted);
        auto* method = named<QComboBox>("Weight scale method");
        method->setFocus();
        QTest::keyClick(method, Qt::Key_End);
        QVERIFY(config().quantization.weight.method == WeightMethod::FullSpan);
        TuningPanel again(m_document.get());
        again.show();
        const auto switches = again.findChildren<QAbstractButton*>();
        const auto found =
            std::ranges::find(switches, QStringLiteral("Power-of-two weight scales"), &QAbstractButton::text);
        QVERIFY((*found)->isVisible());  // the next window opens as this one was left
        heading->setFocus();
        QTest::keyClick(heading, Qt::Key_Space);
        QVERIFY(!scales->isVisible());
    }

    void operatorsAreChosen() {
        QTest::mouseClick(named<SectionHeading>("Advanced"), Qt::LeftButton);
        auto* box = named<QComboBox>("Which operators are quantized");
        QVERIFY(box && box->isVisible());
        box->setFocus();
        QTest::keyClick(box, Qt::Key_End);
        QVERIFY(config().quantization.operators == OperatorSet::Quark);
        m_document->undoStack()->undo();
        QVERIFY(config().quantization.operators == OperatorSet::Layers);
        QCOMPARE(box->currentIndex(), 0);
    }

    /// Each switch sets the key that it says it sets, no other, and undo takes it back.
    void everySwitchOfTheNpuSetsItsKey() {
        const std::pair<const char*, const char*> switches[] = {
            {"Averages with factor k / 2\u207f", "transforms.npu_operators.average_pool"},
            {"LeakyRelu slopes in 1/256", "transforms.npu_operators.leaky_relu"},
            {"Sigmoid as HardSigmoid", "transforms.npu_operators.sigmoid"},
            {"Align Concat", "quantization.npu_positions.align_concat"},
            {"Align pools", "quantization.npu_positions.align_pool"},
            {"Align Pad", "quantization.npu_positions.align_pad"},
            {"Align Slice", "quantization.npu_positions.align_slice"},
            {"Read shift", "quantization.npu_positions.adjust_shift_read"},
            {"Write shift", "quantization.npu_positions.adjust_shift_write"},
            {"Cut shift", "quantization.npu_positions.adjust_shift_cut"},
            {"Bias shift", "quantization.npu_positions.adjust_shift_bias"},
            {"HardSigmoid", "quantization.npu_positions.adjust_hard_sigmoid"},
            {"Swish shift", "quantization.npu_positions.adjust_shift_swish"}};
        auto* heading = named<SectionHeading>("AMD NPU");
        QVERIFY(!named<QAbstractButton>("Align pools", true)->isVisible());
        QTest::mouseClick(heading, Qt::LeftButton);
        const QuantizationConfig before = config();
        for (const auto& [text, key] : switches) {
            auto* control = named<QAbstractButton>(text, true);
            QVERIFY2(control && control->isVisible(), text);
            QuantizationConfig wanted = before;
            setConfigKey(wanted, key, "true");
            QTest::mouseClick(control, Qt::LeftButton);
            QVERIFY2(config() == wanted, text);
            QVERIFY(control->isChecked());
            m_document->undoStack()->undo();
            QVERIFY2(config() == before, text);
            QVERIFY(!control->isChecked());
        }
    }

    void allPositionRulesAndRounds() {
        QTest::mouseClick(named<SectionHeading>("AMD NPU"), Qt::LeftButton);
        auto* loops = named<NumberField>("Rounds of position rules");
        QVERIFY(!loops->isVisible());
        QTest::mouseClick(named<QPushButton>("All position rules"), Qt::LeftButton);
        QVERIFY(config().quantization.npuPositions.alignConcat &&
                config().quantization.npuPositions.adjustShiftSwish);
        QVERIFY(loops->isVisible());
        type(loops, "9");
        QCOMPARE(config().quantization.npuPositions.maxLoops, 9);
        type(loops, "0");
        QCOMPARE(config().quantization.npuPositions.maxLoops, 9);
        QVERIFY2(loops->complaint().contains(QStringLiteral("max_loops")), qPrintable(loops->complaint()));
        QTest::mouseClick(named<QPushButton>("No position rules"), Qt::LeftButton);
        QVERIFY(!config().quantization.npuPositions.alignConcat &&
                !config().quantization.npuPositions.adjustShiftSwish);
        m_document->undoStack()->undo();  // one step
        QVERIFY(config().quantization.npuPositions.alignConcat &&
                config().quantization.npuPositions.adjustShiftSwish);
    }

    void wheelOverAComboBoxScrollsThePanel() {
        auto* box = named<QComboBox>("Calibration method");
        m_panel->setFocus();
        const QuantizationConfig before = config();
        const QPointF at = box->rect().center();
        QWheelEvent wheel(at, box->mapToGlobal(at), {}, {0, -120}, Qt::NoButton, Qt::NoModifier,
                          Qt::NoScrollPhase, false);
        QCoreApplication::sendEvent(box, &wheel);
        QVERIFY(config() == before);
    }

  private:
    const QuantizationConfig& config() const { return m_document->config(); }
    /// By accessible name, or by the text on it.
    template <typename Widget>
    Widget* named(const char* name, bool byText = false) const {
        for (Widget* widget : m_panel->findChildren<Widget*>()) {
            if (!byText && widget->accessibleName() == QString::fromUtf8(name)) return widget;
            if constexpr (std::is_base_of_v<QAbstractButton, Widget>)
                if (byText && widget->text() == QString::fromUtf8(name)) return widget;
        }
        return nullptr;
    }
    static void type(QLineEdit* field, const char* text) {
        field->setFocus();
        field->selectAll();
        QTest::keyClick(field, Qt::Key_Backspace);
        QTest::keyClicks(field, QString::fromLatin1(text));
        QTest::keyClick(field, Qt::Key_Return);
    }

    QTemporaryDir m_folder;
    std::unique_ptr<Document> m_document;
    std::unique_ptr<TuningPanel> m_panel;
};

QTEST_MAIN(TuningPanelTest)
#include "tuning_panel_test.moc"
