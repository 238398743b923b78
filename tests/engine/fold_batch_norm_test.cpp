// SPDX-License-Identifier: Apache-2.0
// Batch-norm folding on networks small enough to fold by hand. The variances are chosen so that variance +
// epsilon is a square, which makes every expected number exact.
#include <QRegularExpression>
#include <QtTest/QtTest>

#include "base/error.h"
#include "support/small_graph.h"
#include "support/text_model.h"
#include "transform/prepare.h"

using namespace quantloupe;
using test::constantText;
using test::ops;

namespace {

/// scale = gamma / sqrt(variance) = {2, -3}, beta = {10, 20}, mean = {1, 2}
const char* const kNorm2 =
    "float[2] g = {4, -9}, float[2] be = {10, 20}, float[2] mu = {1, 2}, float[2] va = {4, 9}";

/// The network of a text in which NORM(t) stands for the batch norm above of the tensor t, and %1 for its
/// parameters.
QString textOf(QString body) {
    static const QRegularExpression norm("NORM\\((\\w+)\\)");
    body.replace(norm, "BatchNormalization<epsilon = 0.0>(\\1, g, be, mu, va)");
    return body.replace("%1", kNorm2);
}

GraphPtr network(const QString& body, int opset = 13) { return test::graph(textOf(body), opset); }

/// With the shapes that are inferred when a file is opened.
GraphPtr openedNetwork(const QString& body, int opset) {
    return test::textModel("<ir_version: 8, opset_import: [\"\" : " + std::to_string(opset) + "]> net " +
                           textOf(body).toStdString())
        .graph;
}

const char* const kFoldable =
    "(float[N,1,4,4] x) => (float[N,2,4,4] y) <float[2,1,1,1] w = {5, 7}, %1> { a = Conv(x, w) y = NORM(a) }";

QString noteOf(const Prepared& p, const char* node) {
    return QString::fromStdString(p.layerMappings[p.source->findNode(node)->index()].note);
}

}  // namespace

