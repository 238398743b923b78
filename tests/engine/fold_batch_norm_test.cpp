// SPDX-License-Identifier: Apache-2.0
// Batch-norm folding on networks small enough to fold by hand. The variances are chosen so that variance +
// epsilon is a square, which makes every expected number exact.
#include <QtTest/QtTest>

#include "base/error.h"
#include "support/small_graph.h"
#include "transform/prepare.h"

using namespace quantloupe;
using test::constantText;
using test::ops;

namespace {

/// scale = gamma / sqrt(variance) = {2, -3}, beta = {10, 20}, mean = {1, 2}
const std::string kNorm2 =
    "float[2] g = {4, -9}, float[2] be = {10, 20}, float[2] mu = {1, 2}, float[2] va = {4, 9}";

GraphPtr graph(const std::string& body, int opset = 13) {
    return test::textModel("<ir_version: 8, opset_import: [\"\" : " + std::to_string(opset) + "]>\n" + body)
        .graph;
}

QString noteOf(const Prepared& p, const char* node) {
    return QString::fromStdString(p.layerMappings[p.source->findNode(node)->index()].note);
}

}  // namespace

class FoldBatchNormTest : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    // This needs no --simplify.
    void identityAndDropoutDoNotStandBetween() {
        for (const char* shape : {"float[N,1,4,4]", "float"}) {  // without shapes, too
            const auto p =
                prepare(graph("net (" + std::string(shape) + " x) => (" +
                              (shape == std::string("float") ? "float" : "float[N,2,4,4]") +
                              " y) <float[2,1,1,1] w = {5, 7}, " + kNorm2 +
                              "> { a = Conv(x, w)\n i = Identity(a)\n d, mask = Dropout(i)\n"
                              " b = BatchNormalization<epsilon = 0.0>(d, g, be, mu, va)\n y = Relu(b) }"),
                        {});
            QCOMPARE(p.foldedBatchNorms, std::size_t(1));
            QCOMPARE(ops(*p.graph), QString("Conv Identity Dropout Relu"));
            QCOMPARE(constantText(*p.graph, "Conv_0", 1), QString("10 -21"));
            QCOMPARE(constantText(*p.graph, "Conv_0", 2), QString("8 26"));
        }
    }

    void convWithoutBias() {
        const auto p = prepare(
            graph("net (float[N,1,4,4] x) => (float[N,2,4,4] y) <float[2,1,1,1] w = {5, 7}, " + kNorm2 +
                  "> { a = Conv(x, w)\n b = BatchNormalization<epsilon = 0.0>(a, g, be, mu, va)\n"
                  " y = Relu(b) }"),
            {});
        QCOMPARE(ops(*p.graph), QString("Conv Relu"));
        QCOMPARE(p.foldedBatchNorms, std::size_t(1));
        QCOMPARE(constantText(*p.graph, "Conv_0", 1), QString("10 -21"));  // w * scale
        QCOMPARE(constantText(*p.graph, "Conv_0", 2), QString("8 26"));    // beta - mean * scale
        const Node& conv = p.graph->node(*p.graph->findNode("Conv_0"));
        QCOMPARE(p.graph->tensor(conv.output()).name, std::string("b"));  // the batch norm's output
        QCOMPARE(p.graph->tensor(conv.input(2)).name, std::string("Conv_0.bias"));
        // Where each source layer went, and back.
        QCOMPARE(p.layerMappings[1].prepared.valid(), false);
        QCOMPARE(p.layerMappings[1].foldedInto, NodeId(0));
        QCOMPARE(p.layerMappings[2].prepared, NodeId(1));
        QCOMPARE(p.sourceOf[1], NodeId(2));
    }

    void convWithBias() {
        const auto p =
            prepare(graph("net (float[N,1,4,4] x) => (float[N,2,4,4] y) <float[2,1,1,1] w = {5, 7}, "
                          "float[2] c = {3, 5}, " +
                          kNorm2 +
                          "> { a = Conv(x, w, c)\n"
                          "y = BatchNormalization<epsilon = 0.0>(a, g, be, mu, va) }"),
                    {});
        QCOMPARE(constantText(*p.graph, "Conv_0", 2), QString("14 11"));  // 10 - (1-3)*2, 20 - (2-5)*-3
        QCOMPARE(p.graph->tensor(p.graph->outputs()[0]).name, std::string("y"));
    }

    void missingEpsilonIsOneHundredThousandth() {
        const auto p =
            prepare(graph("net (float[N,1,4,4] x) => (float[N,1,4,4] y) <float[1,1,1,1] w = {1}, "
                          "float[1] g = {1}, float[1] z = {0}, float[1] va = {0}> { a = Conv(x, w)\n"
                          "y = BatchNormalization(a, g, z, z, va) }"),
                    {});
        const float w = p.graph->constantOf(p.graph->node(NodeId(0)).input(1))->floats()[0];
        QVERIFY(std::fabs(w - 316.227766f) < 1e-4f);
    }

    void depthwise() {
        const auto p = prepare(
            graph("net (float[N,2,4,4] x) => (float[N,2,4,4] y) <float[2,1,1,2] w = {1, 2, 3, 4}, " + kNorm2 +
                  "> { a = Conv<group = 2, pads = [0,1,0,0]>(x, w)\n"
                  " y = BatchNormalization<epsilon = 0.0>(a, g, be, mu, va) }"),
            {});
        QCOMPARE(constantText(*p.graph, "Conv_0", 1), QString("2 4 -9 -12"));
    }

    void convTransposeScalesItsSecondAxis() {
        const auto p = prepare(
            graph("net (float[N,2,4,4] x) => (float[N,2,4,4] y) <float[2,2,1,1] w = {1, 2, 3, 4}, " + kNorm2 +
                  "> { a = ConvTranspose(x, w)\n"
                  " y = BatchNormalization<epsilon = 0.0>(a, g, be, mu, va) }"),
            {});
        QCOMPARE(constantText(*p.graph, "ConvTranspose_0", 1), QString("2 -6 6 -12"));
    }

    void gemm_data() {
        QTest::addColumn<int>("transB");
        QTest::addColumn<QString>("weight");
        QTest::newRow("[in, out]") << 0 << "2 -6 6 -12";
        QTest::newRow("[out, in]") << 1 << "2 4 -9 -12";
    }
    void gemm() {
        QFETCH(int, transB);
        const auto p = prepare(graph("net (float[N,2] x) => (float[N,2] y) <float[2,2] w = {1, 2, 3, 4}, "
                                     "float[1,2] c = {3, 5}, " +
                                     kNorm2 + "> { a = Gemm<transB = " + std::to_string(transB) +
                                     ">(x, w, c)\n"
                                     "y = BatchNormalization<epsilon = 0.0>(a, g, be, mu, va) }"),
                               {});
        QTEST(constantText(*p.graph, "Gemm_0", 1), "weight");
        QCOMPARE(constantText(*p.graph, "Gemm_0", 2), QString("14 11"));
    }

    void forwardIntoUnpaddedConv() {
        // beta - mean*scale = {8, 26}; sums over the kernel {1+2, 3+4}; 1 + 3*8 + 7*26
        const auto p =
            prepare(graph("net (float[N,2,4,4] x) => (float[N,1,4,4] y) <float[1,2,1,2] w = {1, 2, 3, 4}, "
                          "float[1] c = {1}, " +
                          kNorm2 +
                          "> { r = Relu(x)\n"
                          "b = BatchNormalization<epsilon = 0.0>(r, g, be, mu, va)\n y = Conv(b, w, c) }"),
                    {});
        QCOMPARE(ops(*p.graph), QString("Relu Conv"));
        QCOMPARE(constantText(*p.graph, "Conv_2", 1), QString("2 4 -9 -12"));
        QCOMPARE(constantText(*p.graph, "Conv_2", 2), QString("207"));
        QCOMPARE(p.layerMappings[1].foldedInto, NodeId(2));
    }

    void forwardIntoGemm() {
        const auto p =
            prepare(graph("net (float[N,2] x) => (float[N,2] y) <float[2,2] w = {1, 2, 3, 4}, " + kNorm2 +
                          "> { b = BatchNormalization<epsilon = 0.0>(x, g, be, mu, va)\n"
                          "y = Gemm(b, w) }"),
                    {});
        QCOMPARE(constantText(*p.graph, "Gemm_1", 1), QString("2 4 -9 -12"));
        QCOMPARE(constantText(*p.graph, "Gemm_1", 2), QString("86 120"));  // 8*1 + 26*3, 8*2 + 26*4
    }

    void twoInARow() {
        const auto p = prepare(
            graph("net (float[N,1,4,4] x) => (float[N,2,4,4] y) <float[2,1,1,1] w = {5, 7}, " + kNorm2 +
                  "> { a = Conv(x, w)\n b = BatchNormalization<epsilon = 0.0>(a, g, be, mu, va)\n"
                  " y = BatchNormalization<epsilon = 0.0>(b, g, be, mu, va) }"),
            {});
        QCOMPARE(ops(*p.graph), QString("Conv"));
        QCOMPARE(constantText(*p.graph, "Conv_0", 1), QString("20 63"));
        QCOMPARE(constantText(*p.graph, "Conv_0", 2), QString("24 -52"));
        QCOMPARE(p.layerMappings[2].foldedInto, NodeId(0));
    }

    void sharedWeightIsClonedForTheFoldedLayer() {
        const auto p =
            prepare(graph("net (float[N,1,4,4] x) => (float[N,2,4,4] y, float[N,2,4,4] z) "
                          "<float[2,1,1,1] w = {5, 7}, " +
                          kNorm2 +
                          "> { a = Conv(x, w)\n"
                          "y = BatchNormalization<epsilon = 0.0>(a, g, be, mu, va)\n z = Conv(x, w) }"),
                    {});
        QCOMPARE(constantText(*p.graph, "Conv_0", 1), QString("10 -21"));
        QCOMPARE(constantText(*p.graph, "Conv_2", 1), QString("5 7"));
        // Unchanged data is shared with the source.
        QCOMPARE(p.graph->constantOf(*p.graph->findTensor("w")),
                 p.source->constantOf(*p.source->findTensor("w")));
    }

    void refusals_data() {
        QTest::addColumn<QString>("body");
        QTest::addColumn<QString>("reason");
        const QString norm = "BatchNormalization<epsilon = 0.0>(a, g, be, mu, va)";
        const QString head = "(float[N,2,4,4] x) => (float[N,2,4,4] y) ";
        const QString conv = "<float[2,2,1,1] w = {5, 7, 1, 1}, %1> ";
        QTest::newRow("two readers") << head + conv + "{ a = Conv(x, w)\n b = " + norm + "\n y = Add(a, b) }"
                                     << "the output of 'Conv_0' has 2 readers";
        QTest::newRow("graph output") << "(float[N,2,4,4] x) => (float[N,2,4,4] y, float[N,2,4,4] a) " +
                                             conv + "{ a = Conv(x, w)\n y = " + norm + " }"
                                      << "the output of 'Conv_0' is also a graph output";
        QTest::newRow("padded conv after it")
            << head + conv + "{ a = Relu(x)\n b = " + norm + "\n y = Conv<pads = [1,1,0,0]>(b, w) }"
            << "the Conv 'Conv_2' after it is padded";
        QTest::newRow("auto_pad") << head + conv + "{ a = Relu(x)\n b = " + norm +
                                         "\n y = Conv<auto_pad = \"SAME_UPPER\">(b, w) }"
                                  << "the Conv 'Conv_2' after it is padded";
        QTest::newRow("alone") << head + conv + "{ a = Relu(x)\n b = " + norm + "\n y = Relu(b) }"
                               << "no Conv, ConvTranspose, Gemm or MatMul is adjacent to it";
        QTest::newRow("training")
            << head + conv +
                   "{ a = Conv(x, w)\n y = BatchNormalization<training_mode = 1>(a, g, be, mu, va) }"
            << "it is in training mode";
        QTest::newRow("computed parameters")
            << head + conv + "{ a = Conv(x, w)\n q = Exp(g)\n y = BatchNormalization(a, q, be, mu, va) }"
            << "its parameters are not constant";
        QTest::newRow("computed weight") << head + conv + "{ v = Exp(w)\n a = Conv(x, v)\n y = " + norm + " }"
                                         << "the weight of 'Conv_1' is not constant";
        QTest::newRow("alpha") << "(float[N,2] x) => (float[N,2] y) <float[2,2] w = {5, 7, 1, 1}, %1> "
                                  "{ a = Gemm<alpha = 2.0>(x, w)\n y = " +
                                      norm + " }"
                               << "the Gemm 'Gemm_0' has alpha, beta or transA set";
        QTest::newRow("pooled before it")
            << head + conv + "{ c = Conv(x, w)\n a = MaxPool<kernel_shape = [1,1]>(c)\n n = " + norm +
                   "\n y = Relu(n) }"
            << "no Conv, ConvTranspose, Gemm or MatMul is adjacent to it";
        QTest::newRow("channels flattened with positions")
            << "(float[1,1,1,2] x) => (float[1,2] y) <float[1,1,1,1] w = {5}, %1> { c = Conv(x, w)\n a = "
               "Flatten(c)\n y = " +
                   norm + " }"
            << "its channels are not those of 'Conv_0'";
        QTest::newRow("a branch without a layer")
            << "(float[1,1,4,4] x) => (float[1,2,4,4] y) <float[1,1,1,1] w = {5}, %1> { c = Conv(x, w)\n a = "
               "Concat<axis = 1>(c, x)\n y = " +
                   norm + " }"
            << "not all inputs of 'Concat_1' come from layers";
        QTest::newRow("a branch with two readers")
            << "(float[1,1,4,4] x) => (float[1,2,4,4] y) <float[1,1,1,1] w = {5}, float[1,1,1,1] v = {5}, "
               "%1> { c = Conv(x, w)\n d = Conv(x, v)\n "
               "a = Concat<axis = 1>(c, d)\n n = " +
                   norm + "\n y = Add(n, c) }"
            << "the output of 'Conv_0' has 2 readers";
        QTest::newRow("a graph output on the way")
            << "(float[1,2,1,1] x) => (float[1,2] y, float[1,2,1,1] c) <float[2,2,1,1] w = {5, 7, 1, 1}, %1> "
               "{ c = Conv(x, w)\n a = Flatten(c)\n y = " +
                   norm + " }"
            << "the output of 'Conv_0' is also a graph output";
        QTest::newRow("another axis of a MatMul") << "(float[1,2,3] x) => (float[1,2,2] y) <float[3,2] w = "
                                                     "{5, 7, 1, 1, 2, 3}, %1> { a = MatMul(x, w)\n y = " +
                                                         norm + " }"
                                                  << "its channels are not those of 'MatMul_0'";
        QTest::newRow("MatMuls joined")
            << "(float[1,2] x) => (float[1,2] y) <float[2,1] w = {5, 7}, float[2,1] v = {1, 2}, %1> { c = "
               "MatMul(x, w)\n d = MatMul(x, v)\n "
               "a = Concat<axis = 1>(c, d)\n y = " +
                   norm + " }"
            << "'MatMul_0' is a MatMul without a bias for its part of the shift";
        QTest::newRow("negative variance") << "(float[N,2,4,4] x) => (float[N,2,4,4] y) <float[2,2,1,1] w = "
                                              "{5, 7, 1, 1}, float[2] n = {-1, 1}, %1> "
                                              "{ a = Conv(x, w)\n y = BatchNormalization(a, g, be, mu, n) }"
                                           << "its scale is infinite or undefined in 1 of 2 channels";
    }
    void refusals() {
        QFETCH(QString, body);
        QFETCH(QString, reason);
        const auto p =
            prepare(graph("net " + body.arg(QString::fromStdString(kNorm2)).toStdString(), 15), {});
        QCOMPARE(p.foldedBatchNorms, std::size_t(0));
        const auto found = std::find_if(p.source->nodes().begin(), p.source->nodes().end(),
                                        [](const Node& node) { return node.op == "BatchNormalization"; });
        QCOMPARE(noteOf(p, found->name.c_str()), "cannot be folded: " + reason);
        QCOMPARE(p.notices.size(), std::size_t(1));
        QCOMPARE(p.graph->nodeCount(), p.source->nodeCount());
    }

    void skipFolding() {
        const auto source =
            graph("net (float[N,1,4,4] x) => (float[N,2,4,4] y) <float[2,1,1,1] w = {5, 7}, " + kNorm2 +
                  "> { a = Conv(x, w)\n y = BatchNormalization(a, g, be, mu, va) }");
        for (const char* name : {"Conv_0", "BatchNormalization_1"}) {
            TransformOptions options;
            options.skipFolding = {name};
            const auto p = prepare(source, options);
            QCOMPARE(p.foldedBatchNorms, std::size_t(0));
            QCOMPARE(noteOf(p, "BatchNormalization_1"),
                     QString("not folded: skip_folding names '%1'").arg(name));
        }
        TransformOptions options;
        options.skipFolding = {"nobody"};
        QVERIFY_EXCEPTION_THROWN(prepare(source, options), Error);
    }

    void offLeavesTheGraphAsItIs() {
        const auto source =
            graph("net (float[N,1,4,4] x) => (float[N,2,4,4] y) <float[2,1,1,1] w = {5, 7}, " + kNorm2 +
                  "> { a = Conv(x, w)\n y = BatchNormalization(a, g, be, mu, va) }");
        TransformOptions options;
        options.foldBatchNorm = false;
        const auto p = prepare(source, options);
        QCOMPARE(p.graph.get(), source.get());
    }
};

QTEST_GUILESS_MAIN(FoldBatchNormTest)
#include "fold_batch_norm_test.moc"
