// SPDX-License-Identifier: Apache-2.0
// The inspector: facts, comments, and the distributions of a layer.
#include "panels/inspector.h"

#include <QApplication>
#include <QClipboard>
#include <QComboBox>
#include <QSettings>
#include <QTest>

#include "commands/layer_edits.h"
#include "inspector_on_chain.h"
#include "model/graph_builder.h"
#include "panels/distribution_section.h"
#include "panels/metric_row.h"
#include "panels/override_section.h"
#include "panels/tensor_window.h"
#include "widgets/basics.h"

using namespace quantloupe;
using namespace quantloupe::ui;

class InspectorTest : public QObject, private test::InspectorOnChain {
    Q_OBJECT
  private Q_SLOTS:
    void initTestCase() { test::keepSettingsIn(m_folder); }
    void init() { QVERIFY(openInspector()); }
    void cleanup() { closeInspector(); }

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
        const QChar space(0x200b);
        setBreakableText(label.get(), QStringLiteral("model.encoder_layers.11.attention"));
        QCOMPARE(label->text().split(space),
                 (QStringList{QStringLiteral("model."), QStringLiteral("encoder_"), QStringLiteral("layers."),
                              QStringLiteral("11."), QStringLiteral("attention")}));
        setBreakableText(label.get(), QStringLiteral("conv"));
        QCOMPARE(label->text(), QStringLiteral("conv"));
        QVERIFY(label->textInteractionFlags().testFlag(Qt::TextSelectableByMouse));
    }

    /// The module is shown if the name does not contain it, and a long one is broken, too.
    void theModuleIsAFact() {
        const QString module = QStringLiteral("encoder.") + QString(200, QLatin1Char('a'));
        GraphBuilder builder(*m_document->graph());
        builder.node(node("Conv_2")).modulePath = "/encoder/" + std::string(200, 'a') + "/Conv";
        const auto path = std::filesystem::path(m_folder.path().toStdString()) / "modules.onnx";
        saveModel(*builder.build(), path);
        QVERIFY(test::openAndWait(*m_document, path));
        m_document->select(node("Conv_0"));
        const int before = m_inspector->widget()->minimumSizeHint().width();
        m_document->select(node("Conv_2"));
        const auto labels = m_inspector->findChildren<QLabel*>();
        const auto shown =
            std::ranges::find_if(labels, [&](const QLabel* label) { return textOf(label) == module; });
        QVERIFY(shown != labels.end());
        QVERIFY((*shown)->minimumSizeHint().width() < 300);
        QVERIFY(m_inspector->widget()->minimumSizeHint().width() < before + 200);
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
    // AMCT's skip_fusion_layers.
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
    bool waitForInsight() {
        return QTest::qWaitFor([&] { return m_inspector->distributions()->model()->insight() != nullptr; },
                               20000);
    }
};

QTEST_MAIN(InspectorTest)
#include "inspector_test.moc"
