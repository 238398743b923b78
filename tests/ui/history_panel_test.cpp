// SPDX-License-Identifier: Apache-2.0
// Evaluated configurations in the window: comparisons, names and notes, the baseline, and the plot of
// accuracy over cost. The network's numbers are derived in color_data.h.
#include "panels/history_panel.h"

#include <QApplication>

#include "color_document.h"
#include "commands/layer_edits.h"
#include "models/config_difference.h"
#include "panels/summary_bar.h"

using namespace quantloupe;
using namespace quantloupe::ui;

class HistoryPanelTest : public QObject, private test::ColorDocument {
    Q_OBJECT
  private Q_SLOTS:
    void initTestCase() { writeImages(); }
    void init() { QVERIFY(openDocument()); }
    void cleanup() { m_document.reset(); }

    void theComparisonOfTwoConfigurationsIsDescribed() {
        QuantizationConfig finer = m_document->config();
        finer.quantization.weight.bits = 8;
        m_document->edit({finer, QStringLiteral("Finer"), {}});
        QVERIFY(waitFor(
            [&] { return m_document->history().entries().size() == 3 && !m_document->job()->busy(); }));
        HistoryPanel panel(m_document.get());
        panel.resize(420, 900);
        panel.show();
        const QuantizationConfig before = m_document->config();
        QTableView* view = panel.view();
        const auto click = [&](int row, Qt::KeyboardModifiers keys) {
            QTest::mouseClick(view->viewport(), Qt::LeftButton, keys,
                              view->visualRect(view->model()->index(row, 0)).center());
        };
        click(1, Qt::ControlModifier);
        click(0, Qt::ControlModifier);
        QVERIFY(m_document->config() == before);  // selecting rows to compare changes nothing
        const auto half = m_document->evaluation()->quantized->samples / 2;
        QVERIFY(waitFor([&] { return panel.comparison().contains(QStringLiteral("fixed")); }));
        QVERIFY2(panel.comparison().contains(QStringLiteral("+50.0 points, %1 samples fixed").arg(half)),
                 qPrintable(panel.comparison()));
        bool told = false;
        for (const QLabel* label : panel.findChildren<QLabel*>())
            told = told || label->text() == QStringLiteral("weight bits: 4 \u2192 8");
        QVERIFY(told);
        click(1, {});
        QCOMPARE(m_document->config().quantization.weight.bits, 4);  // a plain click goes back
    }

    /// Edits in quick succession are evaluated together.
    void quickEditsAreNamedTogether() {
        QVERIFY(evaluated());
        QuantizationConfig config = m_document->config();
        config.quantization.weight.bits = 7;
        m_document->edit({config, QStringLiteral("7 bits"), {}});
        config.quantization.weight.perChannel = !config.quantization.weight.perChannel;
        m_document->edit({config, QStringLiteral("Scales"), {}});
        QVERIFY(evaluated());
        QCOMPARE(m_document->history().entries().back().change, "7 bits; Scales");
        config.quantization.weight.bits = 6;
        m_document->edit({config, QStringLiteral("6 bits"), {}});
        QVERIFY(evaluated());
        QCOMPARE(m_document->history().entries().back().change, "6 bits");
    }

    void differencesAreDescribed() {
        QuantizationConfig a = m_document->config(), b = a;
        QVERIFY(configDifference(a, a).isEmpty());
        b.quantization.weight.perChannel = true;
        b.refine.rounding = Rounding::Adaround;
        b.layers["Gemm_4"].weightBits = 8;
        b.layers["Gemm_4"].comment = "no matter";
        b = skipLayers(b, {"Conv_0"}).next;
        const QStringList lines = configDifference(a, b);
        QVERIFY2(lines.contains(QStringLiteral("weight per channel: off \u2192 on")),
                 qPrintable(lines.join(QLatin1Char('|'))));
        QVERIFY(lines.contains(QStringLiteral("rounding: nearest \u2192 adaround")));
        QVERIFY(lines.contains(QStringLiteral("Gemm_4: network settings \u2192 8-bit weights")));
        QVERIFY(lines.filter(QStringLiteral("new rule for layers in float")).size() == 1);
        QCOMPARE(lines.size(), 4);
        QCOMPARE(configDifference(b, a).size(), 4);
    }

