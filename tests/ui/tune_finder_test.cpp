// SPDX-License-Identifier: Apache-2.0
// The search for layers to keep in float, by mouse and keyboard, on the network of color_data.h: with its
// Gemm in float all predictions are right.
#include "panels/tune_finder.h"

#include <QHeaderView>
#include <QSettings>

#include "color_data.h"
#include "commands/layer_edits.h"
#include "document/metric.h"

using namespace quantloupe;
using namespace quantloupe::ui;

class TuneFinderTest : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void initTestCase() {
        test::keepSettingsIn(m_folder);
        m_data = test::writeColors(m_folder, QStringLiteral("data"), QStringLiteral("a_green"),
                                   QStringLiteral("b_blue"));
    }
    void init() {
        m_document = std::make_unique<Document>();
        QVERIFY(test::openColors(*m_document, m_folder, m_data));
        QCOMPARE(m_document->evaluation()->quantized->top1.value_or(-1), 0.5);
        m_section = std::make_unique<TuneFinder>(m_document.get());
        m_section->resize(400, 900);
        m_section->show();
        QVERIFY(QTest::qWaitForWindowActive(m_section.get()));
    }
    void cleanup() {
        m_section.reset();
        m_document.reset();
    }

    void takenItIsOneStep() {
        const QuantizationConfig before = m_document->config();
        const int steps = m_document->undoStack()->count();
        find();
        const TuneResult found = *finder()->found();
        QVERIFY(found.reached);
        QCOMPARE(found.curve.size(), std::size_t(2));
        QCOMPARE(found.curve[1].layers, std::vector<std::string>{"Gemm_4"});
        QVERIFY(m_document->config() == before);  // nothing is taken by itself
        QCOMPARE(table()->rowCount(), 2);
        QCOMPARE(table()->currentRow(), 1);
        QCOMPARE(table()->item(1, 2)->text(), formatRate(1));
        QVERIFY(table()->item(1, 0)->toolTip().contains(QStringLiteral("Gemm_4")));
        QVERIFY(says(QStringLiteral("Reached: 0.00 points below float with 1 layer in float")));

        table()->setFocus();
        QTest::keyClick(table(), Qt::Key_Return);
        QVERIFY(m_document->config() == found.curve[1].config);
        QCOMPARE(m_document->undoStack()->count(), steps + 1);
        QCOMPARE(m_document->undoStack()->undoText(), QStringLiteral("Tune: 1 layer in float"));
        QVERIFY(measured());
        QCOMPARE(m_document->evaluation()->quantized->top1.value_or(-1), 1.0);
        QVERIFY(!button(QStringLiteral("Apply"))->isEnabled());  // it is already the current configuration

        // Another point of the same search, by its place in the plot: the first, which is where it began.
        auto* plot = finder()->findChild<TradeOffPlot*>();
        QTest::mouseClick(plot, Qt::LeftButton, {}, plot->placeOf(0).toPoint());
        QVERIFY(m_document->config() == before);
        QCOMPARE(m_document->undoStack()->count(), steps + 2);
        QVERIFY(measured());
        m_document->undoStack()->undo();
        m_document->undoStack()->undo();
        QVERIFY(m_document->config() == before);
    }

    void withTheButtonToo() {
        find();
        QTest::mouseClick(button(QStringLiteral("Apply")), Qt::LeftButton);
        QVERIFY(m_document->config() == finder()->found()->curve[1].config);
    }

    void theFieldAndTheChoiceCount() {
        auto* field = finder()->findChild<NumberField*>();
        const auto enter = [&](const char* text) {
            field->setFocus();
            field->selectAll();
            QTest::keyClicks(field, QString::fromLatin1(text));
            QTest::keyClick(field, Qt::Key_Return);
        };
        enter("much");
        QVERIFY(!field->complaint().isEmpty());
        QTest::keyClick(field, Qt::Key_Escape);
        QVERIFY(field->complaint().isEmpty());
        enter("50");
        for (auto* choice : finder()->findChildren<QPushButton*>())
            if (choice->text() == QStringLiteral("layers")) QTest::mouseClick(choice, Qt::LeftButton);
        find();
        QCOMPARE(finder()->found()->maxDrop, 0.5);
        QCOMPARE(finder()->found()->cost, TuneCost::Layers);
        QVERIFY(finder()->found()->reached);
        QCOMPARE(finder()->found()->chosen, std::size_t(0));
    }

    void anEditEndsIt() {
        start();
        QVERIFY(finder()->finding());
        QVERIFY(m_document->edit(skipLayers(m_document->config(), {"Conv_0"})));
        QVERIFY(!finder()->finding());
        QVERIFY(measured());
        QVERIFY(!finder()->finding());
        QCOMPARE(button(QStringLiteral("Search for Layers to Keep in Float"))->isEnabled(), true);
    }

    void cancelEndsItToo() {
        start();
        m_document->cancel();
        QVERIFY(!finder()->finding());
        QVERIFY(button(QStringLiteral("Search for Layers to Keep in Float"))->isEnabled());
    }

    void whereEditsAreHeldToo() {
        m_document->setHeld(true);
        start();
        QVERIFY(m_document->edit(skipLayers(m_document->config(), {"Conv_0"})));
        QVERIFY(!finder()->finding());
        m_document->setHeld(false);
        QVERIFY(measured());
    }

    void keepsItsResultsWhenStopped() {
        start();
        QVERIFY(QTest::qWaitFor([&] { return finder()->found().has_value(); }, 30000));
        if (finder()->finding()) QTest::mouseClick(button(QStringLiteral("Stop")), Qt::LeftButton);
        QVERIFY(!finder()->finding());
        QVERIFY(finder()->found().has_value());
    }

    void otherEditsMakeItOld() {
        find();
        QVERIFY(m_document->edit(skipLayers(m_document->config(), {"Conv_0"})));
        QVERIFY(measured());
        QVERIFY(says(QStringLiteral("for the previous configuration")));
        QVERIFY(!table()->isEnabled());
        finder()->take(1);
        QVERIFY(m_document->config() != finder()->found()->curve[1].config);
        m_document->undoStack()->undo();
        QVERIFY(measured());
        QVERIFY(table()->isEnabled());
    }

    void withoutDataItGivesAReason() {
        Document bare;
        QVERIFY(test::openAndWait(bare, test::writeModel(m_folder)));
        TuneFinder section(&bare);
        section.show();
        for (auto* one : section.findChildren<QPushButton*>())
            if (one->text() == QStringLiteral("Search for Layers to Keep in Float")) {
                QVERIFY(!one->isEnabled());
                QVERIFY(one->toolTip().contains(QStringLiteral("Needs data")));
            }
    }

  private:
    TuneFinder* finder() { return m_section.get(); }
    QTableWidget* table() { return finder()->findChild<QTableWidget*>(); }
    QPushButton* button(const QString& text) {
        for (auto* one : finder()->findChildren<QPushButton*>())
            if (one->text() == text) return one;
        return nullptr;
    }
    bool says(const QString& text) {
        for (const auto* label : finder()->findChildren<QLabel*>())
            if (label->isVisible() && label->text().startsWith(text)) return true;
        return false;
    }
    void start() {
        auto* begin = button(QStringLiteral("Search for Layers to Keep in Float"));
        begin->setFocus();
        QTest::keyClick(begin, Qt::Key_Space);
    }
    void find() {
        start();
        QVERIFY(finder()->finding());
        QVERIFY(QTest::qWaitFor([&] { return !finder()->finding(); }, 30000));
        QVERIFY(finder()->found());
    }
    bool measured() {
        return QTest::qWaitFor([&] { return !m_document->evaluating() && !m_document->job()->busy(); },
                               30000);
    }

    QTemporaryDir m_folder;
    std::filesystem::path m_data;
    std::unique_ptr<Document> m_document;
    std::unique_ptr<TuneFinder> m_section;
};

QTEST_MAIN(TuneFinderTest)
#include "tune_finder_test.moc"
