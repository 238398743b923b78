// SPDX-License-Identifier: Apache-2.0
// The layer table in the window: what it shows at first, its filter, its keys, and the names of layers, which
// are the same in all views.
#include <QApplication>
#include <QClipboard>
#include <QHeaderView>
#include <QLineEdit>
#include <QMenu>
#include <QPushButton>
#include <QTableView>
#include <QTest>

#include "block_window.h"
#include "style/elided_name.h"
#include "widgets/basics.h"

using namespace quantloupe;
using namespace quantloupe::ui;

class LayerTableTest : public QObject, private test::BlockWindow {
    Q_OBJECT
  private Q_SLOTS:
    void initTestCase() { writeBlocks(4); }
    void init() {
        QSettings().clear();
        QVERIFY(openBlocks({1400, 900}));
        QVERIFY(QTest::qWaitFor([&] { return !document()->evaluating(); }, 20000));
    }
    void cleanup() { m_window.reset(); }

    void opensWithTheMostSensitiveLayers() {
        QCOMPARE(table()->view()->horizontalHeader()->sortIndicatorSection(), int(LayerTableModel::LocalQs));
        std::vector<double> values;
        for (const NodeId id : shownRows()) {
            const LayerResult* layer = document()->layer(id);
            QVERIFY(layer->quantizable);
            if (layer->local) values.push_back(layer->local->qs);
        }
        QVERIFY(values.size() > 4);
        QVERIFY(std::ranges::is_sorted(values, std::greater<>()));
        const auto quantizable = std::ranges::count_if(document()->layers(), &LayerResult::quantizable);
        QCOMPARE(table()->filter()->rowCount(), int(quantizable));
        QVERIFY(quantizable < std::ssize(document()->layers()));
        QVERIFY(headText().contains(
            QStringLiteral("%1 of %2").arg(quantizable).arg(document()->layers().size())));
        QTest::mouseClick(headButton(QStringLiteral("Show All")), Qt::LeftButton);
        QCOMPARE(table()->filter()->rowCount(), int(document()->layers().size()));
        QTest::mouseClick(headButton(QStringLiteral("Quantizable Only")), Qt::LeftButton);
        QCOMPARE(table()->filter()->rowCount(), int(quantizable));
        // A term for an operator or a state also finds hidden layers; for words, a text says that there are
        // more.
        type(QStringLiteral("op:Relu"));
        QCOMPARE(table()->filter()->rowCount(), 4);
        type(QStringLiteral("act"));
        QCOMPARE(table()->filter()->rowCount(), 0);
        QVERIFY(labelStarts(QStringLiteral("4 layers match")));
    }

    /// Space keeps the layer in float, and Space again quantizes it.
    void layersStaySelectedWhenTheFilterHidesThem() {
        type(QStringLiteral("state:quantized"));
        const NodeId layer = shownRows().front();
        document()->select(layer);
        document()->edit(
            toggleLayers(*document()->graph(), document()->config(), document()->layers(), {layer}));
        QVERIFY(std::ranges::count(shownRows(), layer) == 0);
        QVERIFY(document()->selection() == std::vector{layer});
        QVERIFY(document()->current() == layer);
        document()->undoStack()->undo();
        type({});
    }

    /// As after opening a project, when the sensitivities arrive.
    void theCurrentRowStaysInViewWhenTheOrderChanges() {
        QTest::mouseClick(headButton(QStringLiteral("Show All")), Qt::LeftButton);
        QTableView* view = table()->view();
        view->setFixedHeight(view->horizontalHeader()->height() + 4 * view->rowHeight(0));
        canvas()->setFocus();
        const NodeId first = shownRows().front();
        document()->select(first);
        view->scrollToTop();
        const auto isShown = [&] {
            return view->viewport()->rect().contains(view->visualRect(view->currentIndex()).center());
        };
        QVERIFY(isShown());
        view->sortByColumn(LayerTableModel::LocalQs, Qt::AscendingOrder);
        QVERIFY(shownRows().front() != first);
        QVERIFY(isShown());
    }