class FoldBatchNormTest : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    // This needs no --simplify.
    void identityAndDropoutInBetweenAreIgnored() {
        for (const char* shapes :
             {"(float[N,1,4,4] x) => (float[N,2,4,4] y)", "(float x) => (float y)"}) {  // without shapes, too
            const auto p = prepare(network(QString(shapes) + R"( <float[2,1,1,1] w = {5, 7}, %1> {
                a = Conv(x, w)
                i = Identity(a)
                d, mask = Dropout(i)
                b = NORM(d)
                y = Relu(b) })"),
                                   {});
            QCOMPARE(p.foldedBatchNorms, std::size_t(1));
            QCOMPARE(ops(*p.graph), QString("Conv Identity Dropout Relu"));
            QCOMPARE(constantText(*p.graph, "Conv_0", 1), QString("10 -21"));
            QCOMPARE(constantText(*p.graph, "Conv_0", 2), QString("8 26"));
        }
    }

    /// The layers' weights and biases after folding, by hand. The scale is {2, -3}; beta - mean * scale is
    /// {8, 26}.
    void weightsAndBiases_data() {
        QTest::addColumn<QString>("body");
        QTest::addColumn<QString>("layer");
        QTest::addColumn<QString>("weight");
        QTest::addColumn<QString>("bias");
        const auto row = [](const char* name, const char* body, const char* layer, const char* weight,
                            const char* bias) { QTest::newRow(name) << body << layer << weight << bias; };
        row("a Conv without a bias",
            "(float[N,1,4,4] x) => (float[N,2,4,4] y) <float[2,1,1,1] w = {5, 7}, %1> "
            "{ a = Conv(x, w) b = NORM(a) y = Relu(b) }",
            "Conv_0", "10 -21", "8 26");
        row("a Conv with a bias",  // 10 - (1-3)*2, 20 - (2-5)*-3
            "(float[N,1,4,4] x) => (float[N,2,4,4] y) <float[2,1,1,1] w = {5, 7}, float[2] c = {3, 5}, %1> "
            "{ a = Conv(x, w, c) y = NORM(a) }",
            "Conv_0", "10 -21", "14 11");
        row("a depthwise Conv",
            "(float[N,2,4,4] x) => (float[N,2,4,4] y) <float[2,1,1,2] w = {1, 2, 3, 4}, %1> "
            "{ a = Conv<group = 2, pads = [0,1,0,0]>(x, w) y = NORM(a) }",
            "Conv_0", "2 4 -9 -12", "8 26");
        row("the second axis of a ConvTranspose",
            "(float[N,2,4,4] x) => (float[N,2,4,4] y) <float[2,2,1,1] w = {1, 2, 3, 4}, %1> "
            "{ a = ConvTranspose(x, w) y = NORM(a) }",
            "ConvTranspose_0", "2 -6 6 -12", "8 26");
        row("a Gemm [in, out]",
            "(float[N,2] x) => (float[N,2] y) <float[2,2] w = {1, 2, 3, 4}, float[1,2] c = {3, 5}, %1> "
            "{ a = Gemm<transB = 0>(x, w, c) y = NORM(a) }",
            "Gemm_0", "2 -6 6 -12", "14 11");
        row("a Gemm [out, in]",
            "(float[N,2] x) => (float[N,2] y) <float[2,2] w = {1, 2, 3, 4}, float[1,2] c = {3, 5}, %1> "
            "{ a = Gemm<transB = 1>(x, w, c) y = NORM(a) }",
            "Gemm_0", "2 4 -9 -12", "14 11");
        row("forward into an unpadded Conv",  // sums over the kernel {1+2, 3+4}; 1 + 3*8 + 7*26
            "(float[N,2,4,4] x) => (float[N,1,4,4] y) <float[1,2,1,2] w = {1, 2, 3, 4}, float[1] c = {1}, "
            "%1> { r = Relu(x) b = NORM(r) y = Conv(b, w, c) }",
            "Conv_2", "2 4 -9 -12", "207");
        row("forward into a Gemm",  // 8*1 + 26*3, 8*2 + 26*4
            "(float[N,2] x) => (float[N,2] y) <float[2,2] w = {1, 2, 3, 4}, %1> { b = NORM(x) y = Gemm(b, w) "
            "}",
            "Gemm_1", "2 4 -9 -12", "86 120");
        row("two in a row",
            "(float[N,1,4,4] x) => (float[N,2,4,4] y) <float[2,1,1,1] w = {5, 7}, %1> "
            "{ a = Conv(x, w) b = NORM(a) y = NORM(b) }",
            "Conv_0", "20 63", "24 -52");
        row("two in a row, with readers of shapes",
            "(float[N,1,4,4] x) => (float[N,2,4,4] y) <float[2,1,1,1] w = {5, 7}, %1> "
            "{ a = Conv(x, w) s = Shape(a) b = NORM(a) t = Size(b) c = NORM(b) r = Reshape(c, s) "
            "f = Cast<to = 1>(t) y = Add(r, f) }",
            "Conv_0", "20 63", "24 -52");
        row("forward, with a reader of the shape",
            "(float[N,2,4,4] x) => (float[N,1,4,4] y) <float[1,2,1,1] w = {1, 2}, float[1] c = {1}, %1> "
            "{ r = Relu(x) b = NORM(r) s = Shape(b) a = Conv(b, w, c) f = Cast<to = 1>(s) z = ReduceSum(f) "
            "y = Add(a, z) }",
            "Conv_3", "2 -6", "61");  // 1 + 8 + 2 * 26
        row("a weight that another layer shares",
            "(float[N,1,4,4] x) => (float[N,2,4,4] y, float[N,2,4,4] z) <float[2,1,1,1] w = {5, 7}, %1> "
            "{ a = Conv(x, w) y = NORM(a) z = Conv(x, w) }",
            "Conv_0", "10 -21", "8 26");
    }
    void weightsAndBiases() {
        QFETCH(QString, body);
        QFETCH(QString, layer);
        const auto p = prepare(network(body), {});
        QTEST(constantText(*p.graph, qPrintable(layer), 1), "weight");
        QTEST(constantText(*p.graph, qPrintable(layer), 2), "bias");
        QVERIFY(!ops(*p.graph).contains("BatchNormalization"));
    }

    void theLayerProducesTheOutputOfTheBatchNorm() {
        const auto p =
            prepare(network(R"((float[N,1,4,4] x) => (float[N,2,4,4] y) <float[2,1,1,1] w = {5, 7}, %1> {
            a = Conv(x, w)
            b = NORM(a)
            y = Relu(b) })"),
                    {});
        QCOMPARE(ops(*p.graph), QString("Conv Relu"));
        QCOMPARE(p.foldedBatchNorms, std::size_t(1));
        const Node& conv = p.graph->node(*p.graph->findNode("Conv_0"));
        QCOMPARE(p.graph->tensor(conv.output()).name, std::string("b"));
        QCOMPARE(p.graph->tensor(conv.input(2)).name, std::string("Conv_0.bias"));
        // The mapping of each source layer, and back.
        QCOMPARE(p.layerMappings[1].prepared.valid(), false);
        QCOMPARE(p.layerMappings[1].foldedInto, NodeId(0));
        QCOMPARE(p.layerMappings[2].prepared, NodeId(1));
        QCOMPARE(p.sourceOf[1], NodeId(2));
    }

    void graphOutputsKeepTheirNames() {
        const auto p = prepare(network("(float[N,1,4,4] x) => (float[N,2,4,4] y) <float[2,1,1,1] w = {5, 7}, "
                                       "float[2] c = {3, 5}, %1> { a = Conv(x, w, c) y = NORM(a) }"),
                               {});
        QCOMPARE(p.graph->tensor(p.graph->outputs()[0]).name, std::string("y"));
    }

    void missingEpsilonIsOneHundredThousandth() {
        const auto p = prepare(network(R"((float[N,1,4,4] x) => (float[N,1,4,4] y)
            <float[1,1,1,1] w = {1}, float[1] g = {1}, float[1] z = {0}, float[1] va = {0}> {
            a = Conv(x, w)
            y = BatchNormalization(a, g, z, z, va) })"),
                               {});
        const float w = p.graph->constantOf(p.graph->node(NodeId(0)).input(1))->floats()[0];
        QVERIFY(std::fabs(w - 316.227766f) < 1e-4f);
    }

    void foldedForward() {
        const auto p = prepare(network("(float[N,2,4,4] x) => (float[N,1,4,4] y) <float[1,2,1,2] w = {1, 2, "
                                       "3, 4}, float[1] c = {1}, %1> { r = Relu(x) b = NORM(r) y = Conv(b, "
                                       "w, c) }"),
                               {});
        QCOMPARE(ops(*p.graph), QString("Relu Conv"));
        QCOMPARE(p.layerMappings[1].foldedInto, NodeId(2));
    }

    void twoInARow() {
        const auto p =
            prepare(network("(float[N,1,4,4] x) => (float[N,2,4,4] y) <float[2,1,1,1] w = {5, 7}, %1> "
                            "{ a = Conv(x, w) b = NORM(a) y = NORM(b) }"),
                    {});
        QCOMPARE(ops(*p.graph), QString("Conv"));
        QCOMPARE(p.layerMappings[2].foldedInto, NodeId(0));
    }

    /// Each still reads a tensor that has a producer.
    void readersOfShapesFollow() {
        const auto p = prepare(
            network("(float[N,1,4,4] x) => (float[N,2,4,4] y) <float[2,1,1,1] w = {5, 7}, %1> "
                    "{ a = Conv(x, w) s = Shape(a) b = NORM(a) t = Shape(b) c = NORM(b) u = Add(s, t) "
                    "v = Sub(u, t) y = Reshape(c, v) }",
                    15),
            {});
        QCOMPARE(ops(*p.graph), QString("Conv Shape Shape Add Sub Reshape"));
        for (const NodeId id : {NodeId(1), NodeId(2)})
            QCOMPARE(p.graph->tensor(p.graph->node(id).input(0)).name, std::string("c"));
    }

    /// As PyTorch writes a batch norm over the features of a sequence, with a dynamic batch, in old and new
    /// opsets.
    void throughAFlattenedSequence() {
        for (const int opset : {11, 12, 13, 17}) {
            QString body =
                "(float[N,3,4] x) => (float[N,2,3] y) <float[4,2] w = {1, 2, 3, 4, 5, 6, 7, 8}, "
                "int64 zero = {0}, int64[1] axis = {0}, int64[2] rest = {-1, 4}, %1> "
                "{ s = Shape(x) i = Gather<axis = 0>(s, zero) n = Unsqueeze(i, axis) "
                "k = Concat<axis = 0>(n, rest) r = Reshape(x, k) a = MatMul(r, w) f = Flatten<axis = 2>(a) "
                "b = NORM(f) h = Shape(a) c = Reshape(b, h) y = Transpose<perm = [0, 2, 1]>(c) }";
            if (opset < 13) body.replace("Unsqueeze(i, axis)", "Unsqueeze<axes = [0]>(i)");
            const auto p = prepare(openedNetwork(body, opset), {});
            QVERIFY2(noteOf(p, "BatchNormalization_7").startsWith("replaced by an Add"),
                     qPrintable(QString::number(opset) + ": " + noteOf(p, "BatchNormalization_7")));
            QCOMPARE(constantText(*p.graph, "MatMul_5", 1), QString("2 -6 6 -12 10 -18 14 -24"));
        }
    }

    void sharedWeightIsClonedForTheFoldedLayer() {
        const auto p = prepare(
            network(
                "(float[N,1,4,4] x) => (float[N,2,4,4] y, float[N,2,4,4] z) <float[2,1,1,1] w = {5, 7}, %1> "
                "{ a = Conv(x, w) y = NORM(a) z = Conv(x, w) }"),
            {});
        QCOMPARE(constantText(*p.graph, "Conv_2", 1), QString("5 7"));
        // Unchanged data is shared with the source.
        QCOMPARE(p.graph->constantOf(*p.graph->findTensor("w")),
                 p.source->constantOf(*p.source->findTensor("w")));
    }

    void refusals_data() {
        QTest::addColumn<QString>("body");
        QTest::addColumn<QString>("reason");
        const auto row = [](const char* name, const QString& body, const char* reason) {
            QTest::newRow(name) << body << reason;
        };
        const QString head =
            "(float[N,2,4,4] x) => (float[N,2,4,4] y) <float[2,2,1,1] w = {5, 7, 1, 1}, %1> ";
        row("two readers", head + "{ a = Conv(x, w) b = NORM(a) y = Add(a, b) }",
            "the output of 'Conv_0' has 2 readers");
        row("graph output",
            "(float[N,2,4,4] x) => (float[N,2,4,4] y, float[N,2,4,4] a) <float[2,2,1,1] w = {5, 7, 1, 1}, "
            "%1> { a = Conv(x, w) y = NORM(a) }",
            "the output of 'Conv_0' is also a graph output");
        row("padded conv after it", head + "{ a = Relu(x) b = NORM(a) y = Conv<pads = [1,1,0,0]>(b, w) }",
            "the Conv 'Conv_2' after it is padded");
        row("auto_pad", head + "{ a = Relu(x) b = NORM(a) y = Conv<auto_pad = \"SAME_UPPER\">(b, w) }",
            "the Conv 'Conv_2' after it is padded");
        row("alone", head + "{ a = Relu(x) b = NORM(a) y = Relu(b) }",
            "no Conv, ConvTranspose, Gemm or MatMul is adjacent to it");
        row("two readers after a Transpose",
            head +
                "{ a = Relu(x) b = NORM(a) t = Transpose<perm = [0,1,3,2]>(b) c = Conv(t, w) d = Conv(t, w) "
                "y = Add(c, d) }",
            "no layer before it, and the output of 'Transpose_2' has 2 readers");
        row("training",
            head + "{ a = Conv(x, w) y = BatchNormalization<training_mode = 1>(a, g, be, mu, va) }",
            "it is in training mode");
        row("computed parameters",
            head + "{ a = Conv(x, w) q = Exp(g) y = BatchNormalization(a, q, be, mu, va) }",
            "its parameters are not constant");
        row("computed weight", head + "{ v = Exp(w) a = Conv(x, v) y = NORM(a) }",
            "the weight of 'Conv_1' is not constant");
        row("alpha",
            "(float[N,2] x) => (float[N,2] y) <float[2,2] w = {5, 7, 1, 1}, %1> "
            "{ a = Gemm<alpha = 2.0>(x, w) y = NORM(a) }",
            "the Gemm 'Gemm_0' has alpha, beta or transA set");
        row("pooled before it",
            head + "{ c = Conv(x, w) a = MaxPool<kernel_shape = [1,1]>(c) n = NORM(a) y = Relu(n) }",
            "no Conv, ConvTranspose, Gemm or MatMul is adjacent to it");
        row("channels flattened with positions",
            "(float[1,1,1,2] x) => (float[1,2] y) <float[1,1,1,1] w = {5}, %1> "
            "{ c = Conv(x, w) a = Flatten(c) y = NORM(a) }",
            "its channels are not those of 'Conv_0'");
        row("a branch without a layer",
            "(float[1,1,4,4] x) => (float[1,2,4,4] y) <float[1,1,1,1] w = {5}, %1> "
            "{ c = Conv(x, w) a = Concat<axis = 1>(c, x) y = NORM(a) }",
            "not all inputs of 'Concat_1' come from layers");
        row("a branch with two readers",
            "(float[1,1,4,4] x) => (float[1,2,4,4] y) <float[1,1,1,1] w = {5}, float[1,1,1,1] v = {5}, %1> "
            "{ c = Conv(x, w) d = Conv(x, v) a = Concat<axis = 1>(c, d) n = NORM(a) y = Add(n, c) }",
            "the output of 'Conv_0' has 2 readers");
        row("a graph output on the way",
            "(float[1,2,1,1] x) => (float[1,2] y, float[1,2,1,1] c) <float[2,2,1,1] w = {5, 7, 1, 1}, %1> "
            "{ c = Conv(x, w) a = Flatten(c) y = NORM(a) }",
            "the output of 'Conv_0' is also a graph output");
        row("another axis of a MatMul",
            "(float[1,2,3] x) => (float[1,2,2] y) <float[3,2] w = {5, 7, 1, 1, 2, 3}, %1> "
            "{ a = MatMul(x, w) y = NORM(a) }",
            "its channels are not those of 'MatMul_0'");
        row("MatMuls joined",
            "(float[1,2] x) => (float[1,2] y) <float[2,1] w = {5, 7}, float[2,1] v = {1, 2}, %1> "
            "{ c = MatMul(x, w) d = MatMul(x, v) a = Concat<axis = 1>(c, d) y = NORM(a) }",
            "'MatMul_0' is a MatMul without a bias for its part of the shift");
        row("negative variance",
            "(float[N,2,4,4] x) => (float[N,2,4,4] y) <float[2,2,1,1] w = {5, 7, 1, 1}, float[2] n = {-1, "
            "1}, %1> { a = Conv(x, w) y = BatchNormalization(a, g, be, mu, n) }",
            "its scale is infinite or undefined in 1 of 2 channels");
    }
    void refusals() {
        QFETCH(QString, body);
        QFETCH(QString, reason);
        const auto p = prepare(network(body, 15), {});
        QCOMPARE(p.foldedBatchNorms, std::size_t(0));
        const auto found = std::find_if(p.source->nodes().begin(), p.source->nodes().end(),
                                        [](const Node& node) { return node.op == "BatchNormalization"; });
        QCOMPARE(noteOf(p, found->name.c_str()), "cannot be folded: " + reason);
        QCOMPARE(p.notices.size(), std::size_t(1));
        QCOMPARE(p.graph->nodeCount(), p.source->nodeCount());
    }

    /// Some networks have dozens of them.
    void layersWithTheSameNoteShareANotice() {
        const auto p =
            prepare(network("(float[N,2,4,4] x) => (float[N,2,4,4] y) <%1> { a = NORM(x) b = Relu(a) "
                            "c = NORM(b) d = Relu(c) y = NORM(d) }",
                            15),
                    {});
        QCOMPARE(p.notices.size(), std::size_t(2));  // the last one is a graph output
        QCOMPARE(QString::fromStdString(p.notices.front()),
                 QStringLiteral("'BatchNormalization_0' and 1 other layer %1")
                     .arg(noteOf(p, "BatchNormalization_2")));
    }

    void skipFolding() {
        for (const char* name : {"Conv_0", "BatchNormalization_1"}) {
            TransformOptions options;
            options.skipFolding = {name};
            const auto p = prepare(network(kFoldable), options);
            QCOMPARE(p.foldedBatchNorms, std::size_t(0));
            QCOMPARE(noteOf(p, "BatchNormalization_1"),
                     QString("not folded: skip_folding names '%1'").arg(name));
        }
        TransformOptions options;
        options.skipFolding = {"nobody"};
        QVERIFY_EXCEPTION_THROWN(prepare(network(kFoldable), options), Error);
    }

    void disabledFoldingKeepsTheGraph() {
        const GraphPtr source = network(kFoldable);
        TransformOptions options;
        options.foldBatchNorm = false;
        const auto p = prepare(source, options);
        QCOMPARE(p.graph.get(), source.get());
    }
};

QTEST_GUILESS_MAIN(FoldBatchNormTest)
#include "fold_batch_norm_test.moc"
