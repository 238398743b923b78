// SPDX-License-Identifier: Apache-2.0
// The inspector by mouse and keyboard: settings of one layer and of several, copying, locking, and the
// layer's distributions.
#include "panels/inspector.h"

#include <QApplication>
#include <QClipboard>
#include <QComboBox>
#include <QSettings>
#include <QTest>

#include "commands/layer_edits.h"
#include "panels/distribution_section.h"
#include "panels/metric_row.h"
#include "panels/override_section.h"
#include "panels/tensor_window.h"
#include "ui_test_support.h"
#include "widgets/basics.h"

using namespace quantloupe;
using namespace quantloupe::ui;

class InspectorTest : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void initTestCase() { test::keepSettingsIn(m_folder); }
    void init() {
        m_document = std::make_unique<Document>();
        QVERIFY(test::openAndWait(*m_document, test::writeModel(m_folder)));
        m_inspector = std::make_unique<Inspector>(m_document.get());
        m_inspector->resize(420, 1800);
        m_inspector->show();
        QVERIFY(QTest::qWaitForWindowExposed(m_inspector.get()));
    }
    void cleanup() {
        m_inspector.reset();
        m_document.reset();
    }

    void bitsOfAllSelectedLayersAreOneUndoStep() {
        m_document->select({node("Conv_0"), node("Conv_2")}, node("Conv_0"));
        choose(box("Weights"), QStringLiteral("5 bits"));
        QCOMPARE(settings("Conv_0").weightBits, std::optional<int>(5));
        QCOMPARE(settings("Conv_2").weightBits, std::optional<int>(5));
        m_document->undoStack()->undo();
        QVERIFY(!m_document->config().layers.contains("Conv_0"));
        QVERIFY(!m_document->config().layers.contains("Conv_2"));
    }

    /// The controls show the bits of a precision, and change or replace them.
    void bitsOfALayersOwnPrecision() {
        QuantizationConfig config = m_document->config();
        config.layers["Conv_0"].precision = Precision::integer(4, 16);
        config.layers["Conv_2"].precision = Precision::float32();
        m_document->edit({config, QStringLiteral("Precisions"), {}});
        m_document->select(node("Conv_0"));
        QCOMPARE(box("Weights")->currentText(), QStringLiteral("4 bits"));
        QCOMPARE(box("Output")->currentText(), QStringLiteral("16 bits"));
        auto* const lock = m_inspector->findChild<OverrideSection*>()->findChild<SegmentedControl*>();
        QCOMPARE(lock->currentIndex(), 1);
        choose(box("Weights"), QStringLiteral("9 bits"));
        QCOMPARE(settings("Conv_0").precision, std::optional(Precision::integer(9, 16)));
        QCOMPARE(box("Weights")->currentText(), QStringLiteral("9 bits"));
        choose(box("Weights"), QStringLiteral("(8 bits)"));
        QVERIFY(!settings("Conv_0").precision && !settings("Conv_0").weightBits);
        QCOMPARE(settings("Conv_0").activationBits, std::optional(16));

        config = m_document->config();
        config.layers["Conv_0"].precision = Precision::float16();
        m_document->edit({config, QStringLiteral("Half"), {}});
        QCOMPARE(lock->currentIndex(), 2);
        choose(box("Weights"), QStringLiteral("(8 bits)"));  // it is shown, and changes nothing
        QCOMPARE(settings("Conv_0").precision, std::optional(Precision::float16()));

        m_document->select(node("Conv_2"));
        QCOMPARE(lock->currentIndex(), 2);
        lock->button(0)->click();
        QVERIFY(!m_document->config().layers.contains("Conv_2"));
        QCOMPARE(lock->currentIndex(), 0);
    }

    void weightSettingsAreForLayersWithWeights() {
        m_document->select(node("Relu_3"));
        QVERIFY(!box("Weights")->isVisible() && !box("Bias")->isVisible() && box("Output")->isVisible());
        m_document->select({node("Conv_0"), node("Relu_3")}, node("Conv_0"));
        QVERIFY(box("Weights")->isVisible());
        choose(box("Weights"), QStringLiteral("5 bits"));  // of both layers, so it stays visible
        m_document->select(node("Relu_3"));
        QVERIFY(box("Weights")->isVisible());
    }

    /// Several selected layers are kept in float, and quantized again, with one button.
    void oneButtonTogglesAllSelectedLayers() {
        const auto shown = [this](const char* text) -> QPushButton* {
            for (QPushButton* button : m_inspector->findChildren<QPushButton*>())
                if (button->isVisible() && button->text() == QLatin1String(text)) return button;
            return nullptr;
        };
        connect(m_inspector.get(), &Inspector::toggleRequested, m_document.get(), &Document::toggleSelection);
        m_document->select(node("Conv_0"));
        QVERIFY(shown("Keep in Float"));
        QVERIFY(!shown("Keep All in Float"));
        m_document->select({node("Conv_0"), node("Conv_2")}, node("Conv_0"));
        QVERIFY(!shown("Keep in Float"));
        QVERIFY(shown("Keep All in Float"));
        QTest::mouseClick(shown("Keep All in Float"), Qt::LeftButton);
        QTRY_VERIFY(shown("Quantize All"));
        for (const char* name : {"Conv_0", "Conv_2"})
            QVERIFY(m_document->layer(node(name))->state == LayerState::Skipped);
        QTest::mouseClick(shown("Quantize All"), Qt::LeftButton);
        QTRY_VERIFY(shown("Keep All in Float"));
    }

    void differingValuesAreShownAsMixed() {
        m_document->select(node("Conv_0"));
        choose(box("Weights"), QStringLiteral("4 bits"));
        m_document->select({node("Conv_0"), node("Conv_2")}, node("Conv_0"));
        QCOMPARE(box("Weights")->currentIndex(), -1);
        m_document->select(node("Conv_2"));
        QCOMPARE(box("Weights")->currentIndex(), 0);
        QVERIFY2(box("Weights")->currentText().contains(QStringLiteral("8 bits")),
                 qPrintable(box("Weights")->currentText()));
        choose(box("Weights"), QStringLiteral("4 bits"));
        choose(box("Weights"), box("Weights")->itemText(0));
        QVERIFY(!m_document->config().layers.contains("Conv_2"));  // as the network: no setting remains
    }

    void constantsAreNamedByTheirRole() {
        m_document->select(node("Conv_2"));
        const auto shows = [&](const char* text) {
            return std::ranges::any_of(m_inspector->findChildren<QLabel*>(), [&](const QLabel* label) {
                return label->text() == QLatin1String(text);
            });
        };
        QVERIFY(shows("weight") && shows("W") && shows("input") && shows("output"));
        QVERIFY(!shows("constant"));
    }

    /// An activation that runs inside a layer has no values of its own.
    void aFusedLayerShowsTheValuesOfItsHost() {
        const auto values = [&] {
            QStringList texts;
            for (const auto* row : m_inspector->findChildren<MetricRow*>()) texts << row->value();
            return texts;
        };
        m_document->select(node("Conv_2"));
        const QStringList own = values();
        QVERIFY(own.size() > 5);
        m_document->select(node("Relu_3"));
        QVERIFY(m_document->layer(node("Relu_3"))->state == LayerState::Fused);
        QCOMPARE(values(), own);
    }

    /// A long name does not push the other contents out of the panel.
    void longNamesBreak() {
        std::unique_ptr<QLabel> label(makeLabel({}, ""));
        label->setWordWrap(true);
        label->setTextInteractionFlags(Qt::TextSelectableByMouse);
        const QString name(200, QLatin1Char('n'));
        setBreakableText(label.get(), name);
        QVERIFY(label->minimumSizeHint().width() < label->fontMetrics().horizontalAdvance(name.left(40)));
        QCOMPARE(textOf(label.get()), name);
        QCOMPARE(label->textInteractionFlags(), Qt::NoTextInteraction);
        setBreakableText(label.get(), QStringLiteral("conv"));
        QCOMPARE(label->text(), QStringLiteral("conv"));
        QVERIFY(label->textInteractionFlags().testFlag(Qt::TextSelectableByMouse));
    }

    void theNameInClikaIsAFact() {
        m_document->select(node("Conv_2"));
        const auto labels = m_inspector->findChildren<QLabel*>();
        const auto shows = [&](const char* text) {
            return std::ranges::any_of(
                labels, [&](const QLabel* label) { return label->text() == QLatin1String(text); });
        };
        QVERIFY(shows("in CLIKA"));
        QVERIFY(shows("conv_1"));
    }

    // AMCT's `asymmetric` of single layers; the settings apply to the input if only inputs are quantized.
    void symmetryOfSingleLayers() {
        m_document->select(node("Conv_2"));
        choose(box("Output codes"), QStringLiteral("symmetric"));
        QCOMPARE(settings("Conv_2").activationSymmetric, std::optional<bool>(true));
        choose(box("Output codes"), QStringLiteral("asymmetric"));
        QCOMPARE(settings("Conv_2").activationSymmetric, std::optional<bool>(false));
        QuantizationConfig config = m_document->config();
        config.quantization.placement = Placement::WeightedInputs;
        m_document->edit({config, QStringLiteral("inputs"), {}});
        for (const char* name : {"Input", "Input codes", "Input range"}) QVERIFY2(box(name), name);
        QVERIFY(box("Input")->toolTip().contains(QStringLiteral("reads")));
        QVERIFY(!box("Output codes") && !box("Output range"));
        choose(box("Input codes"), box("Input codes")->itemText(0));
        QVERIFY(!m_document->config().layers.contains("Conv_2"));
    }

    // AMCT's skip_fusion_layers.
    void aLayerKeepsItsBatchNorm() {
        const auto path =
            test::writeModel(m_folder, QStringLiteral(R"(<ir_version: 8, opset_import: ["" : 13]>
            norms (float[N,2,4,4] X) => (float[N,2,4,4] Y)
            <float[2,2,1,1] V = {1, 0.5, -1, 0.25}, float[2] one = {1, 1}, float[2,2,1,1] W = {1, 2, -1, 3}>
            { A = Conv(X, V) B = BatchNormalization(A, one, one, one, one) Y = Conv(B, W) })"),
                             QStringLiteral("norms.onnx"));
        QVERIFY(test::openAndWait(*m_document, path));
        m_document->select(node("Conv_2"));
        QVERIFY(!box("Batch norm")->isVisible());
        m_document->select(node("Conv_0"));
        QVERIFY(box("Batch norm")->isVisible());
        QCOMPARE(box("Batch norm")->currentText(), QStringLiteral("folded"));
        choose(box("Batch norm"), QStringLiteral("kept"));
        QCOMPARE(m_document->config().transforms.skipFolding, std::vector<std::string>{"Conv_0"});
        choose(box("Batch norm"), QStringLiteral("folded"));
        QVERIFY(m_document->config().transforms.skipFolding.empty());
    }

    void lockOverridesTheRules() {
        m_document->select(node("Conv_4"));  // of the tail
        QVERIFY(m_document->layer(node("Conv_4"))->state == LayerState::Skipped);
        click("quantized");
        QVERIFY(m_document->layer(node("Conv_4"))->state == LayerState::Quantized);
        click("float");
        QVERIFY(m_document->layer(node("Conv_4"))->state == LayerState::Skipped);
        QCOMPARE(settings("Conv_4").quantize, std::optional<bool>(false));
        click("by rules");
        QVERIFY(!m_document->config().layers.contains("Conv_4"));
    }

    void layerMethodShowsItsParameters() {
        m_document->select(node("Conv_0"));
        choose(box("Output range"), QStringLiteral("percentile"));
        QVERIFY(settings("Conv_0").calibrationMethod == CalibrationMethod::Percentile);
        auto* form = m_inspector->findChild<CalibrationForm*>();
        NumberField* field = form->field(QStringLiteral("percentile"));
        QVERIFY(field->isVisible());
        field->setFocus();
        QTest::keyClicks(field, QStringLiteral("0.99"));
        QTest::keyClick(field, Qt::Key_Return);
        QCOMPARE(settings("Conv_0").calibrationParameters.percentile.value_or(0), 0.99);
        QVERIFY(!m_document->config().calibration.parameters.percentile);
    }

    void pastingSettingsKeepsTheComment() {
        QuantizationConfig config = m_document->config();
        config.layers["Conv_2"].comment = "mind the gap";
        m_document->edit({config, QStringLiteral("comment"), {}});
        m_document->select(node("Conv_0"));
        choose(box("Weights"), QStringLiteral("3 bits"));
        choose(box("Output"), QStringLiteral("16 bits"));
        click("Copy");
        QVERIFY(QApplication::clipboard()->text().contains(QStringLiteral("\"bits\": 3")));
        m_document->select({node("Conv_2"), node("Conv_4")}, node("Conv_2"));
        click("Paste");
        for (const char* name : {"Conv_2", "Conv_4"}) {
            QCOMPARE(settings(name).weightBits, std::optional<int>(3));
            QCOMPARE(settings(name).activationBits, std::optional<int>(16));
        }
        QCOMPARE(settings("Conv_2").comment, std::string("mind the gap"));
        click("Reset");
        QCOMPARE(settings("Conv_2").comment, std::string("mind the gap"));
        QVERIFY(!m_document->config().layers.contains("Conv_4"));
        QApplication::clipboard()->setText(QStringLiteral("something else"));
        QSignalSpy said(m_document.get(), &Document::message);
        click("Paste");
        QCOMPARE(said.size(), 1);
    }

    void distributionsOfTheWeight() {
        m_document->select(node("Conv_2"));
        QVERIFY(waitForInsight());
        const LayerInsight& insight = *m_inspector->distributions()->model()->insight();
        QVERIFY(insight.details && insight.details->weight);
        // W = {1, 2, -1, 3}: the numbers stand in the model.
        QCOMPARE(insight.details->weight->floating.min(), -1.0);
        QCOMPARE(insight.details->weight->floating.max(), 3.0);
        QCOMPARE(insight.details->weight->floating.count(), std::uint64_t(4));
        QCOMPARE(insight.details->channels.size(), std::size_t(2));
        QCOMPARE(insight.details->channels[1].weightBefore->max, 3.0f);
        QCOMPARE(rangeRatio(insight.details->channels, false).value_or(0), 1.5);
    }

    void equalizationGroupCanBeDisabled() {
        m_document->edit(changeConfig(
            m_document->config(), QStringLiteral("equalize"),
            [](QuantizationConfig& c) { c.transforms.equalization.profile = EqualizationProfile::Aimet; }));
        QVERIFY(QTest::qWaitFor([&] { return !m_document->job()->busy(); }, 20000));
        m_document->select(node("Conv_0"));
        QVERIFY(waitForInsight());
        const LayerInsight* insight = m_inspector->distributions()->model()->insight();
        QCOMPARE(insight->partners.size(), std::size_t(1));
        QCOMPARE(insight->partners[0].layers, (std::vector<std::string>{"Conv_0", "Conv_2"}));
        // s = sqrt(r1 * r2) / r2, with r1 = {1, 1} (rows of V) and r2 = {1, 3} (columns of W).
        QCOMPARE(insight->factors.size(), std::size_t(2));
        QVERIFY(std::abs(insight->factors[0] - 1) < 1e-6 &&
                std::abs(insight->factors[1] - 1 / std::sqrt(3.0f)) < 1e-6);
        QAbstractButton* control = nullptr;
        for (auto* button : m_inspector->distributions()->findChildren<ToggleSwitch*>())
            if (button->accessibleName().startsWith(QStringLiteral("Equalize"))) control = button;
        QVERIFY(control);
        QSignalSpy changed(m_inspector->distributions()->model(), &LayerInsightModel::changed);
        QTest::mouseClick(control, Qt::LeftButton);
        QCOMPARE(m_document->config().transforms.equalization.off,
                 (std::vector<std::vector<std::string>>{{"Conv_0", "Conv_2"}}));
        QVERIFY(QTest::qWaitFor(
            [&] {
                const auto* now = m_inspector->distributions()->model()->insight();
                return now && !m_inspector->distributions()->model()->stale() && now->partners.size() == 1 &&
                       !now->partners[0].enabled;
            },
            20000));
    }

    void numbersAreCopiedAsCsv() {
        m_document->select(node("Conv_2"));
        QVERIFY(waitForInsight());
        TensorWindow window(*m_inspector->distributions()->model()->insight(), QStringLiteral("Conv_2"));
        window.showTable(1);
        QCOMPARE(window.asCsv(), QStringLiteral("channel,0,1\n0,1,2\n1,-1,3\n"));
        window.showTable(0);
        QVERIFY(window.asCsv().startsWith(QStringLiteral("channel,before min,before max,factor,")));
        QCOMPARE(window.asCsv().count(QLatin1Char('\n')), 3);
    }

    void resultsDoNotTakeTheFocus() {
        m_document->select(node("Conv_0"));
        auto* field = m_inspector->findChild<QPlainTextEdit*>();
        field->setFocus();
        QTest::keyClicks(field, QStringLiteral("half a word"));
        m_document->evaluate();
        QVERIFY(QTest::qWaitFor([&] { return !m_document->job()->busy(); }, 20000));
        QVERIFY(waitForInsight());
        QVERIFY(field->hasFocus());
        QCOMPARE(field->toPlainText(), QStringLiteral("half a word"));
    }

    void aCommentThatIsBeingTypedIsSaved() {
        const std::filesystem::path project = m_folder.filePath(QStringLiteral("p.quantloupe")).toStdString();
        typeComment("typed");
        QVERIFY(m_document->saveProject(project));
        QCOMPARE(loadProject(project).config.layers.at("Conv_2").comment, std::string("typed"));
        QTest::keyClicks(m_inspector->findChild<QPlainTextEdit*>(), QStringLiteral(" more"));
        m_document->takeTypedText();
        QVERIFY(!m_document->undoStack()->isClean());
    }

    /// The other model has a node with the same number.
    void aCommentThatIsBeingTypedGoesToNoOtherModel() {
        typeComment("of the first model");
        const QString other = QStringLiteral(R"(
            <ir_version: 8, opset_import: ["" : 13]>
            other (float[N,2,8,8] X) => (float[N,2,8,8] Y) { A = Relu(X) B = Tanh(A) Y = Sigmoid(B) })");
        QVERIFY(
            test::openAndWait(*m_document, test::writeModel(m_folder, other, QStringLiteral("other.onnx"))));
        QVERIFY(m_document->config().layers.empty());
        QVERIFY(m_document->undoStack()->isClean());
    }

    void aCommentThatIsBeingTypedSurvivesAReload() {
        QSignalSpy reloaded(m_document.get(), &Document::modelChanged);
        typeComment("typed");
        m_document->reload();
        QVERIFY(reloaded.wait(20000));
        QCOMPARE(settings("Conv_2").comment, std::string("typed"));
    }

    void distributionsOfOtherDataAreForgotten() {
        m_document->select(node("Conv_2"));
        QVERIFY(waitForInsight());
        QSignalSpy opened(m_document.get(), &Document::dataChanged);
        m_document->openData(test::writeChainSamples(m_folder));
        QVERIFY(opened.wait(20000));
        QVERIFY(m_inspector->distributions()->model()->insight() == nullptr);
    }

  private:
    void typeComment(const char* text) {
        m_document->select(node("Conv_2"));
        m_inspector->activateWindow();
        auto* field = m_inspector->findChild<QPlainTextEdit*>();
        field->setFocus();
        QVERIFY(QTest::qWaitFor([&] { return field->hasFocus(); }, 5000));
        QTest::keyClicks(field, QString::fromLatin1(text));
    }
    NodeId node(const char* name) const { return *m_document->graph()->findNode(name); }
    LayerSettings settings(const char* name) const {
        const auto& layers = m_document->config().layers;
        return layers.contains(name) ? layers.at(name) : LayerSettings{};
    }
    QComboBox* box(const char* name) const {
        for (QComboBox* box : m_inspector->findChildren<QComboBox*>())
            if (box->accessibleName() == QLatin1String(name)) return box;
        return nullptr;
    }
    /// By keyboard alone.
    static void choose(QComboBox* box, const QString& text) {
        box->setFocus();
        const int target = box->findText(text);
        QVERIFY2(target >= 0, qPrintable(text));
        if (box->currentIndex() < 0) QTest::keyClick(box, Qt::Key_Home);
        for (int i = 0; i < 40 && box->currentIndex() != target; ++i)
            QTest::keyClick(box, box->currentIndex() < target ? Qt::Key_Down : Qt::Key_Up);
        QCOMPARE(box->currentIndex(), target);
    }
    void click(const char* text) {
        for (QPushButton* button : m_inspector->overrides()->findChildren<QPushButton*>())
            if (button->text() == QLatin1String(text)) return QTest::mouseClick(button, Qt::LeftButton);
        QFAIL(text);
    }
    bool waitForInsight() {
        return QTest::qWaitFor([&] { return m_inspector->distributions()->model()->insight() != nullptr; },
                               20000);
    }

    QTemporaryDir m_folder;
    std::unique_ptr<Document> m_document;
    std::unique_ptr<Inspector> m_inspector;
};

QTEST_MAIN(InspectorTest)
#include "inspector_test.moc"
