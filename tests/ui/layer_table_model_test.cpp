// SPDX-License-Identifier: Apache-2.0
// The layer table: contents, sorting with missing numbers, the filter syntax.
#include "models/layer_table_model.h"

#include <QAbstractItemModelTester>
#include <QTest>
#include <cmath>

#include "models/layer_filter.h"
#include "ui_test_support.h"

using namespace quantloupe;
using namespace quantloupe::ui;

class LayerTableModelTest : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void listsEveryLayerOfTheModel() {
        QTemporaryDir folder;
        Document document;
        LayerTableModel model(&document);
        QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
        QCOMPARE(model.rowCount(), 0);
        QVERIFY(test::openAndWait(document, test::writeModel(folder)));
        QCOMPARE(column(model, LayerTableModel::Name),
                 QStringList({"Conv_0", "Relu_1", "Conv_2", "Relu_3", "Conv_4", "Relu_5"}));
        QCOMPARE(column(model, LayerTableModel::Op).join(QLatin1Char(' ')),
                 QStringLiteral("Conv Relu Conv Relu Conv Relu"));
        // Without data, random inputs are used; an activation inside a unit has no value of its own, which is
        // not the same as zero.
        QVERIFY(document.evaluation()->randomInputs);
        QVERIFY(model.index(0, LayerTableModel::LocalQs).data(LayerTableModel::SortRole).toDouble() > 0);
        QCOMPARE(model.index(1, LayerTableModel::LocalQs).data().toString(), QStringLiteral("\u2013"));
        QVERIFY(!model.index(1, LayerTableModel::LocalQs).data(LayerTableModel::SortRole).isValid());
    }

    /// The header view queries the model on the first click.
    void firstClickOnANumberSortsTheWorstFirst() {
        Document document;
        LayerTableModel model(&document);
        const auto first = [&](int column) {
            return model.headerData(column, Qt::Horizontal, Qt::InitialSortOrderRole).value<Qt::SortOrder>();
        };
        for (const int column :
             {LayerTableModel::LocalQs, LayerTableModel::CumulativeQs, LayerTableModel::LeaveOneOut,
              LayerTableModel::Macs, LayerTableModel::Parameters})
            QCOMPARE(first(column), Qt::DescendingOrder);
        for (const int column : {LayerTableModel::Name, LayerTableModel::Sqnr, LayerTableModel::Cosine})
            QCOMPARE(first(column), Qt::AscendingOrder);
    }

    void filterSupportsWordsTypesStatesAndLimits() {
        QTemporaryDir folder;
        Document document;
        LayerTableModel model(&document);
        LayerFilter filter;
        filter.setSourceModel(&model);
        QAbstractItemModelTester tester(&filter, QAbstractItemModelTester::FailureReportingMode::QtTest);
        QVERIFY(test::openAndWait(document, test::writeModel(folder)));
        filter.setFilter(QStringLiteral("op:conv"));
        QCOMPARE(column(filter, LayerTableModel::Name), QStringList({"Conv_0", "Conv_2", "Conv_4"}));
        filter.setFilter(QStringLiteral("op:con"));  // another operator
        QCOMPARE(filter.rowCount(), 0);
        filter.setFilter(QStringLiteral("op:conv _2"));
        QCOMPARE(column(filter, LayerTableModel::Name), QStringList({"Conv_2"}));
        filter.setFilter(QStringLiteral("state:skipped op:conv"));
        QCOMPARE(column(filter, LayerTableModel::Name), QStringList({"Conv_4"}));  // the tail
        filter.setFilter(QStringLiteral("qs>0"));
        QCOMPARE(column(filter, LayerTableModel::Name), QStringList({"Conv_0", "Conv_2", "Conv_4"}));
        filter.setFilter(QStringLiteral("qs>100"));
        QCOMPARE(filter.rowCount(), 0);
        filter.setFilter(QStringLiteral("macs>1"));
        QVERIFY(filter.rowCount() >= 3);
        filter.setFilter({});
        QCOMPARE(filter.rowCount(), 6);
    }

    void missingNumbersAreSortedLast() {
        QTemporaryDir folder;
        Document document;
        LayerTableModel model(&document);
        LayerFilter filter;
        filter.setSourceModel(&model);
        QVERIFY(test::openAndWait(document, test::writeModel(folder)));
        for (const Qt::SortOrder order : {Qt::AscendingOrder, Qt::DescendingOrder}) {
            filter.sort(LayerTableModel::Parameters, order);
            const QString last =
                filter.index(filter.rowCount() - 1, LayerTableModel::Parameters).data().toString();
            QCOMPARE(last, QStringLiteral("\u2013"));
            QVERIFY(filter.index(0, LayerTableModel::Parameters).data(LayerTableModel::SortRole).isValid());
        }
    }

    void equalNumbersAreSortedBySensitivity() {
        QTemporaryDir folder;
        Document document;
        LayerTableModel model(&document);
        LayerFilter filter;
        filter.setSourceModel(&model);
        QVERIFY(test::openAndWait(document, test::writeModel(folder)));
        filter.setFilter(QStringLiteral("op:conv"));
        for (const Qt::SortOrder order : {Qt::AscendingOrder, Qt::DescendingOrder}) {
            filter.sort(LayerTableModel::Parameters, order);
            int ties = 0;
            for (int row = 1; row < filter.rowCount(); ++row) {
                const auto number = [&](int at, int column) {
                    return filter.index(at, column).data(LayerTableModel::SortRole).toDouble();
                };
                if (number(row, LayerTableModel::Parameters) != number(row - 1, LayerTableModel::Parameters))
                    continue;
                const double above = number(row - 1, LayerTableModel::LocalQs),
                             below = number(row, LayerTableModel::LocalQs);
                if (above == below) continue;
                ++ties;
                QCOMPARE(above > below, order == Qt::DescendingOrder);
            }
            QVERIFY(ties > 0);
        }
    }

    /// Without classes, the gain is in decibels instead of points.
    void filterComparesTheGainInTheUnitThatTheColumnShows() {
        QTemporaryDir folder;
        Document document;
        LayerTableModel model(&document);
        LayerFilter filter;
        filter.setSourceModel(&model);
        document.setBackgroundEvaluation(true);
        QVERIFY(test::openAndWait(document, test::writeModel(folder), test::writeChainSamples(folder)));
        QVERIFY(QTest::qWaitFor([&] { return document.layer(NodeId(0))->leaveOneOut.has_value(); }, 20000));
        QCOMPARE(model.gainMetric(), TaskMetric::Sqnr);
        const double gain = *document.layer(NodeId(0))->leaveOneOut;
        QVERIFY(gain != 0);
        const auto found = [&](const char* relation, double limit) {
            filter.setFilter(QStringLiteral("Conv_0 loo%1%2")
                                 .arg(QLatin1String(relation), QString::number(limit, 'g', 17)));
            return filter.rowCount() == 1;
        };
        const double distance = std::abs(gain) / 2;
        QVERIFY(found(">", gain - distance) && !found(">", gain + distance));
        QVERIFY(found("<", gain + distance) && !found("<", gain - distance));
    }

    void lowSqnrIsBad() {
        std::vector<LayerResult> layers(2);
        layers[0].local = TensorDifference{0.1, 0.99, 20};
        layers[1].local = TensorDifference{0.5, 0.8, 6};
        const MetricScale scale = scaleOf(layers, Metric::Sqnr);
        QCOMPARE(scale.position(6), 1.0);
        QCOMPARE(scale.position(20), 0.0);
        QCOMPARE(scale.position(std::numeric_limits<double>::infinity()), 0.0);
        QCOMPARE(scaleOf(layers, Metric::LocalQs).position(0.5), 1.0);
        QVERIFY(!scaleOf(layers, Metric::CumulativeQs).any);
    }

  private:
    static QStringList column(const QAbstractItemModel& model, int column) {
        QStringList texts;
        for (int row = 0; row < model.rowCount(); ++row)
            texts.append(model.index(row, column).data().toString());
        return texts;
    }
};

QTEST_MAIN(LayerTableModelTest)
#include "layer_table_model_test.moc"