    /// The name and the sensitivities have priority; nothing is cut off.
    void columnsFitTheWindow() {
        QTableView* view = table()->view();
        const auto shown = [&] {
            int columns = 0;
            for (int column = 0; column < LayerTableModel::ColumnCount; ++column)
                columns += !view->isColumnHidden(column);
            return columns;
        };
        int before = 0;
        for (const int width : {1280, 1380, 1440, 1920, 2600}) {
            m_window->resize(width, 720);
            QTRY_COMPARE(m_window->width(), width);
            QVERIFY2(view->horizontalHeader()->length() <= view->viewport()->width(),
                     qPrintable(QString::number(width)));
            for (const int column : {LayerTableModel::Name, LayerTableModel::State, LayerTableModel::LocalQs,
                                     LayerTableModel::CumulativeQs, LayerTableModel::LeaveOneOut})
                QVERIFY(!view->isColumnHidden(column));
            QVERIFY(shown() >= before);
            before = shown();
        }
        QCOMPARE(before, int(LayerTableModel::ColumnCount) - 2);  // without QS weight and the latency
        QVERIFY(m_window->width() > 2000);
        // The headings have the menu of the columns: there may be no room for its button.
        Q_EMIT view->horizontalHeader()->customContextMenuRequested({9, 9});
        auto* menu = qobject_cast<QMenu*>(QApplication::activePopupWidget());
        QVERIFY(menu);
        QCOMPARE(menu->actions().size(), int(LayerTableModel::ColumnCount) + 1);  // without the name
        menu->close();
        // What the rows are sorted by stays.
        view->sortByColumn(LayerTableModel::Cosine, Qt::AscendingOrder);
        m_window->resize(1280, 720);
        QTRY_VERIFY(view->isColumnHidden(LayerTableModel::Macs));
        QVERIFY(!view->isColumnHidden(LayerTableModel::Cosine));
    }

    void shortenedNamesKeepTheirBlock() {
        const QFontMetricsF metrics(m_window->font());
        const QString name = QStringLiteral("encoder/layer.3/attention/output/dense/MatMul");
        QCOMPARE(elidedName(name, metrics, 1e4), name);
        for (const char* text :
             {"\u2026layer.3/attention/output/dense/MatMul", "layer.3/a\u2026/output/dense/MatMul",
              "layer.3/a\u2026/o\u2026/dense/MatMul", "layer.3/\u2026/MatMul", "l\u2026.3/\u2026/MatMul"}) {
            const QString expected = QString::fromUtf8(text);
            QCOMPARE(elidedName(name, metrics, metrics.horizontalAdvance(expected) + 0.5), expected);
        }
        const QString two = QString::fromUtf8("f\u2026.12/conv.0.0");
        QCOMPARE(
            elidedName(QStringLiteral("features.12/conv.0.0"), metrics, metrics.horizontalAdvance(two) + 0.5),
            two);
        for (const double width : {10.0, 40.0, 80.0})  // narrower than the block and the end
            QVERIFY(metrics.horizontalAdvance(elidedName(name, metrics, width)) <= width);
        const QString plain = QStringLiteral("a_long_name_without_blocks");
        QCOMPARE(elidedName(plain, metrics, 80), metrics.elidedText(plain, Qt::ElideMiddle, 80));
    }

    void theFilterFadesTheOthersInTheGraph() {
        const auto dimmed = [&](const char* name) {
            return canvas()->looks()[*canvas()->index().boxOf(node(name))].dimmed;
        };
        canvas()->view()->centerOn(node("/blocks/2/conv/Conv"));
        const auto bandOf = [&](const char* name) {
            const QRectF box = toRectF(canvas()->picture()->nodes[*canvas()->index().boxOf(node(name))].box);
            const QImage image = canvas()->grab().toImage();
            const QPointF at =
                canvas()->view()->transform().toView(QPointF(box.left() + 2, box.center().y()));
            return image.pixelColor((at * image.devicePixelRatio()).toPoint());
        };
        const int before = bandOf("/blocks/2/conv/Conv").hsvSaturation();
        type(QStringLiteral("blocks/1/"));
        QVERIFY(!dimmed("/blocks/1/conv/Conv") && !dimmed("/blocks/1/Add"));
        QVERIFY(!dimmed("/blocks/1/act/Relu"));  // it runs inside a layer that matches
        QVERIFY(dimmed("/blocks/2/conv/Conv") && dimmed("/stem/Conv"));
        QVERIFY(bandOf("/blocks/2/conv/Conv").hsvSaturation() < before / 2);
        type({});
        QVERIFY(!dimmed("/blocks/2/conv/Conv"));
        QCOMPARE(bandOf("/blocks/2/conv/Conv").hsvSaturation(), before);
    }

