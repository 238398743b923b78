// SPDX-License-Identifier: Apache-2.0
// Folding of Mul, Add, Sub and Div by constants per channel, and folding through operators between the batch
// norm and the layer, on networks small enough to fold by hand. The variances are chosen so that variance +
// epsilon is a square, which makes every expected number exact.
#include <QtTest/QtTest>

#include "support/small_graph.h"
#include "transform/prepare.h"

using namespace quantloupe;
using test::constantText;
using test::deviation;
using test::graph;
using test::ops;
using test::run;

namespace {

/// scale = gamma / sqrt(variance) = {2, -3}, beta = {10, 20}, mean = {1, 2}
const std::string kNorm2 =
    "float[2] g = {4, -9}, float[2] be = {10, 20}, float[2] mu = {1, 2}, float[2] va = {4, 9}";

}  // namespace

class FoldAffineTest : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    /// A batch norm written as elementary operators, operators after a batch norm, and operators with one
    /// value for all channels.
    void affineOperators_data() {
        QTest::addColumn<QString>("body");
        QTest::addColumn<QString>("weight");
        QTest::addColumn<QString>("bias");
        const QString conv =
            "(float[1,1,2,2] x) => (float[1,2,2,2] y) <float[2,1,1,1] w = {5, 7}, float[2] b = {1, 2}, "
            "float[2,1,1] s = {2, -3}, float[1,2,1,1] t = {10, 20}, float two = {2}, %1> { a = Conv(x, w, "
            "b)\n ";
        QTest::newRow("Sub, Mul, Add")
            << conv + "m = Sub(a, s)\n n = Mul(t, m)\n o = Add(s, n)\n y = Relu(o) }"
            << "50 140"
            << "-8 97";
        QTest::newRow("Div by one value") << conv + "d = Div(a, two)\n y = Relu(d) }"
                                          << "2.5 3.5"
                                          << "0.5 1";
        QTest::newRow("after a batch norm")
            << conv +
                   "n = BatchNormalization<epsilon = 0.0>(a, g, be, mu, va)\n m = Mul(n, s)\n"
                   " o = Add(m, t)\n y = Relu(o) }"
            << "20 63"
            << "30 -40";
    }
    void affineOperators() {
        QFETCH(QString, body);
        const auto source = graph(body.arg(QString::fromStdString(kNorm2)));
        const auto p = prepare(source, {});
        QCOMPARE(ops(*p.graph), QString("Conv Relu"));
        QCOMPARE(p.foldedBatchNorms, source->nodeCount() - 2);
        QTEST(constantText(*p.graph, "Conv_0", 1), "weight");
        QTEST(constantText(*p.graph, "Conv_0", 2), "bias");
        const std::vector<float> input{1, -2, 3, 0.5f};
        QCOMPARE(deviation(run(p.graph, input), run(source, input)) < 1e-6, true);
    }

    /// The operators that are left, and the network's function, which ours must keep.
    void operatorsInBetween_data() {
        QTest::addColumn<QString>("body");
        QTest::addColumn<QString>("left");
        const QString norm = "BatchNormalization<epsilon = 0.0>(a, g, be, mu, va)";
        const QString convs =
            "(float[1,3,1,1] x) => (float[%1] y) <float[2,3,1,1] w = {5, 7, 1, 2, 3, -4}, float[2] b = {1, "
            "-2}, int64[2] to2 = {1, 2}, int64[3] to3 = {1, 2, 1}, int64[2] last = {2, 3}, float[2,3] v = "
            "{1, 2, 3, 4, 5, 6}, float[2,2,1,1] u = {1, 2, 3, 4}, float[2] s = {2, -3}, %2> ";
        const auto conv = [&](const QString& shape, const QString& nodes) {
            return convs.arg(shape, QString::fromStdString(kNorm2)) + nodes;
        };
        QTest::newRow("Flatten") << conv("1,2", "{ c = Conv(x, w, b)\n a = Flatten(c)\n y = " + norm + " }")
                                 << "Conv Flatten";
        QTest::newRow("Reshape") << conv("1,2",
                                         "{ c = Conv(x, w, b)\n a = Reshape(c, to2)\n y = " + norm + " }")
                                 << "Conv Reshape";
        QTest::newRow("Squeeze") << conv("1,2",
                                         "{ c = Conv(x, w, b)\n a = Squeeze(c, last)\n y = " + norm + " }")
                                 << "Conv Squeeze";
        QTest::newRow("two in a row, around a Flatten")
            << conv("1,2",
                    "{ c = Conv(x, w, b)\n d = BatchNormalization<epsilon = 0.0>(c, g, mu, be, va)\n a = "
                    "Flatten(d)\n y = " +
                        norm + " }")
            << "Conv Flatten";
        QTest::newRow("small operators after a Flatten")
            << conv(
                   "1,2",
                   "{ c = Conv(x, w, b)\n f = Flatten(c)\n a = Sub(f, mu)\n m = Mul(a, s)\n y = Add(m, be) }")
            << "Conv Flatten";
        QTest::newRow("Concat")
            << conv("1,2,1,1",
                    "{ k = Conv(x, k1)\n l = Conv(x, k2, one)\n a = Concat<axis = 1>(k, l)\n y = " + norm +
                        " }")
                   .replace("float[2] s =",
                            "float[1,3,1,1] k1 = {1, 2, 3}, float[1,3,1,1] k2 = {-4, 5, 6}, float[1] one = "
                            "{7}, float[2] s =")
            << "Conv Conv Concat";
        QTest::newRow("Concat of positions")
            << conv("1,2,1,2",
                    "{ k = Conv(x, w)\n l = Conv(x, k2, b)\n a = Concat<axis = 3>(k, l)\n y = " + norm + " }")
                   .replace("float[2] s =", "float[2,3,1,1] k2 = {-4, 5, 6, 1, 1, 2}, float[2] s =")
            << "Conv Conv Concat";
        QTest::newRow("forward through a Flatten into Gemm")
            << conv("1,2",
                    "{ a = Reshape(x, in)\n n = BatchNormalization<epsilon = 0.0>(a, g, be, mu, va)\n f = "
                    "Flatten(n)\n y = Gemm(f, m, b) }")
                   .replace("float[1,3,1,1] x", "float[1,8,1,1] x")
                   .replace("float[2] s =",
                            "int64[4] in = {1, 2, 2, 2}, float[8,2] m = "
                            "{1,2,3,4,5,6,7,8,9,-1,-2,-3,-4,-5,-6,-7}, float[2] s =")
            << "Reshape Flatten Gemm";
        const auto product = [&](const QString& shape, const QString& nodes) {
            return QString(
                       "(float[1,3] x) => (float[%1] y) <float[3,2] w = {5, 7, 1, 2, 3, -4}, float[2] b = "
                       "{1, -2}, float[2,1] bt = {1, -2}, "
                       "int64[3] rows = {1, 1, 3}, int64[2] to2 = {1, 2}, float[2,2] m = {1, 2, 3, 4}, "
                       "float[2] s = {2, -3}, %2> ")
                       .arg(shape, QString::fromStdString(kNorm2)) +
                   nodes;
        };
        QTest::newRow("MatMul with its bias")
            << product("1,2", "{ p = MatMul(x, w)\n a = Add(b, p)\n y = " + norm + " }") << "MatMul Add";
        QTest::newRow("MatMul") << product("1,2", "{ a = MatMul(x, w)\n y = " + norm + " }") << "MatMul Add";
        QTest::newRow("MatMul, two in a row")
            << product("1,2",
                       "{ p = MatMul(x, w)\n a = BatchNormalization<epsilon = 0.0>(p, g, mu, be, va)\n y = " +
                           norm + " }")
            << "MatMul Add";
        QTest::newRow("MatMul and Mul") << product("1,2", "{ a = MatMul(x, w)\n y = Mul(a, s) }") << "MatMul";
        QTest::newRow("MatMul, Add, Mul")
            << product("1,2", "{ p = MatMul(x, w)\n a = Add(p, b)\n y = Mul(a, s) }") << "MatMul Add";
        QTest::newRow("MatMul and Transpose")
            << product("1,2,1",
                       "{ r = Reshape(x, rows)\n p = MatMul(r, w)\n t = Transpose<perm = [0,2,1]>(p)\n a = "
                       "Add(t, bt)\n y = " +
                           norm + " }")
            << "Reshape MatMul Transpose Add";
        QTest::newRow("MatMul of rows, Transpose, no bias")
            << product("1,2,1",
                       "{ r = Reshape(x, rows)\n p = MatMul(r, w)\n a = Transpose<perm = [0,2,1]>(p)\n y = " +
                           norm + " }")
            << "Reshape MatMul Transpose Add";
        QTest::newRow("forward into MatMul")
            << product("1,2", "{ p = MatMul(x, w)\n a = Relu(p)\n n = " + norm + "\n y = MatMul(n, m) }")
            << "MatMul Relu MatMul Add";
        QTest::newRow("forward through a Transpose into MatMul")
            << product("1,1,2", "{ p = MatMul(x, w)\n r = Reshape(p, to3)\n a = Relu(r)\n n = " + norm +
                                    "\n t = Transpose<perm = [0,2,1]>(n)\n y = MatMul(t, m) }")
                   .replace("float[2] s =", "int64[3] to3 = {1, 2, 1}, float[2] s =")
            << "MatMul Reshape Relu Transpose MatMul Add";
        QTest::newRow("forward, twice")
            << product("1,2",
                       "{ p = Relu(x)\n a = MatMul(p, w)\n e = Relu(a)\n d = BatchNormalization<epsilon = "
                       "0.0>(e, g, mu, be, va)\n "
                       "n = BatchNormalization<epsilon = 0.0>(d, g, be, mu, va)\n y = MatMul(n, m) }")
            << "Relu MatMul Relu MatMul Add";
    }
    void operatorsInBetween() {
        QFETCH(QString, body);
        const auto source = graph(body);
        const auto p = prepare(source, {});
        QTEST(ops(*p.graph), "left");
        std::vector<float> input(
            static_cast<std::size_t>(source->tensor(source->inputs()[0]).shape->at(1).value));
        for (std::size_t i = 0; i < input.size(); ++i) input[i] = 0.75f * static_cast<float>(i) - 1.25f;
        const double off = deviation(run(p.graph, input), run(source, input));
        QVERIFY2(off < 2e-6, qPrintable(QString::number(off)));
        for (std::size_t i = 0; i < p.layerMappings.size(); ++i)
            QVERIFY(p.layerMappings[i].prepared.valid() != p.layerMappings[i].foldedInto.valid());
        QVERIFY(p.foldedBatchNorms > 0);
    }

    void affineOperatorsThatStay_data() {
        QTest::addColumn<QString>("body");
        const QString head =
            "(float[1,2,2,2] x) => (float[1,2,2,2] y%1) <float[2,2,1,1] w = {5, 7, 1, 2}, float[2,2] p = {1, "
            "2, 3, 4}, "
            "float[2] c = {1, 2}, float[1,1,1,1,1] five = {3}> { a = Conv(x, w)\n ";
        QTest::newRow("a value for each position") << head.arg("") + "y = Mul(a, p) }";
        QTest::newRow("a value for each column") << head.arg("") + "y = Mul(a, c) }";
        QTest::newRow("a computed operand") << head.arg("") + "y = Mul(a, x) }";
        QTest::newRow("constant minus") << head.arg("") + "y = Sub(c, a) }";
        QTest::newRow("a graph output between") << head.arg(", float[1,2,2,2] a") + "y = Mul(a, w) }";
        QTest::newRow("two readers") << head.arg("") + "b = Mul(a, w)\n y = Add(a, b) }";
    }
    void affineOperatorsThatStay() {
        QFETCH(QString, body);
        const auto source = graph(body.replace("Mul(a, w)", "Mul(a, s)")
                                      .replace("float[2] c", "float[2,1,1] s = {2, 3}, float[2] c"));
        QCOMPARE(prepare(source, {}).graph->nodeCount(), source->nodeCount());
    }
};

QTEST_GUILESS_MAIN(FoldAffineTest)
#include "fold_affine_test.moc"
