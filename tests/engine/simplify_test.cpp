// SPDX-License-Identifier: Apache-2.0
// Simplification: which nodes are removed and which stay, by hand; the outputs of the network do not change.
#include "transform/simplify.h"

#include <QtTest/QtTest>
#include <numeric>

#include "model/graph_builder.h"
#include "support/small_graph.h"
#include "transform/prepare.h"

using namespace quantloupe;
using test::constantOf;
using test::graph;
using test::list;
using test::ops;
using test::run;

namespace {

std::vector<float> ramp(std::size_t count) {
    std::vector<float> values(count);
    std::iota(values.begin(), values.end(), -3.0f);
    return values;
}

QString noteOf(const SimplifyResult& result, std::size_t node) {
    return QString::fromStdString(result.notes[node]);
}

}  // namespace

class SimplifyTest : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void networks_data() {
        QTest::addColumn<QString>("body");
        QTest::addColumn<QString>("left");
        const auto row = [](const char* name, const char* body, const char* left) {
            QTest::newRow(name) << body << left;
        };
        row("nothing to do", "(float[1,4] x) => (float[1,4] y) { a = Relu(x)\n y = Neg(a) }", "Relu Neg");
        row("a weight after a Transpose",
            "(float[1,2] x) => (float[1,3] y) <float[3,2] w = {1, 2, 3, 4, 5, 6}> { t = Transpose<perm = [1, "
            "0]>(w)\n y = MatMul(x, t) }",
            "MatMul");
        row("constants of constants",
            "(float[1,2] x) => (float[1,2] y) <float[2] a = {1, 2}, float[2] b = {3, 4}> { s = Add(a, b)\n p "
            "= Mul(s, b)\n y = Add(x, p) }",
            "Add");
        row("Identity and Dropout between layers",
            "(float[1,4] x) => (float[1,4] y) { a = Relu(x)\n i = Identity(a)\n d = Dropout(i)\n y = Neg(d) "
            "}",
            "Relu Neg");
        row("Identity at the end", "(float[1,4] x) => (float[1,4] y) { a = Relu(x)\n y = Identity(a) }",
            "Relu");
        row("two Identities at the end",
            "(float[1,4] x) => (float[1,4] y) { a = Relu(x)\n b = Identity(a)\n y = Identity(b) }", "Relu");
        row("Identity at the end of a tensor with another reader",
            "(float[1,4] x) => (float[1,4] y, float[1,4] z) { a = Relu(x)\n y = Identity(a)\n z = Neg(a) }",
            "Relu Neg");
        row("Identity from input to output stays", "(float[1,4] x) => (float[1,4] y) { y = Identity(x) }",
            "Identity");
        row("two names of one output stay two",
            "(float[1,4] x) => (float[1,4] y, float[1,4] z) { y = Relu(x)\n z = Identity(y) }",
            "Relu Identity");
        row("Concat of one, Pad of nothing",
            "(float[1,4] x) => (float[1,4] y) <int64[4] p = {0, 0, 0, 0}> { a = Concat<axis = 1>(x)\n b = "
            "Pad(a, p)\n y = Relu(b) }",
            "Relu");
        row("a real Pad stays",
            "(float[1,4] x) => (float[1,5] y) <int64[4] p = {0, 0, 0, 1}> { b = Pad(x, p)\n y = Relu(b) }",
            "Pad Relu");
        row("a large result of small constants stays, the others do not",
            "(float[1,2] x) => (float[1,2] y) <float[2] a = {1, 2}, float[2] b = {3, 4}, int64[1] n = "
            "{20000000}> { e = ConstantOfShape(n)\n p = Mul(a, b)\n i = Cast<to = 7>(x)\n g = Gather(e, i)\n "
            "y = Add(g, p) }",
            "ConstantOfShape Cast Gather Add");
        row("dead code", "(float[1,4] x) => (float[1,4] y) { y = Relu(x)\n a = Neg(x)\n b = Relu(a) }",
            "Relu");
        row("a constant output keeps its maker",
            "(float[1,2] x) => (float[1,2] y, float[2] c) <float[2] a = {1, 2}> { c = Neg(a)\n y = Relu(x) }",
            "Neg Relu");
    }
    void networks() {
        QFETCH(QString, body);
        QFETCH(QString, left);
        const GraphPtr source = graph(body);
        const SimplifyResult result = simplify(source);
        QCOMPARE(ops(*result.graph), left);
        QCOMPARE(result.count, source->nodeCount() - result.graph->nodeCount());
        QCOMPARE(result.graph->outputs().size(), source->outputs().size());
        for (std::size_t o = 0; o < source->outputs().size(); ++o)
            QCOMPARE(result.graph->tensor(result.graph->outputs()[o]).name,
                     source->tensor(source->outputs()[o]).name);
        const auto input =
            ramp(static_cast<std::size_t>((*source->tensor(source->inputs()[0]).shape)[1].value));
        QCOMPARE(run(result.graph, input), run(source, input));
        for (std::size_t i = 0; i < source->nodeCount(); ++i) {
            QCOMPARE(result.simplified[i].valid(), result.notes[i].empty());
            if (result.simplified[i].valid())
                QCOMPARE(result.graph->node(result.simplified[i]).name, source->node(NodeId(i)).name);
        }
    }

    /// Standardized weights of large networks.
    void aLargeResultReplacesALargeConstant() {
        constexpr std::int64_t kCount = 17'000'000;  // 68 MB
        GraphBuilder builder(
            *graph("(float[1,n] x) => (float[1,n] y) <float[1] w = {1}> { a = Neg(w)\n y = Add(x, a) }"));
        builder.setConstant(
            builder.tensor("w"),
            Constant::fromFloats({kCount}, std::vector<float>(static_cast<std::size_t>(kCount), 1.0f)));
        const SimplifyResult result = simplify(builder.build());
        QCOMPARE(ops(*result.graph), QString("Add"));
        QCOMPARE(result.graph->constantOf(result.graph->nodes()[0].input(1))->floats()[5], -1.0f);
    }

    void values() {
        const SimplifyResult result =
            simplify(graph("(float[1,2] x) => (float[1,3] y) <float[3,2] w = {1, 2, 3, 4, 5, 6}> { t = "
                           "Transpose<perm = [1, 0]>(w)\n y = MatMul(x, t) }"));
        QCOMPARE(list(constantOf(*result.graph, NodeId(0), 1)), QString("1 3 5 2 4 6"));
        QCOMPARE(noteOf(result, 0), QString("precomputed: all its inputs are constant"));
    }

    void trainingDropoutStays() {
        const char* const kBody =
            "(float[1,4] x) => (float[1,4] y) <float r = {0.5}, bool t = {%1}> { d = Dropout(x, r, t)\n y = "
            "Relu(d) }";
        QCOMPARE(ops(*simplify(graph(QString(kBody).arg("1"))).graph), QString("Dropout Relu"));
        QCOMPARE(ops(*simplify(graph(QString(kBody).arg("0"))).graph), QString("Relu"));
    }

    /// Only operators without effect between a layer and its batch norm or activation are removed.
    void joinedActivations() {
        const auto joined = [](const QString& nodes) {
            return ops(
                *joinActivations(graph("(float[N,1,4,4] x) => (float[N,1,4,4] y) <float[1,1,1,1] w = {2}, "
                                       "float[1] s = {1}> { " +
                                       nodes + " }"))
                     .graph);
        };
        QCOMPARE(joined("a = Conv(x, w)\n i = Identity(a)\n d = Dropout(i)\n y = Relu(d)"),
                 QString("Conv Relu"));
        QCOMPARE(joined("a = Conv(x, w)\n i = Identity(a)\n b = BatchNormalization(i, s, s, s, s)\n d = "
                        "Dropout(b)\n y = Relu(d)"),
                 QString("Conv BatchNormalization Relu"));
        QCOMPARE(joined("a = Conv(x, w)\n i = Identity(a)\n y = Conv(i, w)"), QString("Conv Identity Conv"));
        QCOMPARE(joined("i = Identity(x)\n y = Relu(i)"), QString("Identity Relu"));
        QCOMPARE(joined("a = Conv(x, w)\n i = Identity(a)\n b = Relu(i)\n y = Add(b, a)"),
                 QString("Conv Identity Relu Add"));
    }

    /// After a Cast that changes nothing, a batch norm is folded only after simplification; the mapping
    /// refers to the source's nodes.
    void prepareTracesNames() {
        const GraphPtr source = graph(
            "(float[N,1,2,2] x) => (float[N,1,2,2] y) <float[1,1,1,1] w = {5}, float[1] g = {4}, float[1] be "
            "= {10}, float[1] mu = {1}, "
            "float[1] va = {4}> { a = Conv(x, w)\n i = Cast<to = 1>(a)\n b = BatchNormalization<epsilon = "
            "0.0>(i, g, be, mu, va)\n y = Relu(b) }");
        TransformOptions options;
        QCOMPARE(prepare(source, options).foldedBatchNorms, std::size_t(0));
        options.simplify = true;
        const Prepared p = prepare(source, options);
        QCOMPARE(ops(*p.graph), QString("Conv Relu"));
        QCOMPARE(p.removedNodes, std::size_t(1));
        QCOMPARE(p.foldedBatchNorms, std::size_t(1));
        QCOMPARE(p.layerMappings[2].foldedInto, NodeId(0));
        QCOMPARE(p.layerMappings[1].prepared.valid(), false);
        QCOMPARE(QString::fromStdString(p.layerMappings[1].note),
                 QString("removed: this Cast passes its input on unchanged"));
        QCOMPARE(p.layerMappings[3].prepared, NodeId(1));
        QCOMPARE(p.sourceOf[1], NodeId(3));
    }
};

QTEST_GUILESS_MAIN(SimplifyTest)
#include "simplify_test.moc"