    void selectAllSelectsTheVisibleRows() {
        type(QStringLiteral("blocks/1/"));
        const auto expected = std::vector{node("/blocks/1/conv/Conv"), node("/blocks/1/Add")};
        for (QWidget* focused : {static_cast<QWidget*>(table()->view()), static_cast<QWidget*>(canvas())}) {
            document()->select(NodeId());
            focused->setFocus();
            QTest::keyClick(focused, Qt::Key_A, Qt::ControlModifier);
            auto selected = document()->selection();
            std::ranges::sort(selected);
            QCOMPARE(selected, expected);
        }
        QTest::keyClick(canvas(), Qt::Key_Space);
        for (const LayerResult& layer : document()->layers())
            if (layer.quantizable && layer.name != "/head/Conv")  // the tail
                QCOMPARE(layer.state == LayerState::Skipped, layer.name.starts_with("/blocks/1/"));
        type({});
        canvas()->setFocus();
        QTest::keyClick(canvas(), Qt::Key_A, Qt::ControlModifier);
        QCOMPARE(document()->selection().size(), document()->layers().size());
    }

    void downAndEnterMoveToTheRows_data() {
        QTest::addColumn<Qt::Key>("key");
        QTest::newRow("Down") << Qt::Key_Down;
        QTest::newRow("Return") << Qt::Key_Return;
        QTest::newRow("Enter") << Qt::Key_Enter;
    }
    void downAndEnterMoveToTheRows() {
        QFETCH(Qt::Key, key);
        type(QStringLiteral("blocks/2"));
        table()->filterLine()->setFocus();
        QTest::keyClick(table()->filterLine(), key);
        QVERIFY(table()->view()->hasFocus());
        QCOMPARE(document()->selection(), std::vector{shownRows().front()});
        QTest::keyClick(table()->view(), Qt::Key_Down);
        QCOMPARE(document()->current(), shownRows()[1]);
    }

    void malformedTermsAreMarked_data() {
        QTest::addColumn<QString>("typed");
        QTest::addColumn<QString>("complaint");
        QTest::newRow("no number") << "qs>abc"
                                   << "compared with";
        QTest::newRow("half a term") << "macs>="
                                     << "compared with";
        QTest::newRow("equals") << "qs=1"
                                << "compared with";
        QTest::newRow("unknown metric") << "foo>1"
                                        << "no metric";
        QTest::newRow("unknown state") << "state:green"
                                       << "a state is";
        QTest::newRow("regular expression") << "/[/"
                                            << "[";
        QTest::newRow("among others") << "op:Conv qs> blocks"
                                      << "compared with";
        QTest::newRow("right") << "op:Conv qs>0.1 -state:skipped" << QString();
        QTest::newRow("a name with an equals sign") << "a=b" << QString();
    }
    void malformedTermsAreMarked() {
        QFETCH(QString, typed);
        QFETCH(QString, complaint);
        type(typed);
        QCOMPARE(table()->filterLine()->property("wrong").toBool(), !complaint.isEmpty());
        const auto* shown = table()->findChild<ElidedLabel*>(QStringLiteral("filterProblem"));
        QVERIFY(shown);
        QCOMPARE(shown->isVisible(), !complaint.isEmpty());
        QVERIFY2(shown->fullText().contains(complaint), qPrintable(shown->fullText()));
    }

