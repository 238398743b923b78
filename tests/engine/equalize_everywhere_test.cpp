// SPDX-License-Identifier: Apache-2.0
// The general profile: its junctions and the changes to their weights. (All profiles on random networks:
// equalize_random_test.)
#include <QtTest/QtTest>
#include <cmath>
#include <random>
#include <set>

#include "model/graph_builder.h"
#include "runtime/program/program.h"
#include "support/equalization.h"
#include "support/random_seed.h"
#include "support/small_graph.h"
#include "transform/prepare.h"
#include "transform/scale_groups.h"

using namespace quantloupe;
using test::constantOf;
using test::deviation;
using test::everywhere;
using test::graph;
using test::list;
using test::run;

namespace {

QString names(const Graph& g, const std::vector<NodeId>& nodes) {
    QStringList texts;
    for (const NodeId id : nodes) texts << QString::fromStdString(g.node(id).name);
    return texts.join('+');
}

}  // namespace

class EqualizeEverywhereTest : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void junctions_data() {
        QTest::addColumn<QString>("nodes");
        QTest::addColumn<QString>("expected");
        const auto between = [](const char* op) {
            QTest::newRow(op) << QString("a = Conv(x, w1)\n b = %1\n y = Conv(b, w2)").arg(op)
                              << "Conv_0>Conv_2";
        };
        between("Relu(a)");
        between("PRelu(a, s)");
        between("LeakyRelu(a)");
        between("Identity(a)");
        between("Dropout(a)");
        between("MaxPool<kernel_shape = [1,1]>(a)");
        between("AveragePool<kernel_shape = [3,3], pads = [1,1,1,1]>(a)");
        between("Pad(a, noPads, zero)");
        between("Clip(a, zero)");
        between("Resize<mode = \"linear\">(a, , , sizes)");
        between("Resize(a, , twice)");
        between("Mul(a, t)");
        between("Mul(six, a)");
        between("Div(a, six)");
        between("Slice(a, one, three, two)");
        QTest::newRow("Div by the data") << "a = Conv(x, w1)\n b = Div(six, a)\n y = Conv(b, w2)"
                                         << "";
        QTest::newRow("Slice of channels")
            << "a = Conv(x, w1)\n b = Slice(a, one, three, one)\n y = Conv(b, n)"
            << "";
        QTest::newRow("Clip") << "a = Conv(x, w1)\n b = Clip(a, zero, six)\n y = Conv(b, w2)"
                              << "";
        QTest::newRow("Pad with ones") << "a = Conv(x, w1)\n b = Pad(a, noPads, six)\n y = Conv(b, w2)"
                                       << "";
        QTest::newRow("Resize with a crop")
            << "a = Conv(x, w1)\n b = Resize<mode = \"linear\", coordinate_transformation_mode = "
               "\"tf_crop_and_resize\", extrapolation_value = 1.0>(a, roi, twice)\n y = Conv(b, w2)"
            << "";
        QTest::newRow("resized channels")
            << "a = Conv(x, n)\n b = Resize<mode = \"linear\">(a, , channels)\n y = Conv(b, w2)"
            << "";
        QTest::newRow("Sigmoid") << "a = Conv(x, w1)\n b = Sigmoid(a)\n y = Conv(b, w2)"
                                 << "";
        QTest::newRow("depthwise") << "a = Conv(x, w1)\n b = Conv<group = 2>(a, d1)\n y = Conv(b, w2)"
                                   << "Conv_0>Conv_1, Conv_1>Conv_2";
        QTest::newRow("grouped") << "a = Conv(x, w1)\n b = Conv<group = 2>(a, u)\n y = Conv(b, v)"
                                 << "Conv_0>Conv_1, Conv_1>Conv_2";
        QTest::newRow("ConvTranspose") << "a = ConvTranspose(x, w1)\n y = Conv(a, w2)"
                                       << "ConvTranspose_0>Conv_1";
        QTest::newRow("two readers")
            << "a = Conv(x, w1)\n b = Relu(a)\n c = Conv(b, w2)\n e = Conv(a, w3)\n y = Add(c, e)"
            << "Conv_0>Conv_2+Conv_3";
        QTest::newRow("residual") << "a = Conv(x, w1)\n b = Conv(a, w2)\n c = Add(a, b)\n y = Conv(c, w3)"
                                  << "Conv_0+Conv_1>Conv_1+Conv_3";
        QTest::newRow("positions broadcast") << "a = Conv(x, w1)\n p = GlobalAveragePool(a)\n b = Conv(p, "
                                                "w2)\n c = Add(a, b)\n y = Conv(c, w3)"
                                             << "Conv_0+Conv_2>Conv_2+Conv_4";
        QTest::newRow("channels broadcast")
            << "a = Conv(x, w1)\n b = Conv(a, n)\n c = Add(a, b)\n y = Conv(c, w3)"
            << "";
        QTest::newRow("other ranks")
            << "a = Conv(x, w1)\n p = GlobalAveragePool(a)\n f = Flatten(p)\n c = Add(a, f)\n y = Conv(c, w3)"
            << "";
        QTest::newRow("sizes of another branch")
            << "a = Conv(x, w1)\n p = MaxPool<kernel_shape = [2,2], strides = [2,2]>(a)\n b = Conv(p, w2)\n "
               "z = Shape(a)\n r = Resize(b, , , z)\n c = Add(a, r)\n y = Conv(c, w3)"
            << "Conv_0+Conv_2>Conv_2+Conv_6";
        QTest::newRow("unknown sizes") << "r = Resize(x, , , sizes)\n a = Conv(r, w1)\n b = Conv(a, w2)\n c "
                                          "= Add(a, b)\n y = Conv(c, w3)"
                                       << "Conv_1+Conv_2>Conv_2+Conv_4";
        QTest::newRow("residual from the input") << "a = Conv(x, w1)\n c = Add(a, x)\n y = Conv(c, w3)"
                                                 << "";
        QTest::newRow("constant added") << "a = Conv(x, w1)\n c = Add(a, t)\n y = Conv(c, w3)"
                                        << "Conv_0>Conv_2";
        QTest::newRow("one value added") << "a = Conv(x, w1)\n c = Add(a, six)\n y = Conv(c, w3)"
                                         << "";
        QTest::newRow("shared weight") << "a = Conv(x, w1)\n y = Conv(a, w1)"
                                       << "";
    }
    void junctions() {
        QFETCH(QString, nodes);
        const auto g = graph(
            "(float[1,2,4,4] x, int64[4] sizes) => (float[1,2,H,W] y) <float[2,2,1,1] w1 = {1,2,3,4}, "
            "float[2,2,1,1] w2 = {1,2,3,4}, float[2,2,1,1] w3 = {1,2,3,4}, float[1,2,1,1] n = {1,2}, "
            "float[2,1,1,1] d1 = {1,2}, float[4,1,1,1] u = {1,2,3,4}, float[2,4,1,1] v = {1,2,3,4,5,6,7,8}, "
            "float[2,1,1] s = {0.25,0.5}, float[2,1,1] t = {1,2}, int64[8] noPads = {0,0,1,1,0,0,1,1}, float "
            "zero = {0}, float six = {6}, int64[1] one = {1}, int64[1] two = {2}, int64[1] three = {3}, "
            "float[4] twice = {1, 1, 2, 2}, float[4] channels = {1, 2, 1, 1}, float[8] roi = {0, 0, 0, 0, 1, "
            "1, 2, 2}> { " +
            nodes + " }");
        QStringList texts;
        for (const ScaleGroup& group : findScaleGroups(*g, {}).groups)
            texts << names(*g, group.heads) + ">" + names(*g, group.tails);
        QTEST(texts.join(", "), "expected");
    }

    void otherRanks() {
        const auto conv1 = prepare(graph("(float[1,1,4] x) => (float[1,1,4] y) <float[2,1,1] w1 = {-4, 1}, "
                                         "float[1,2,1] w2 = {1, 4}> { a = Conv(x, w1)\n y = Conv(a, w2) }"),
                                   everywhere());
        QCOMPARE(list(conv1.junctions[0].factors), QString("2 0.5"));
        const auto gemm = prepare(
            graph(
                "(float[1,1] x) => (float[1,1] y) <float[1,2] w1 = {-4, 1}, float[2] b = {6, 6}, "
                "float[1,2] w2 = {1, 4}> { a = Gemm(x, w1, b)\n r = Relu(a)\n y = Gemm<transB = 1>(r, w2) }"),
            everywhere());
        QCOMPARE(list(constantOf(*gemm.graph, NodeId(0), 1)), QString("-2 2"));
        QCOMPARE(list(constantOf(*gemm.graph, NodeId(0), 2)), QString("3 12"));
        QCOMPARE(list(constantOf(*gemm.graph, NodeId(2), 1)), QString("2 2"));
        const auto matmul = prepare(
            graph("(float[1,3,1] x) => (float[1,3,1] y) <float[1,2] w1 = {-4, 1}, float[2] b = {6, 6}, "
                  "float[2,1] w2 = {1, 4}> { a = MatMul(x, w1)\n s = Add(a, b)\n r = Relu(s)\n y = MatMul(r, "
                  "w2) }"),
            everywhere());
        QCOMPARE(list(constantOf(*matmul.graph, NodeId(0), 1)), QString("-2 2"));
        QCOMPARE(list(constantOf(*matmul.graph, NodeId(1), 1)), QString("3 12"));
        QCOMPARE(list(constantOf(*matmul.graph, NodeId(3), 1)), QString("2 2"));
    }

    void obstaclesAreReported() {
        const auto p = prepare(
            graph(
                "(float[1,1,4,4] x) => (float[1,1,4,4] y) <float[1,1,1,1] w1 = {4}, float[1,1,1,1] w2 = {1}> "
                "{ a = Conv(x, w1)\n b = Sigmoid(a)\n y = Conv(b, w2) }"),
            everywhere());
        QCOMPARE(QString::fromStdString(p.notices.at(0)),
                 QString("nothing can be equalized; reasons: 'Conv_0' before 'Conv_2': 'Sigmoid_1' is a "
                         "Sigmoid, which a factor cannot pass"));
        const auto output = prepare(
            graph("(float[1,1,4,4] x) => (float[1,1,4,4] y, float[1,1,4,4] a) <float[1,1,1,1] w1 = {4}, "
                  "float[1,1,1,1] w2 = {1}> { a = Conv(x, w1)\n y = Conv(a, w2) }"),
            everywhere());
        QCOMPARE(
            QString::fromStdString(output.notices.at(0)),
            QString("nothing can be equalized; reasons: 'Conv_0' before 'Conv_1': 'a' is a graph output"));
    }

    /// A channel that is dead in the head: its bias does not explode. The tail's column only shrinks to the
    /// largest of the others.
    void deadChannels() {
        const auto p =
            prepare(graph("(float[1,1,4,4] x) => (float[1,1,4,4] y) <float[3,1,1,1] w1 = {4, 1e-20, 0}, "
                          "float[3] b1 = {1, 1, 1}, float[1,3,1,1] w2 = {1, 1, 8}> { a = Conv(x, w1, b1)\n y "
                          "= Conv(a, w2) }"),
                    everywhere(-1));
        QCOMPARE(list(constantOf(*p.graph, NodeId(0), 2)), QString("0.5 1 4"));
        QCOMPARE(list(constantOf(*p.graph, NodeId(1), 1)), QString("2 1 2"));
        QVERIFY(QString::fromStdString(p.notices.at(0)).startsWith("2 of 3 channels of 'Conv_0' are dead"));
    }

    void repeatingAndRescalingChangeNothing() {
        const QString net =
            "(float[1,1,4,4] x) => (float[1,1,4,4] y) <float[2,1,1,1] w1 = {%1}, float[2] b1 = {%2}, "
            "float[1,2,1,1] w2 = {%3}> { a = Conv(x, w1, b1)\n y = Conv(a, w2) }";
        const auto once = prepare(graph(net.arg("-4.5, 1.5", "6, 5", "1.25, 4")), everywhere());
        const auto twice = prepare(once.graph, everywhere());
        for (const float f : twice.junctions[0].factors) QVERIFY(std::fabs(f - 1) <= 1e-6f);
        // The same function, its channels rescaled by 16 and 1/8.
        const auto other = prepare(graph(net.arg("-72, 0.1875", "96, 0.625", "0.078125, 32")), everywhere());
        for (std::size_t i = 0; i < 2; ++i) {
            QVERIFY(deviation(constantOf(*other.graph, NodeId(i), 1),
                              constantOf(*once.graph, NodeId(i), 1)) <= 1e-6);
            QCOMPARE(constantOf(*other.graph, NodeId(0), 2).size(), std::size_t(2));
        }
        QVERIFY(deviation(constantOf(*other.graph, NodeId(0), 2), constantOf(*once.graph, NodeId(0), 2)) <=
                1e-6);
    }

    void realNetworks_data() {
        QTest::addColumn<int>("junctions");
        QTest::newRow("mobilenetv2_cifar10") << 42;
        // one inside each of three blocks, one chain of sums per stage
        QTest::newRow("mlperf_tiny_resnet8") << 6;
        QTest::newRow("mlperf_tiny_vww_mobilenet") << 27;
        QTest::newRow("vww_mobilenet_unequalized") << 27;
        QTest::newRow("mlperf_tiny_ad01_autoencoder") << 9;
        QTest::newRow("vit_2_blocks") << 0;
        QTest::newRow("vit_cifar10") << 0;
    }
    void realNetworks() {
        QUANTLOUPE_ASSET(path, std::string("models/") + QTest::currentDataTag() + ".onnx");
        TransformOptions options = everywhere(-1);
        options.replaceRelu6 = ReplaceRelu6::All;
        const auto p = prepare(loadModel(path).graph, options);
        for (const std::string& notice : p.notices) qInfo("%s", notice.c_str());
        float widest = 1;
        for (const Junction& j : p.junctions)
            for (const float f : j.factors) widest = std::max({widest, f, 1 / f});
        qInfo("%zu junctions, factors up to %g", p.junctions.size(), static_cast<double>(widest));
        // One more pass, which reads all weights instead of only the largest, hardly changes anything, unless
        // factors have reached the limit of one run.
        if (widest > 9999) return;
        for (const Junction& j : prepare(p.graph, everywhere()).junctions)
            for (const float f : j.factors)
                QVERIFY2(std::fabs(f - 1) <= 1e-5f, qPrintable(QString::number(f)));
        QTEST(int(p.junctions.size()), "junctions");
    }
};

QTEST_GUILESS_MAIN(EqualizeEverywhereTest)
#include "equalize_everywhere_test.moc"
