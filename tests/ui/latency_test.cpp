// SPDX-License-Identifier: Apache-2.0
// Latency profiles in the window: importing, measuring, and the milliseconds in summary bar, graph, table and
// inspector, on the network of color_data.h.
#include "base/atomic_file.h"
#include "color_data.h"
#include "commands/layer_edits.h"
#include "config/layer_choices.h"
#include "dialogs/latency_dialog.h"
#include "panels/metric_row.h"
#include "support/python.h"
#include "window/main_window.h"

using namespace quantloupe;
using namespace quantloupe::ui;

namespace {

/// Every layer at 4 bits and in float: 2.75 ms and 5.5 ms. One name is of no layer.
const char* const kProfile =
    "layer,precision,ms\nConv_0,w4a8,2\nGlobalAveragePool_2,w4a8,0.25\nFlatten_3,w4a8,0\nGemm_4,w4a8,0.5\n"
    "Conv_0,float32,4\nGlobalAveragePool_2,float32,0.5\nFlatten_3,float32,0\nGemm_4,float32,1\n"
    "Reorder_17,w4a8,0.125\n";

}  // namespace

class LatencyTest : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void initTestCase() {
        test::keepSettingsIn(m_folder);
        m_data = test::writeColors(m_folder);
    }
    void init() {
        QSettings().clear();
        open();
        m_dialog = std::make_unique<LatencyDialog>(document());
        m_dialog->show();
    }
    void cleanup() {
        m_dialog.reset();
        m_window.reset();
    }

    void aProfileIsShownEverywhere() {
        QVERIFY(m_window->layerTable()->view()->isColumnHidden(LayerTableModel::Latency));
        import(kProfile);
        QVERIFY(shows(m_window.get(), QStringLiteral("2.75 ms, \u221250\u202f%")));
        QVERIFY(shows(m_window.get(), QStringLiteral("measured")));
        QVERIFY2(m_window->messageBar()->text().contains(QStringLiteral("Reorder_17")),
                 qPrintable(m_window->messageBar()->text()));
        QCOMPARE(test::child<QPlainTextEdit>(*m_dialog)->toPlainText(),
                 QStringLiteral("0.125 ms  Reorder_17"));
        QCOMPARE(test::child<QTableWidget>(*m_dialog)->item(0, 1)->text(), QStringLiteral("float32, w4a8"));

        QVERIFY(!m_window->layerTable()->view()->isColumnHidden(LayerTableModel::Latency));
        const LayerTableModel model(&document());
        QCOMPARE(model.index(0, LayerTableModel::Latency).data().toString(), QStringLiteral("2.00 ms"));
        QCOMPARE(model.index(1, LayerTableModel::Latency).data().toString(), QStringLiteral("\u2013"));
        QVERIFY(
            model.index(0, LayerTableModel::Latency).data(Qt::ToolTipRole).toString().contains("measured"));

        GraphCanvas* canvas = m_window->graphView()->canvas();
        canvas->setMetric(Metric::Latency);
        const NodeLook& conv = canvas->looks()[*canvas->index().boxOf(node("Conv_0"))];
        QCOMPARE(conv.number, QStringLiteral("2.00"));
        QCOMPARE(conv.heat, 1.0);
        QCOMPARE(conv.heatColor, heatColor(1, themeOf(canvas->palette()).dark));
        QVERIFY(whyNoValue(document(), document().layer(node("Relu_1")), Metric::Latency).contains("Conv_0"));

        document().select(node("Gemm_4"));
        const auto rows = m_window->inspector()->findChildren<MetricRow*>();
        QVERIFY(std::ranges::any_of(rows, [](const MetricRow* row) {
            return row->value() == QStringLiteral("0.500 ms") &&
                   row->difference() == QStringLiteral("measured");
        }));
    }

    void latencyFollowsEachEdit() {
        import(kProfile);
        QVERIFY(document().edit(skipLayers(document().config(), {"Conv_0"})));
        // before the evaluation has finished
        QVERIFY(shows(m_window.get(), QStringLiteral("4.75 ms, \u221214\u202f%")));
        QVERIFY(evaluated());
        QVERIFY(shows(m_window.get(), QStringLiteral("4.75 ms, \u221214\u202f%")));
        document().undoStack()->undo();
        QVERIFY(shows(m_window.get(), QStringLiteral("2.75 ms, \u221250\u202f%")));
        // Nothing was measured in float16.
        QVERIFY(document().edit({withPrecision(document().config(), {"Conv_0"}, Precision::float16()),
                                 QStringLiteral("half"),
                                 {}}));
        QVERIFY(evaluated());
        QVERIFY(shows(m_window.get(), QStringLiteral("estimated")));
        m_window->graphView()->canvas()->setMetric(Metric::Latency);
        const GraphCanvas* canvas = m_window->graphView()->canvas();
        const NodeLook& conv = canvas->looks()[*canvas->index().boxOf(node("Conv_0"))];
        QVERIFY2(conv.number.startsWith(QChar(0x2248)), qPrintable(conv.number));
        QVERIFY(conv.quiet);
    }

    void projectStoresProfiles() {
        import(kProfile);
        QVERIFY(m_window->isWindowModified());
        const auto file = path("latency.quantloupe");
        QVERIFY(document().saveProject(file));
        m_dialog.reset();
        m_window = std::make_unique<MainWindow>();
        m_window->setAskBeforeClosing(false);
        m_window->resize(1500, 900);
        m_window->show();
        m_window->open({file, {}, {}, {}});
        QVERIFY(QTest::qWaitFor(
            [&] { return shows(m_window.get(), QStringLiteral("2.75 ms, \u221250\u202f%")); }, 30000));
        QCOMPARE(document().latency().sources().size(), std::size_t(1));
        QVERIFY(!m_window->isWindowModified());
    }

    void missingPrecisionIsRequested() {
        writeFileAtomically(path("plain.csv"), "layer,ms\nConv_0,3\nGemm_4,1\nFlatten_3,0\n");
        m_dialog->importFrom(path("plain.csv"));
        QVERIFY(document().latency().sources().empty());
        QVERIFY(test::button(*m_dialog, "add")->isVisible());
        QTest::qWait(100);
        QVERIFY(test::button(*m_dialog, "add")->height() >=
                test::button(*m_dialog, "add")->sizeHint().height());  // not squeezed
        test::child<ChoiceBox>(*m_dialog)->setCurrentIndex(1);         // float32
        test::button(*m_dialog, "add")->click();
        QVERIFY(QTest::qWaitFor([&] { return document().latency().table() != nullptr; }, 20000));
        QCOMPARE(document().latency().table()->at(0, Precision::float32()).ms, 3.0);
        QVERIFY(!document().latency().table()->at(0, Precision::float32()).estimated);
        QVERIFY(document().latency().table()->at(0, Precision::integer(4, 8)).estimated);
        // As configured: the times stay those of 4 bits after an edit.
        m_dialog->importFrom(path("plain.csv"));
        test::button(*m_dialog, "add")->click();
        QVERIFY(QTest::qWaitFor(
            [&] { return !document().latency().table()->at(0, Precision::integer(4, 8)).estimated; }, 20000));
        test::child<QTableWidget>(*m_dialog)->selectRow(0);
        test::button(*m_dialog, "remove")->click();
        QVERIFY(document().latency().sources().empty());
        QVERIFY(!shows(m_window.get(), QStringLiteral("estimated")));
    }

    void anUnusableFileIsRefused() {
        writeFileAtomically(path("bad.csv"), "layer,precision,ms\nConv_0,w4a8,fast\n");
        m_dialog->importFrom(path("bad.csv"));
        QVERIFY2(test::labelText(*m_dialog, "result").contains(QStringLiteral("bad.csv")),
                 qPrintable(test::labelText(*m_dialog, "result")));
        import("layer,precision,ms\nElsewhere,w4a8,1\n", false);
        QVERIFY(QTest::qWaitFor(
            [&] { return m_window->messageBar()->text().contains(QStringLiteral("another network")); },
            20000));
        QVERIFY(document().latency().sources().empty());
    }

    void missingOnnxRuntimeIsExplained() {
        program("none", "#!/bin/sh\necho \"No module named 'onnxruntime'\" >&2\nexit 3\n");
        m_dialog->measure();
        QVERIFY(m_dialog->job()->running());
        QVERIFY(QTest::qWaitFor([&] { return !m_dialog->job()->running(); }, 60000));
        QVERIFY2(test::labelText(*m_dialog, "result").contains(QStringLiteral("pip install onnxruntime")),
                 qPrintable(test::labelText(*m_dialog, "result")));
        QVERIFY(!m_dialog->job()->running());
        QVERIFY(document().latency().sources().empty());
    }

    void measurementCanBeCancelled() {
        program("slow", "#!/bin/sh\nsleep 600\n");
        m_dialog->measure();
        QTest::qWait(1000);
        QVERIFY(m_dialog->job()->running());
        test::button(*m_dialog, "measure")->click();
        QVERIFY(!m_dialog->job()->running());
        QCOMPARE(test::labelText(*m_dialog, "result"), QStringLiteral("Cancelled."));
    }

    void theCurrentConfigurationIsMeasured() {
        QUANTLOUPE_NEEDS_ONNXRUNTIME;
        m_dialog->measure();
        QVERIFY(QTest::qWaitFor([&] { return document().latency().table() != nullptr; }, 120000));
        const LatencySource& profile = document().latency().sources().front();
        QVERIFY2(profile.name.starts_with("ONNX Runtime 1."), profile.name.c_str());
        const auto& table = *document().latency().table();
        for (const char* name : {"Conv_0", "Gemm_4"})
            for (const Precision& precision : {Precision::integer(4, 8), Precision::float32()}) {
                const LatencyCell cell = table.at(node(name).index(), precision);
                QVERIFY2(!cell.estimated && cell.ms > 0, name);
            }
        QVERIFY2(test::labelText(*m_dialog, "result").startsWith(QStringLiteral("Measured")),
                 qPrintable(test::labelText(*m_dialog, "result")));
    }

  private:
    Document& document() { return *m_window->document(); }
    std::filesystem::path path(const char* name) const {
        return m_folder.filePath(QString::fromLatin1(name)).toStdString();
    }
    NodeId node(const char* name) { return *document().graph()->findNode(name); }
    void open() {
        m_window = std::make_unique<MainWindow>();
        m_window->setAskBeforeClosing(false);
        m_window->resize(1500, 900);
        m_window->show();
        QVERIFY(test::openColors(document(), m_folder, m_data));
        QVERIFY(
            QTest::qWaitFor([&] { return m_window->graphView()->canvas()->picture() != nullptr; }, 20000));
    }
    void import(const char* text, bool usable = true) {
        writeFileAtomically(path("profile.csv"), text);
        m_dialog->importFrom(path("profile.csv"));
        if (usable) QVERIFY(QTest::qWaitFor([&] { return document().latency().table() != nullptr; }, 20000));
    }
    void program(const char* name, const char* text) {
        writeFileAtomically(path(name), text);
        std::filesystem::permissions(path(name), std::filesystem::perms::owner_all);
        test::child<QLineEdit>(*m_dialog)->setText(m_folder.filePath(QString::fromLatin1(name)));
    }
    bool evaluated() {
        return QTest::qWaitFor([&] { return !document().evaluating() && !document().job()->busy(); }, 30000);
    }
    static bool shows(const QWidget* window, const QString& text) {
        return std::ranges::any_of(window->findChildren<QLabel*>(), [&](const QLabel* label) {
            return label->isVisible() && label->text() == text;
        });
    }

    QTemporaryDir m_folder;
    std::filesystem::path m_data;
    std::unique_ptr<MainWindow> m_window;
    std::unique_ptr<LatencyDialog> m_dialog;
};

QTEST_MAIN(LatencyTest)
#include "latency_test.moc"