    void everyLayerIsFoundByItsDisplayedName() {
        QTest::mouseClick(headButton(QStringLiteral("Show All")), Qt::LeftButton);
        for (std::size_t i = 0; i < document()->layers().size(); ++i) {
            type(document()->layerName(NodeId(i)));
            const auto rows = shownRows();
            QVERIFY2(std::ranges::count(rows, NodeId(i)) == 1, qPrintable(document()->layerName(NodeId(i))));
        }
    }

    void allViewsShowTheSameName() {
        const NodeId layer = node("/blocks/2/conv/Conv");
        const QString name = QStringLiteral("blocks/2/conv");
        QCOMPARE(document()->layerName(layer), name);
        QCOMPARE(QString::fromStdString(canvas()->picture()->nodes[*canvas()->index().boxOf(layer)].subtitle),
                 name);
        type(name);
        QCOMPARE(table()->filter()->index(0, LayerTableModel::Name).data().toString(), name);
        QCOMPARE(table()->filter()->index(0, LayerTableModel::Name).data(Qt::ToolTipRole).toString(),
                 QStringLiteral("/blocks/2/conv/Conv"));
        document()->select(layer);
        QVERIFY(hasLabel(m_window->inspector(), name));
        QVERIFY(hasLabel(m_window->inspector(), QStringLiteral("/blocks/2/conv/Conv")));
        for (auto* button : m_window->inspector()->findChildren<QPushButton*>())
            if (button->accessibleName() == QLatin1String("Copy the layer's name")) button->click();
        QCOMPARE(QApplication::clipboard()->text(), QStringLiteral("/blocks/2/conv/Conv"));
        // Edits, the history, rules and reasons
        document()->edit(skipDownstream(*document()->graph(), document()->config(), layer));
        const QString rule = name + QStringLiteral(" and everything downstream");
        QVERIFY2(document()->undoStack()->undoText().contains(rule),
                 qPrintable(document()->undoStack()->undoText()));
        QVERIFY(QTest::qWaitFor([&] { return !document()->evaluating(); }, 20000));
        QVERIFY(hasLabel(m_window.get(), rule));
        QVERIFY(QString::fromStdString(document()->history().entries().back().change).contains(rule));
        const auto row = table()->filter()->index(0, LayerTableModel::Reason).data().toString();
        QVERIFY2(row.contains(rule), qPrintable(row));
        // Messages
        document()->edit(skipDownstream(*document()->graph(), document()->config(), layer));
        QVERIFY2(m_window->messageBar()->text().contains(rule), qPrintable(m_window->messageBar()->text()));
        QVERIFY(!m_window->messageBar()->text().contains(QStringLiteral("/Conv")));
    }

  private:
    LayerTable* table() { return m_window->layerTable(); }
    void type(const QString& text) { table()->filterLine()->setText(text); }
    std::vector<NodeId> shownRows() {
        std::vector<NodeId> rows;
        for (int row = 0; row < table()->filter()->rowCount(); ++row)
            rows.push_back(NodeId(static_cast<std::size_t>(
                table()->filter()->mapToSource(table()->filter()->index(row, 0)).row())));
        return rows;
    }
    QPushButton* headButton(const QString& text) {
        for (auto* button : table()->head()->findChildren<QPushButton*>())
            if (button->text() == text) return button;
        return nullptr;
    }
    QString headText() {
        QString text;
        for (const auto* label : table()->head()->findChildren<QLabel*>())
            text += label->text() + QLatin1Char('\n');
        return text;
    }
    bool labelStarts(const QString& text) {
        return std::ranges::any_of(table()->findChildren<QLabel*>(), [&](const QLabel* label) {
            return label->isVisible() && label->text().startsWith(text);
        });
    }
    static bool hasLabel(const QWidget* inside, const QString& text) {
        return std::ranges::any_of(inside->findChildren<QLabel*>(),
                                   [&](const QLabel* label) { return label->text() == text; });
    }
};

QTEST_MAIN(LayerTableTest)
#include "layer_table_test.moc"
