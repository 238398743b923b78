// SPDX-License-Identifier: Apache-2.0
// The inspector's section "This layer" by mouse and keyboard: settings of one layer and of several, copying,
// and locking.
#include "panels/override_section.h"

#include <QApplication>
#include <QClipboard>

#include "commands/layer_edits.h"
#include "inspector_on_chain.h"
#include "widgets/basics.h"

using namespace quantloupe;
using namespace quantloupe::ui;

class OverrideSectionTest : public QObject, private test::InspectorOnChain {
    Q_OBJECT
  private Q_SLOTS:
    void initTestCase() { test::keepSettingsIn(m_folder); }
    void init() { QVERIFY(openInspector()); }
    void cleanup() { closeInspector(); }

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
        // The name of the batch norm keeps it, too.
        QuantizationConfig config = m_document->config();
        config.transforms.skipFolding = {"BatchNormalization_1"};
        m_document->edit({config, QStringLiteral("Keep"), {}});
        for (const char* name : {"Conv_0", "BatchNormalization_1"}) {
            m_document->select(node(name));
            QCOMPARE(box("Batch norm")->currentIndex(), 1);
        }
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

    void layersWithoutAQuantizerOfTheirOwn() {
        m_document->select(node("Relu_1"));
        QVERIFY(m_document->layer(node("Relu_1"))->state == LayerState::Fused);
        for (const char* name : {"Output", "Output codes", "Output range"}) QVERIFY(!box(name)->isEnabled());
        m_document->select({node("Conv_0"), node("Relu_1")}, node("Conv_0"));
        QVERIFY(box("Output")->isEnabled());

        // A setting without effect can be reset.
        QuantizationConfig config = m_document->config();
        config.layers["Relu_1"].activationBits = 6;
        m_document->edit({config, QStringLiteral("Bits"), {}});
        m_document->select(node("Relu_1"));
        QVERIFY(box("Output")->isEnabled());
        click("Reset");
        QVERIFY(!box("Output")->isEnabled());
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
};

QTEST_MAIN(OverrideSectionTest)
#include "override_section_test.moc"
