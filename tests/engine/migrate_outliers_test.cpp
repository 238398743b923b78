// SPDX-License-Identifier: Apache-2.0
// Outlier migration: factors and their placement computed by hand; the outputs of the network do not change.
#include "quantize/refine/migrate_outliers.h"

#include <QtTest/QtTest>

#include "support/small_graph.h"

using namespace quantloupe;
using test::constantOf;
using test::deviation;
using test::graph;
using test::lines;
using test::list;
using test::ops;
using test::run;

namespace {

const QString kHead =
    "(float[1,3,2] x) => (float[1,3,2] y%2) <float[2] g = {1, 3}, float[2] b = {4, 1}, float[2,2] w = {2, "
    "-1, 8, 4}, float[2,2] v = {1, 0.5, -2, 1}, float[2,2] z = {0, 0, 1, 1}, float half = {0.5}, "
    "float[1,1,2] two = {2, 3}, %3> { %1 }";

Prepared prepared(const QString& nodes, const QString& outputs = {},
                  const QString& constants = "float unused = {0}") {
    return prepare(graph(kHead.arg(nodes, outputs, constants), 17), {});
}

/// Ranges of 8 and 2 for every relevant tensor.
ChannelMaxima wide(const Prepared& p, std::vector<float> widths = {8, 2}) {
    ChannelMaxima maxima;
    for (const TensorId tensor : migratableTensors(p)) maxima[tensor] = widths;
    return maxima;
}

Prepared migrated(const Prepared& p, double strength = 0.5,
                  Placement placement = Placement::InputsAndOutputs) {
    return migrateOutliers(p, wide(p), strength, placement);
}

QString values(const Prepared& p, const char* node, std::size_t input) {
    return list(constantOf(*p.graph, *p.graph->findNode(node), input));
}

}  // namespace

