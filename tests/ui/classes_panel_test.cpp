// SPDX-License-Identifier: Apache-2.0
// The panel with the results of each class and the confusion matrix. The network's numbers are derived in
// color_data.h.
#include "panels/classes_panel.h"

#include <QApplication>

#include "color_document.h"
#include "data/numpy_file.h"

using namespace quantloupe;
using namespace quantloupe::ui;

class ClassesPanelTest : public QObject, private test::ColorDocument {
    Q_OBJECT
  private Q_SLOTS:
    void initTestCase() { writeImages(); }
    void init() { QVERIFY(openDocument()); }
    void cleanup() { m_document.reset(); }

    /// All images are classified as green.
    void confusionMatrixHasNamesAndTheTableIsComplete() {
        ClassesPanel panel(m_document.get());
        panel.resize(740, 260);
        panel.show();
        QVERIFY(QTest::qWaitForWindowExposed(&panel));
        QTableWidget* table = panel.table();
        QCOMPARE(table->item(0, 0)->text(), QStringLiteral("b_blue"));
        QCOMPARE(table->horizontalHeaderItem(1)->text(), QStringLiteral("images"));
        int width = 0;
        for (int column = 0; column < table->columnCount(); ++column) width += table->columnWidth(column);
        QVERIFY2(width <= table->viewport()->width(), qPrintable(QString::number(width)));
        for (int column = 0; column < table->columnCount(); ++column)
            QVERIFY2(table->columnWidth(column) >=
                         static_cast<QAbstractItemView*>(table)->sizeHintForColumn(column),
                     qPrintable(table->horizontalHeaderItem(column)->text()));

        ConfusionView* matrix = panel.confusion();
        const int side = matrix->fontMetrics().height() * 7 / 5, names = matrix->width() - 1 - 2 * side;
        QVERIFY(names >= matrix->fontMetrics().horizontalAdvance(QStringLiteral("b_blue")) * 3 / 4);
        const QImage image = matrix->grab().toImage();
        const auto drawn = [&](const QRect& area) {
            for (int y = area.top(); y < area.bottom(); ++y)
                for (int x = area.left(); x < area.right(); ++x)
                    if (image.pixel(x, y) != image.pixel(0, 0)) return true;
            return false;
        };
        QVERIFY(drawn({0, names, names - 2, side}));         // of the first row
        QVERIFY(drawn({names + side, 0, side, names - 2}));  // of the second column
        QSignalSpy clicked(matrix, &ConfusionView::cellClicked);
        QTest::mouseClick(matrix, Qt::LeftButton, {}, QPoint(names / 2, names / 2));
        QVERIFY(clicked.empty());
        QTest::mouseClick(matrix, Qt::LeftButton, {}, QPoint(names + side / 2, names + side * 3 / 2));
        QCOMPARE(clicked.size(), 1);
        QCOMPARE(clicked[0], (QList<QVariant>{1, 0}));  // blue as green

        // In a small panel, the table leaves room for the cells.
        panel.resize(400, 130);
        QTRY_VERIFY(table->isColumnHidden(1));
        const int first = matrix->width() - 1 - 2 * side;
        QVERIFY(matrix->visibleRegion().contains(QRect(first, first, side, side)));
        // Also after the table has been fitted once more, when its hidden columns have no size.
        for (const int height : {131, 130, 131}) {
            panel.resize(400, height);
            QTest::qWait(1);
            QVERIFY(table->isColumnHidden(1));
            QVERIFY(table->columnWidth(0) >= static_cast<QAbstractItemView*>(table)->sizeHintForColumn(0));
        }
    }

    void classesOfArraysCountSamples() {
        constexpr std::int64_t kSamples = 32;
        std::vector<float> values;
        std::vector<std::int64_t> labels;
        for (std::int64_t i = 0; i < kSamples; ++i) {
            const bool green = i < kSamples / 2;
            labels.push_back(green ? 0 : 1);
            for (const float channel : {0.0f, green ? 0.5f : 0.0f, green ? 0.0f : 0.5f})
                values.insert(values.end(), 16, channel);
        }
        const std::string file = m_folder.filePath("arrays.npz").toStdString();
        saveNpz({{"X", Constant::fromFloats({kSamples, 3, 4, 4}, values)},
                 {"labels", Constant::fromInt64s({kSamples}, labels)}},
                file);
        m_document = std::make_unique<Document>();
        QVERIFY(test::openColors(*m_document, m_folder, file));
        ClassesPanel panel(m_document.get());
        QCOMPARE(panel.table()->rowCount(), 2);
        QCOMPARE(panel.table()->horizontalHeaderItem(1)->text(), QStringLiteral("samples"));
        for (const auto* label : panel.findChildren<ElidedLabel*>())
            QVERIFY2(label->toolTip().endsWith(QStringLiteral("Click a cell to see its samples.")),
                     qPrintable(label->toolTip()));
    }
};

QTEST_MAIN(ClassesPanelTest)
#include "classes_panel_test.moc"
