// SPDX-License-Identifier: Apache-2.0
// raiseOpset(): the raised graph computes the same values, and what cannot be raised is refused.
#include "model/raise_opset.h"

#include <QtTest>
#include <set>

#include "model/graph_builder.h"
#include "support/errors.h"
#include "support/small_graph.h"
#include "support/text_model.h"

using namespace quantloupe;

namespace {

GraphPtr raised(const GraphPtr& graph, std::int64_t opset) {
    GraphBuilder builder(*graph);
    raiseOpset(builder, *graph, opset);
    return builder.build();
}

}  // namespace

class RaiseOpsetTest : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    /// Before opset 7, an attribute says with which axis of the first operand the second one is aligned.
    void operandsOfOldOpsetsAreAligned_data() {
        QTest::addColumn<QString>("old");
        QTest::addColumn<QString>("now");
        const auto row = [](const char* old, const char* now) {
            QTest::newRow(old) << QString(old) << QString(now);
        };
        row("Y = Add<broadcast = 1, axis = 1>(X, W)", "Y = Add(X, V)");
        row("Y = Mul<broadcast = 1, axis = -3>(X, W)", "Y = Mul(X, V)");
        row("Y = Sub<broadcast = 1>(X, W)", "Y = Sub(X, W)");
        row("Y = Div<broadcast = 1, axis = 3>(X, W)", "Y = Div(X, W)");
        row("N = Neg(W) Y = Add<broadcast = 1, axis = 1>(X, N)", "N = Neg(V) Y = Add(X, N)");
        row("A = Abs(X) B = Relu(A) Y = Pow<broadcast = 1, axis = 2>(B, W)",
            "A = Abs(X) B = Relu(A) Y = Pow(B, U)");
        row("Y = PRelu(X, W)", "Y = PRelu(X, V)");
        row("Z = LRN<size = 1>(X) Y = PRelu(Z, W)", "Z = LRN<size = 1>(X) Y = PRelu(Z, V)");
        row("Z = ConvTranspose(X, C) Y = PRelu(Z, W)", "Z = ConvTranspose(X, C) Y = PRelu(Z, V)");
        row("Z = Sum(X, X) Y = PRelu(Z, W)", "Z = Sum(X, X) Y = PRelu(Z, V)");
        row("Y = If<then_branch = a () => (float p) { p = PRelu(X, W) }, else_branch = b () => (float q) { q "
            "= Neg(X) }>(T)",
            "Y = PRelu(X, V)");
        row("Y = Add<broadcast = 1, axis = 2>(X, M)", "Y = Add(X, M)");
        row("Y = Add<broadcast = 1, axis = 1>(X, M)", "Y = Add(X, K)");
    }
    void operandsOfOldOpsetsAreAligned() {
        QFETCH(QString, old);
        QFETCH(QString, now);
        std::vector<float> x;
        for (int i = 0; i < 8; ++i) x.push_back(static_cast<float>(i * 7 % 8) / 2 - 2);
        const auto values = [&](const QString& nodes, int opset) {
            return test::run(
                test::graph(
                    "(float[1,2,2,2] X) => (float Y) <float[2] W = {0.5, 3}, float[2,1] U = {0.5, 3}, "
                    "float[2,1,1] V = {0.5, 3}, float[2,2] M = {1, 2, 3, 4}, "
                    "float[2,2,1] K = {1, 2, 3, 4}, float[2,2,1,1] C = {1, 0, 0, 1}, bool T = {1}> { " +
                        nodes + " }",
                    opset),
                {1, 2, 2, 2}, x);
        };
        QCOMPARE(values(old, 6), values(now, 13));
    }

    /// Aligning with the last axis instead would be silently wrong.
    void operandsOfUnknownRankAreRefused() {
        const auto error = [](const char* nodes) {
            const GraphPtr graph = test::graph(
                QString("(float[1,2,2,2] X) => (float Y) <float[2] W = {0.5, 3}> { Z = Squeeze(X) %1 }")
                    .arg(nodes),
                6);
            return test::errorOf([&] { test::run(graph, {1, 2, 2, 2}, std::vector<float>(8)); });
        };
        QVERIFY(error("Y = PRelu(Z, W)").contains("the second operand of PRelu cannot be aligned"));
        QVERIFY(error("Y = Add<broadcast = 1, axis = 0>(Z, W)")
                    .contains("their numbers of dimensions are unknown"));
    }

    void namesOfAlignedOperandsAreUnused() {
        std::string bytes = test::textModelBytes(R"(<ir_version: 3, opset_import: ["" : 6]>
            g (float[1,2,2,2] X) => (float[1,2,2,2] Y) <float[2] W = {0.5, 3}>
            { W_aligned = Neg (X) Y = Add <broadcast = 1, axis = 1> (W_aligned, W) })");
        for (std::size_t at = 0; (at = bytes.find("W_aligned", at)) != std::string::npos;)
            bytes[at + 1] = '/';
        const LoadedModel model = parseModel(bytes.data(), bytes.size(), {});
        QCOMPARE(test::run(model.graph, {1, 2, 2, 2}, std::vector<float>(8, 1)),
                 (std::vector<float>{-0.5f, -0.5f, -0.5f, -0.5f, 2, 2, 2, 2}));
    }

    void sameValues_data() {
        QTest::addColumn<QString>("nodes");
        const auto row = [](const char* name, const char* nodes) { QTest::newRow(name) << QString(nodes); };
        row("Slice", "Y = Slice<starts = [1, 0], ends = [3, 2], axes = [3, 2]>(X)");
        row("Slice of the first dimensions", "Y = Slice<starts = [0, 1], ends = [1, 2]>(X)");
        row("Pad", "Y = Pad<pads = [0, 0, 1, 0, 0, 0, 0, 2], value = 0.5>(X)");
        row("Pad by reflection", "Y = Pad<pads = [0, 0, 1, 0, 0, 0, 0, 2], mode = \"reflect\">(X)");
        row("Clip", "Y = Clip<min = -1.0, max = 1.5>(X)");
        row("Clip on one side", "Y = Clip<max = 1.5>(X)");
        row("TopK", "Y, i = TopK<k = 2, axis = 3>(X)");
        row("Upsample", "Y = Upsample<mode = \"nearest\", scales = [1.0, 1.0, 2.0, 3.0]>(X)");
        row("linear Upsample", "Y = Upsample<mode = \"linear\", scales = [1.0, 1.0, 2.0, 2.0]>(X)");
        row("shrinking Upsample", "Y = Upsample<mode = \"nearest\", scales = [1.0, 1.0, 0.5, 0.75]>(X)");
        row("Dropout", "Y = Dropout<ratio = 0.5>(X)");
        row("BatchNormalization", "Y, m, v, a, b = BatchNormalization<spatial = 1>(X, S, S, S, S)");
        row("Softmax", "Y = Softmax<axis = 3>(X)");
        row("Softmax over several dimensions", "Y = Softmax<axis = 2>(X)");
        row("Softmax by default", "n = Neg(X) Y = LogSoftmax(n)");
        row("reductions", "s = ReduceSum<axes = [2]>(X) Y = ReduceMean<axes = [1], keepdims = 0>(s)");
        row("Squeeze and Unsqueeze", "s = Unsqueeze<axes = [0]>(X) t = Squeeze<axes = [0]>(s) Y = Abs(t)");
        row("Split", "a, b = Split<axis = 3, split = [1, 3]>(X) Y = Concat<axis = 3>(b, a)");
    }
    void sameValues() {
        QFETCH(QString, nodes);
        std::vector<float> x;
        for (int i = 0; i < 24; ++i) x.push_back(static_cast<float>(i * 7 % 24) / 6 - 2);
        const GraphPtr graph =
            test::graph("(float[1,2,3,4] X) => (float Y) <float[2] S = {0.5, 2}> { " + nodes + " }", 7);
        const std::vector<float> expected = test::run(graph, {1, 2, 3, 4}, x);
        for (const std::int64_t opset : {10, 11, 13, 21}) {
            const GraphPtr after = raised(graph, opset);
            QCOMPARE(after->opset(), std::max<std::int64_t>(opset, 11));
            QCOMPARE(test::run(after, {1, 2, 3, 4}, x), expected);
            for (const Node& node : after->nodes())  // must not be omitted before opset 13
                QVERIFY(node.op != "Resize" || node.input(1).valid());
        }
    }

    /// The axis became an input, with another default.
    void axesOfTransforms() {
        for (const char* node : {"DFT", "DFT<axis = 2>", "DFT<axis = 1, inverse = 1>"}) {
            const GraphPtr graph =
                test::graph(QString("(float[1,3,4,2] X) => (float Y) { Y = %1(X) }").arg(node), 17);
            const std::vector<float> x{1,  2, 3,  4, 5, 6, 7, 8, -1, 2, -3, 4,
                                       -5, 6, -7, 8, 1, 1, 2, 3, 5,  8, 13, 21};
            const GraphPtr after = raised(graph, 21);
            QVERIFY(!after->nodes()[0].attributes.has("axis"));
            QCOMPARE(test::run(after, {1, 3, 4, 2}, x), test::run(graph, {1, 3, 4, 2}, x));
        }
    }

    void namesOfAddedNodesAreUnused() {
        GraphBuilder builder(
            *test::graph("(float[1,2,3,4] X) => (float Y) { n = Softmax<axis = 2>(X) Y = Abs(n) }", 7));
        builder.node(NodeId(0)).name = "a";
        builder.node(NodeId(1)).name = "a_Flatten";
        const GraphPtr after = raised(builder.build(), 13);
        std::set<std::string> names;
        for (const Node& node : after->nodes()) names.insert(node.name);
        QCOMPARE(names, (std::set<std::string>{"a", "a_Flatten", "a_Shape", "a_Flatten_1", "a_Reshape"}));
    }

    void whatCannotBeRaised_data() {
        QTest::addColumn<QString>("nodes");
        QTest::addColumn<QString>("named");
        QTest::newRow("a used mask") << "d, M = Dropout(X) c = Cast<to = 1>(M) Y = Add(d, c)"
                                     << "the Dropout";
        QTest::newRow("enlarging and shrinking")
            << "Y = Upsample<mode = \"nearest\", scales = [1.0, 1.0, 2.0, 0.5]>(X)"
            << "the Upsample";
    }
    void whatCannotBeRaised() {
        QFETCH(QString, nodes);
        QFETCH(QString, named);
        const GraphPtr graph = test::graph("(float[1,2,3,4] X) => (float Y) { " + nodes + " }", 7);
        const QString error = test::errorOf([&] { raised(graph, 13); });
        QVERIFY2(error.contains(named) && error.contains("export the model again"), qPrintable(error));
    }

    void tooOld() {
        const GraphPtr graph = test::graph("(float[1,2] X) => (float Y) { Y = Abs(X) }", 6);
        const QString error = test::errorOf([&] { raised(graph, 13); });
        QVERIFY2(error.contains("below opset 7"), qPrintable(error));
    }
};

QTEST_GUILESS_MAIN(RaiseOpsetTest)
#include "raise_opset_test.moc"