class MigrateOutliersTest : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    /// s = sqrt(8 / 2), sqrt(2 / 8).
    void factorsByHand() {
        const auto p = migrated(prepared("n = LayerNormalization(x, g, b)\n y = MatMul(n, w)"));
        QCOMPARE(ops(*p.graph), QString("LayerNormalization MatMul"));
        QCOMPARE(values(p, "LayerNormalization_0", 1), QString("0.5 6"));
        QCOMPARE(values(p, "LayerNormalization_0", 2), QString("2 2"));
        QCOMPARE(values(p, "MatMul_1", 1), QString("4 -2 4 2"));
        QCOMPARE(p.migrations.size(), std::size_t(1));
        QCOMPARE(list(p.migrations[0].factors), QString("2 0.5"));
        QCOMPARE(p.migrations[0].producer, NodeId(0));
        QCOMPARE(p.migrations[0].readers, std::vector<NodeId>{NodeId(1)});
        QCOMPARE(QString::fromStdString(p.layerMappings[1].note),
                 QString("outliers of its input were migrated into its weight (factors 0.5 to 2)"));
        QCOMPARE(QString::fromStdString(p.layerMappings[0].note),
                 QString("divided by the factors of 'MatMul_1'"));
        QVERIFY(p.notices.empty());
        QCOMPARE(p.transformed, p.graph);
        // The source is unchanged.
        QCOMPARE(list(constantOf(*p.source, NodeId(1), 1)), QString("2 -1 8 4"));
    }

    void strength() {
        const auto source = prepared("n = LayerNormalization(x, g, b)\n y = MatMul(n, w)");
        // the activation's channels all 1 wide
        QCOMPARE(list(migrated(source, 1).migrations[0].factors), QString("8 2"));
        // 8^.25 / 2^.75, 2^.25 / 8^.75
        QCOMPARE(list(migrated(source, 0.25).migrations[0].factors, 4), QString("1 0.25"));
        QVERIFY(migrated(source, 1).version != migrated(source, 0.25).version);
        QVERIFY(migrated(source, 1).version != source.version);
    }

    void places_data() {
        QTest::addColumn<QString>("nodes");
        QTest::addColumn<QString>("made");
        QTest::addColumn<int>("migrations");
        QTest::newRow("two readers share")
            << "n = LayerNormalization(x, g, b)\n c = MatMul(n, w)\n d = MatMul(n, v)\n y = Add(c, d)"
            << "LayerNormalization MatMul MatMul Add" << 1;
        QTest::newRow("without a shift") << "n = LayerNormalization(x, g)\n y = MatMul(n, w)"
                                         << "LayerNormalization MatMul" << 1;
        QTest::newRow("its shape is read, too")
            << "n = LayerNormalization(x, g, b)\n s = Shape(n)\n m = MatMul(n, w)\n y = Reshape(m, s)"
            << "LayerNormalization Shape MatMul Reshape" << 1;
        QTest::newRow("one that takes no factors reads it, too")
            << "n = LayerNormalization(x, g, b)\n c = MatMul(n, w)\n y = Add(c, n)"
            << "LayerNormalization Mul MatMul Add" << 0;
        QTest::newRow("its values go elsewhere in float")
            << "n = LayerNormalization(x, g, b)\n c = MatMul(n, w)\n d = Tanh(n)\n e = Tanh(c)\n y = Sub(e, "
               "d)"
            << "LayerNormalization MatMul Tanh Tanh Sub" << 1;
        QTest::newRow("Mul by one value") << "e = Erf(x)\n h = Mul(half, e)\n y = MatMul(h, w)"
                                          << "Erf Mul MatMul" << 1;
        QTest::newRow("Mul by one value per channel") << "e = Erf(x)\n h = Mul(e, two)\n y = MatMul(h, w)"
                                                      << "Erf Mul MatMul" << 1;
        QTest::newRow("nothing that could take it") << "e = Erf(x)\n y = MatMul(e, w)"
                                                    << "Erf Mul MatMul" << 1;
        QTest::newRow("a graph input") << "y = MatMul(x, w)"
                                       << "Mul MatMul" << 1;
        QTest::newRow("after a bias and an activation")
            << "c = MatMul(x, w)\n d = Add(c, b)\n e = Relu(d)\n y = MatMul(e, v)"
            << "Mul MatMul Add Relu Mul MatMul" << 2;
        QTest::newRow("channels of zeros") << "n = LayerNormalization(x, g, b)\n y = MatMul(n, z)"
                                           << "LayerNormalization MatMul" << 1;
    }
    /// Checks the operators in order, and that the outputs are unchanged.
    void places() {
        QFETCH(QString, nodes);
        QFETCH(int, migrations);
        auto source = prepared(nodes);
        const auto p = migrated(source);
        if (migrations == 0) {  // quantized for the Add
            QVERIFY2(lines(p.notices).contains("is already quantized for its producer"),
                     qPrintable(lines(p.notices)));
            return;
        }
        QCOMPARE(p.migrations.size(), std::size_t(migrations));
        if (QByteArray(QTest::currentDataTag()) != "its values go elsewhere in float")
            QTEST(ops(*p.graph), "made");
        const std::vector<float> input{1, -2, 0.5f, 3, -4, 2.5f};
        const double off = deviation(run(p.graph, input), run(source.graph, input));
        QVERIFY2(off < 1e-6, qPrintable(QString::number(off)));
        for (std::size_t i = 0; i < p.sourceOf.size(); ++i) QVERIFY(p.sourceOf[i].valid());
        for (std::size_t i = 0; i < p.layerMappings.size(); ++i)
            QCOMPARE(p.sourceOf[p.layerMappings[i].prepared.index()], NodeId(i));
    }

    /// A Mul before a layer becomes part of it, and the input of the Mul is not quantized.
    void insertedMul() {
        const auto p = migrated(prepared("e = Erf(x)\n y = MatMul(e, w)"));
        const NodeId product = *p.graph->findNode("MatMul_1_migrated");
        QCOMPARE(p.sourceOf[product.index()], NodeId(1));
        QCOMPARE(list(constantOf(*p.graph, product, 1)), QString("0.5 2"));
        QVERIFY(!p.migrations[0].producer.valid());
    }

    void tensorsQuantizedBeforeTheMulStay() {
        const auto source = prepared("a = Add(x, x)\n y = MatMul(a, w)");
        const auto p = migrated(source);
        QVERIFY(p.migrations.empty());
        QCOMPARE(lines(p.notices),
                 QString("outlier migration leaves out 1 input: 'a' of 'MatMul_1': it is already quantized "
                         "for its producer or other readers, before a factor could be applied"));
        QCOMPARE(p.graph, source.graph);
        // If only inputs of layers are quantized, a factor has an effect.
        QCOMPARE(migrated(source, 0.5, Placement::WeightedInputs).migrations.size(), std::size_t(1));
    }

    void gemm() {
        const auto source = prepare(
            graph("(float[1,2] x) => (float[1,2] y) <float[2,2] w = {2, 8, -1, 4}, float[2] c = {1, 2}> "
                  "{ e = Tanh(x)\n y = Gemm<transB = 1, alpha = 0.5>(e, w, c) }",
                  17),
            {});
        const auto p = migrated(source);
        QCOMPARE(values(p, "Gemm_1", 1), QString("4 4 -2 2"));
        QVERIFY(deviation(run(p.graph, {0.25f, -2}), run(source.graph, {0.25f, -2})) < 1e-6);
    }

    void nothingToMigrate() {
        const auto p = migrated(prepared("y = Relu(x)"));
        QCOMPARE(lines(p.notices),
                 QString("no outliers to migrate: no Gemm or MatMul has its own constant matrix"));
        const auto shared = migrated(prepared("c = MatMul(x, w)\n y = MatMul(c, w)"));
        // Each reader of a shared matrix has its own copy, so that only the position of the factor prevents
        // the migration.
        QVERIFY2(lines(shared.notices).startsWith("outlier migration leaves out 1 input: 'c' of 'MatMul_1'"),
                 qPrintable(lines(shared.notices)));
    }

    /// The result is a notice, never NaN weights.
    void badRanges() {
        const auto source = prepared("n = LayerNormalization(x, g, b)\n y = MatMul(n, w)");
        for (const float bad : {INFINITY, NAN}) {
            const auto p = migrateOutliers(source, wide(source, {bad, 1}), 0.5, Placement::InputsAndOutputs);
            QVERIFY(p.migrations.empty());
            QVERIFY(lines(p.notices).contains("a range is infinite or undefined"));
        }
        const auto extreme =
            migrateOutliers(source, wide(source, {1e30f, 1e-30f}), 0.5, Placement::InputsAndOutputs);
        QCOMPARE(list(extreme.migrations[0].factors), QString("10000 0.0001"));
        const auto dead = migrateOutliers(source, wide(source, {0, 2}), 0.5, Placement::InputsAndOutputs);
        QCOMPARE(list(dead.migrations[0].factors), QString("1 0.5"));
    }
};

QTEST_GUILESS_MAIN(MigrateOutliersTest)
#include "migrate_outliers_test.moc"