    void namesAndNotesAreKeptInTheProject() {
        m_document->describeMeasured(0, QStringLiteral(" first try "), QStringLiteral("too coarse"));
        const std::filesystem::path file = m_folder.filePath(QStringLiteral("p.quantloupe")).toStdString();
        QVERIFY(m_document->saveProject(file));
        const Project project = loadProject(file);
        QCOMPARE(project.history[0].name, std::string("first try"));
        QCOMPARE(project.history[0].note, std::string("too coarse"));
        QVERIFY(project.history[0].cost.has_value());
        QVERIFY(project.history[0].cost == m_document->history().entries()[0].cost);
        // 16 pixels x 9 weights and 6 more.
        QCOMPARE(project.history[0].cost->totalMacs, std::uint64_t(16 * 9 + 6));
        QCOMPARE(project.history[0].cost->totalBytes, std::uint64_t(4 * (9 + 6)));
    }

    void baselineIsShownNextToTheResults() {
        m_document->pinBaseline(1);
        SummaryBar bar(m_document.get());
        bar.show();
        m_document->edit(skipType(m_document->config(), "Gemm"));
        QVERIFY(waitFor([&] { return !m_document->evaluating(); }));
        bool told = false;
        for (const QLabel* label : bar.findChildren<QLabel*>())
            told = told || label->text() == QStringLiteral("+50.0 vs. \u2691");
        QVERIFY(told);
        QVERIFY(m_document->reference().baselineLayer(NodeId(0)) != nullptr);
    }

    /// Numbers of other data are listed, but not compared.
    void resultsOfOtherDataAreNotCompared() {
        const MeasuredConfig first = m_document->history().entries().back();
        QVERIFY(!first.data.empty() && m_document->isComparable(first));
        m_document->pinBaseline(m_document->history().entries().size() - 1);
        const std::filesystem::path other = m_folder.filePath(QStringLiteral("fewer")).toStdString();
        std::filesystem::copy(m_data, other, std::filesystem::copy_options::recursive);
        for (const auto& folder : std::filesystem::directory_iterator(other))
            std::filesystem::remove(std::filesystem::directory_iterator(folder)->path());
        m_document->openData(other, other);
        QVERIFY(waitFor([&] { return m_document->history().entries().size() == 2 && evaluated(); }));
        QVERIFY(!m_document->isComparable(m_document->history().entries().front()));
        QVERIFY(m_document->isComparable(m_document->history().entries().back()));
        HistoryModel model(m_document.get());
        QVERIFY(model.index(0, HistoryModel::Difference).data().toString().isEmpty());
        QVERIFY(model.index(1, HistoryModel::Result).data(Qt::FontRole).value<QFont>().italic());
        QVERIFY(model.index(1, HistoryModel::Result)
                    .data(Qt::ToolTipRole)
                    .toString()
                    .contains(QStringLiteral("on other data")));
        const std::filesystem::path file = m_folder.filePath(QStringLiteral("d.quantloupe")).toStdString();
        QVERIFY(m_document->saveProject(file));
        QCOMPARE(loadProject(file).history[0].data, first.data);
    }

    void frontContainsTheParetoOptimalPoints() {
        std::vector<TradeOffPoint> points;
        for (const auto& [cost, value] : {std::pair{0.0, 50.0},
                                          {1.0, 60.0},
                                          {1.0, 55.0},
                                          {2.0, 58.0},
                                          {3.0, 90.0},
                                          {3.0, 90.0},
                                          {4.0, 80.0}})
            points.push_back({cost, value, {}, false, false, points.size()});
        QCOMPARE(paretoFront(points), (std::vector<std::size_t>{0, 1, 4}));
        QVERIFY(paretoFront({}).empty());
        for (TradeOffPoint& point : points) point.value = -point.value;
        QCOMPARE(paretoFront(points, true), (std::vector<std::size_t>{0, 1, 4}));
    }

    void clickOnAPointOfThePlotGoesBackToIt() {
        const QuantizationConfig coarse = m_document->config();
        m_document->edit(skipType(coarse, "Gemm"));
        QVERIFY(waitFor(
            [&] { return m_document->history().entries().size() == 3 && !m_document->job()->busy(); }));
        HistoryPanel panel(m_document.get());
        panel.resize(420, 900);
        panel.show();
        const auto& points = panel.plot()->points();
        const auto wanted = std::ranges::find(points, std::size_t(1), &TradeOffPoint::entry);
        QVERIFY(wanted != points.end());
        QTest::mouseClick(panel.plot(), Qt::LeftButton, {},
                          panel.plot()->placeOf(static_cast<std::size_t>(wanted - points.begin())).toPoint());
        QVERIFY(m_document->config() == coarse);
    }
};

QTEST_MAIN(HistoryPanelTest)
#include "history_panel_test.moc"
