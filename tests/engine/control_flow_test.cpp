// SPDX-License-Identifier: Apache-2.0
// Loop, If and sequences: those without a real decision become plain nodes, those with a known decision run,
// and tensors that a subgraph reads from outside become edges of the graph. onnx_node_test runs ONNX's own
// tests of these operators.
#include <onnx/onnx_pb.h>

#include <QTemporaryDir>
#include <QtTest>

#include "base/error.h"
#include "model/graph_builder.h"
#include "model/load_model.h"
#include "model/raise_opset.h"
#include "model/subgraphs.h"
#include "runtime/program/program.h"
#include "support/errors.h"
#include "support/small_graph.h"

using namespace quantloupe;
using namespace quantloupe::test;

namespace {

/// PyTorch's export of tensor_split: a list that a Loop fills and SequenceAt reads.
const QString kList = R"((float[N,4] X) => (float[N,2] Y)
    <int64 M = {2}, bool C = {1}, int64 Second = {1}, int64[3] Bounds = {0, 2, 4}, int64[1] Axis = {1}, int64 One = {1}, int64[1] Shape = {1}>
    { S = SequenceEmpty <dtype = 1> ()
      L = Loop <body = b (int64 i, bool c, float s) => (bool d, float t) {
          From = Gather (Bounds, i) j = Add (i, One) To = Gather (Bounds, j)
          From1 = Reshape (From, Shape) To1 = Reshape (To, Shape)
          Part = Slice (X, From1, To1, Axis) t = SequenceInsert (s, Part) d = Identity (C) }> (M, C, S)
      Y = SequenceAt (L, Second) })";

/// The condition depends on a shape, which is known when the program is compiled.
const QString kBranch = R"((float[N,K] X) => (float[N,K] Y) <int64 One = {1}, int64 Four = {4}>
    { Sh = Shape (X) D = Gather (Sh, One) Wide = Equal (D, Four) Z = Neg (X)
      Y = If <then_branch = a () => (float[N,K] p) { p = Add (X, Z) }, else_branch = b () => (float[N,K] q) { q = Abs (Z) }> (Wide) })";

}  // namespace

class ControlFlowTest : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    /// A body is saved as it is, so the opset cannot be raised if one of its operators has changed.
    void bodiesKeepTheOpset() {
        const GraphPtr g = test::graph(R"((float[N,4] X, bool C) => (float[N,1] Y)
            { Y = If <then_branch = a () => (float[N,1] p) { p = ReduceMean <axes = [1]> (X) },
                      else_branch = b () => (float[N,1] q) { q = ReduceMax <axes = [1]> (X) }> (C) })",
                                       17);
        GraphBuilder builder(*g);
        const QString error = test::errorOf([&] { raiseOpset(builder, *g, 21); });
        QVERIFY2(error.contains("the body of the If") && error.contains("opset 21"), qPrintable(error));
    }

    void modesAreRenamed() {
        const GraphPtr g = test::graph(R"((float[N,1,4,4] X, float[N,2,2,2] G) => (float[N,1,2,2] Y)
            { d = Dropout (X) Y = GridSample <mode = "bicubic"> (d, G) })",
                                       16);
        GraphBuilder builder(*g);
        raiseOpset(builder, *g, 21);
        QCOMPARE(builder.build()->nodes().back().attributes.text("mode", ""), "cubic");
    }

    void listsWithConstantLengthBecomePlainNodes() {
        const GraphPtr g = test::graph(kList);
        for (const Node& node : g->nodes())
            QVERIFY2(node.op != "Loop" && !node.op.starts_with("Sequence"), node.op.c_str());
        QCOMPARE(test::run(g, {2, 4}, {1, 2, 3, 4, 5, 6, 7, 8}), (std::vector<float>{3, 4, 7, 8}));
    }

    /// PyTorch declares some iteration numbers as one value in one dimension and reads them as the starts of
    /// a Slice. ONNX Runtime refuses a scalar there.
    void iterationsHaveTheDeclaredShape() {
        QString list = kList;
        list.replace(QStringLiteral("int64 i"), QStringLiteral("int64[1] i"));
        list.replace(QStringLiteral("Slice (X, From1, To1, Axis)"),
                     QStringLiteral("Slice (X, From, To, Axis)"));
        list.remove(QStringLiteral("From1 = Reshape (From, Shape) To1 = Reshape (To, Shape)"));
        const GraphPtr g = test::graph(list);
        int gathers = 0;
        for (const Node& node : g->nodes())
            if (node.op == "Gather" && g->constantOf(node.input(1)) != nullptr) {
                ++gathers;
                QCOMPARE(g->constantOf(node.input(1))->dims(), Dims{1});
            }
        QVERIFY(gathers >= 2);
        QCOMPARE(test::run(g, {2, 4}, {1, 2, 3, 4, 5, 6, 7, 8}), (std::vector<float>{3, 4, 7, 8}));
        // The same if the loop cannot be unrolled because it has a scan output.
        const GraphPtr scan = test::graph(R"((float[1,3] X) => (float[1,3] Y, float[3,1,1] Z)
            <bool C = {1}, int64 M = {3}, int64[1] Axis = {1}, int64[1] One = {1}, int64[1] Zero = {0}>
            { Y, Z = Loop <body = b (int64[1] i, bool c, float[1,3] v) => (bool d, float[1,3] w, float[1,1] z) {
                  w = Identity (v) To = Add (i, One) Both = Concat <axis = 0> (i, To) At = Slice (Both, Zero, One)
                  z = Slice (X, At, To, Axis) d = Identity (c) }> (M, C, X) })");
        QCOMPARE(test::run(scan, {1, 3}, {4, 5, 6}), (std::vector<float>{4, 5, 6}));
    }

    void loopsOfOneNameAreUnrolled() {
        const std::string body =
            "<body = b (int64 i, bool c, float[1,2] v) => (bool d, float[1,2] w) { w = Add (v, One) d = "
            "Identity (c) }>";
        onnx::ModelProto model;
        QVERIFY(model.ParseFromString(test::textModelBytes(
            "<ir_version: 8, opset_import: [\"\" : 13]> g (float[1,2] X) => (float[1,2] Y) <bool C = {1}, "
            "int64 M = {3}, float One = {1}> { A = Loop " +
            body + " (M, C, X) Y = Loop " + body + " (M, C, A) }")));
        for (auto& node : *model.mutable_graph()->mutable_node()) {
            node.set_name("Loop");
            node.set_domain("ai.onnx");  // the same as an empty one
        }
        const std::string bytes = model.SerializeAsString();
        const GraphPtr g = parseModel(bytes.data(), bytes.size()).graph;
        QVERIFY(!test::ops(*g).contains("Loop"));
        QCOMPARE(test::run(g, {1, 2}, {1, 2}), (std::vector<float>{7, 8}));
    }

    void branchesOnShapesRun() {
        const GraphPtr g = test::graph(kBranch);
        QCOMPARE(test::run(g, {1, 4}, {1, -2, 3, -4}), (std::vector<float>{0, 0, 0, 0}));
        QCOMPARE(test::run(g, {1, 2}, {1, -2}), (std::vector<float>{1, 2}));
    }

    /// The inputs fix the shapes that decide. Nothing remains of the arithmetic on them.
    void branchesThatShapesDecideAreInlined() {
        QString wide = kBranch, narrow = kBranch;
        const GraphPtr sum = test::graph(wide.replace(QStringLiteral("[N,K]"), QStringLiteral("[N,4]")));
        QCOMPARE(test::ops(*sum), "Neg Add Identity");
        const GraphPtr size = test::graph(narrow.replace(QStringLiteral("[N,K]"), QStringLiteral("[N,3]")));
        QCOMPARE(test::ops(*size), "Neg Abs Identity");
        QCOMPARE(test::run(size, {1, 3}, {1, -2, 3}), (std::vector<float>{1, 2, 3}));
        // The second row of a matrix is no element of a list.
        const GraphPtr row = test::graph(
            R"((float[N,3] X) => (float[N,3] Y) <int64[2,1] M = {1, 0}, int64[1] At = {1}, int64[1,1] One = {1}>
            { R = Gather (M, At) C = Equal (R, One) S = Squeeze (C)
              Y = If <then_branch = a () => (float[N,3] p) { p = Abs (X) }, else_branch = b () => (float[N,3] q) { q = Exp (X) }> (S) })");
        QCOMPARE(test::run(row, {1, 3}, {0, 0, 0}), (std::vector<float>{1, 1, 1}));
        // The values of other operators, and of matrices that are computed, are not known.
        for (const char* list :
             {"E = Expand (Nine, Three) L = Concat <axis = 0> (E, One)",
              "U = Unsqueeze (Nine, Zero) V = Unsqueeze (One, Zero) M = Concat <axis = 1> (U, V) "
              "R = Slice (M, Zero, One, Zero) L = Squeeze (R, Zero)"}) {
            const GraphPtr other = test::graph(QString(R"((float[N,3] X) => (float[N,3] Y)
                <int64[1] Nine = {9}, int64[1] One = {1}, int64[1] Three = {3}, int64[1] Zero = {0}, int64 At = {1}, int64 Same = {9}>
                { %1 E1 = Gather (L, At) C = Equal (E1, Same)
                  Y = If <then_branch = a () => (float[N,3] p) { p = Abs (X) }, else_branch = b () => (float[N,3] q) { q = Exp (X) }> (C) })")
                                                   .arg(QString::fromLatin1(list)));
            const bool nine = QByteArray(list).startsWith("E");  // 9 9 9 1, or 9 1
            QCOMPARE(test::run(other, {1, 3}, {0, 0, 0}),
                     nine ? (std::vector<float>{0, 0, 0}) : (std::vector<float>{1, 1, 1}));
        }
        for (const char* shape : {"Minus", "One", "Scalar"}) {
            const GraphPtr reshaped = test::graph(QString(R"((float[N,3] X) => (float[N,3] Y)
                <int64 Rate = {9}, int64[1] Minus = {-1}, int64[1] One = {1}, int64[0] Scalar = {}>
                { L = Reshape (Rate, %1) C = Equal (L, Rate) D = Reshape (C, Scalar)
                  Y = If <then_branch = a () => (float[N,3] p) { p = Abs (X) }, else_branch = b () => (float[N,3] q) { q = Exp (X) }> (D) })")
                                                      .arg(QString::fromLatin1(shape)));
            QCOMPARE(test::ops(*reshaped), "Abs Identity");
        }
        // Scripted modules of PyTorch ask for the number of dimensions. The second If is known only once the
        // first one is inlined, and the third one is inside it.
        const QString ranks =
            R"((float[N,K] X) => (float[A,B,C] Y) <int64 Two = {2}, int64 Three = {3}, int64[1] Axis = {0}>
            { S = Shape (X) R = Size (S) Flat = Equal (R, Two)
              T = If <then_branch = a () => (float[P,Q,U] t) { t = Unsqueeze (X, Axis) },
                      else_branch = b () => (float[P,Q,U] u) { u = Neg (X) }> (Flat)
              S1 = Shape (T) R1 = Size (S1) Odd = Equal (R1, Three) Not1 = Not (Odd) Even = Cast <to = 9> (Not1)
              Y = If <then_branch = c () => (float[A,B,C] v) { v = Exp (T) },
                      else_branch = d () => (float[A,B,C] w) {
                          w = If <then_branch = e () => (float[A,B,C] f) { f = Abs (T) },
                                  else_branch = h () => (float[A,B,C] i) { i = Exp (T) }> (Odd) }> (Even) })";
        for (const int opset : {13, 17})
            QCOMPARE(test::ops(*test::graph(ranks, opset)), "Unsqueeze Abs Identity");
    }

    /// A detector continues like this after its first NonZero: the value of the Relu must stay available
    /// although a Gemm could fuse it.
    void valuesAfterLayersAreKnown() {
        const GraphPtr g = test::graph(R"((float[2,2] X) => (int64[2,K] Y) <float[2,2] W = {1, 0, 0, 1}>
            { G = Gemm (X, W) R = Relu (G) N = NonZero (R) Y = Identity (N) })");
        ProgramSpec spec;
        spec.graph = g;
        spec.observed = {g->outputs()[0]};
        spec.constants[g->inputs()[0]] = Constant::fromFloats({2, 2}, {1, -1, -1, 2});
        const auto program = Program::compile(std::move(spec));
        const ConstantPtr found = program->constantValue(g->outputs()[0]);
        QVERIFY(found != nullptr);
        QCOMPARE(found->toInt64s(), (std::vector<std::int64_t>{0, 1, 0, 1}));
    }

    void subgraphInputsAreEdges() {
        const GraphPtr g = test::graph(kBranch);
        const NodeId branch = g->tensor(g->outputs()[0]).producer;
        const Node& node = g->node(branch);
        QCOMPARE(formalInputs(node), 1u);
        QCOMPARE(capturedNames(node.attributes), (std::vector<std::string>{"X", "Z"}));
        const auto& readers = g->tensor(*g->findTensor("Z")).consumers;
        QVERIFY(std::find(readers.begin(), readers.end(), branch) != readers.end());
    }

    void savedSubgraphsReadRenamedTensors() {
        const GraphPtr g = test::graph(kBranch);
        GraphBuilder builder(*g);
        const TensorId other = builder.tensor("Other");
        Node relu;
        relu.name = relu.op = "Relu";
        relu.inputs = {builder.tensor("X")};
        relu.outputs = {other};
        builder.replaceUses(builder.tensor("Z"), other);
        builder.addNode(std::move(relu));
        QTemporaryDir folder;
        const std::filesystem::path file = folder.path().toStdString() + "/branch.onnx";
        saveModel(*builder.build(), file);
        const GraphPtr saved = loadModel(file).graph;
        QCOMPARE(test::run(saved, {1, 4}, {1, -2, 3, -4}), (std::vector<float>{2, -2, 6, -4}));
    }

    void loopsThatDependOnTheDataAreRefused() {
        const GraphPtr g =
            test::graph(R"((float[N,1] X) => (float[N,1] Y) <bool C = {1}, int64 M = {3}, float Half = {0.5}>
            { Y = Loop <body = b (int64 i, bool c, float[N,1] v) => (bool d, float[N,1] w) {
                  w = Mul (v, Half) s = ReduceSum (w) d = Greater (s, Half) }> (M, C, X) })");
        QVERIFY_EXCEPTION_THROWN(test::run(g, {1, 1}, {8}), Error);
    }

    void joinedListsMayHaveANewAxis() {
        QString list = kList;
        list.replace(QStringLiteral("Y = SequenceAt (L, Second)"),
                     QStringLiteral("Y = ConcatFromSequence <axis = 2, new_axis = 1> (L)"));
        list.replace(QStringLiteral("float[N,2] Y"), QStringLiteral("float[N,2,2] Y"));
        for (const int opset : {12, 17}) {
            const GraphPtr g = test::graph(list, opset);
            for (const Node& node : g->nodes()) QVERIFY2(!node.op.starts_with("Sequence"), node.op.c_str());
            QCOMPARE(test::run(g, {1, 4}, {1, 2, 3, 4}), (std::vector<float>{1, 3, 2, 4}));
        }
    }

    /// "for t in range(x.shape[1]): h = h + x[:, t]; outputs.append(h)", as PyTorch exports it.
    void listsThatALoopAppendsToAreJoined() {
        const auto sums = [](const char* join, const char* value = "g") {
            const GraphPtr g = test::graph(QString(R"((float[N,T,2] X) => (float Y)
                <int64 One = {1}, bool C = {1}, int64[1] Axis = {1}>
                { Sh = Shape (X) D = Gather (Sh, One) Zero = Sub (X, X)
                  H0 = ReduceSum <keepdims = 0> (Zero, Axis) S = SequenceEmpty <dtype = 1> ()
                  H, L = Loop <body = b (int64 i, bool c, float[N,2] h, float s) => (bool d, float[N,2] g, float t) {
                      v = Gather <axis = 1> (X, i) g = Add (h, v) k = ReduceSum (g, Axis) t = SequenceInsert (s, %2) d = Identity (C) }> (D, C, H0, S)
                  Y = ConcatFromSequence <%1> (L) })")
                                               .arg(join, value),
                                           17);
            return test::run(g, {2, 3, 2}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12});
        };
        const std::vector<float> bySample = {1, 2, 4, 6, 9, 12, 7, 8, 16, 18, 27, 30};
        const std::vector<float> byStep = {1, 2, 7, 8, 4, 6, 16, 18, 9, 12, 27, 30};
        QCOMPARE(sums("axis = 1, new_axis = 1"), bySample);
        QCOMPARE(sums("axis = 0, new_axis = 1"), byStep);
        QCOMPARE(sums("axis = 1", "k"), (std::vector<float>{3, 10, 21, 15, 34, 57}));
        // Without a new axis, the tensors could have different extents.
        QVERIFY_THROWS_EXCEPTION(Error, sums("axis = 1"));
        QCOMPARE(sums("axis = 2, new_axis = 1"),
                 (std::vector<float>{1, 4, 9, 2, 6, 12, 7, 16, 27, 8, 18, 30}));
    }

    /// The branch's own tensor has the name of the If's output, which ONNX Runtime accepts.
    void namesInsideABranchAreItsOwn() {
        const GraphPtr g = test::graph(R"((float[1,2] X) => (float[1,2] Y) <int64 M = {2}, bool C = {1}>
            { Y = Loop <body = b (int64 i, bool c, float[1,2] s) => (bool d, float[1,2] t) {
                  d = Identity (C)
                  t = If <then_branch = p () => (float[1,2] t) { t = Add (s, s) },
                          else_branch = q () => (float[1,2] t) { t = Neg (s) }> (d) }> (M, C, X) })");
        QCOMPARE(test::run(g, {1, 2}, {1, 2}), (std::vector<float>{4, 8}));
    }

    /// Sums from the right along the second dimension, as a bidirectional recurrence computes them.
    void scansRunAlongAnyDimension() {
        const auto sums = [](const QString& attributes) {
            const GraphPtr g = test::graph(QString(R"((float[N,3] X) => (float[A,B] Y)
                <int64[1] Axis = {1}>
                { Zero = Sub (X, X) S = ReduceMax <keepdims = 0> (Zero, Axis)
                  T, Y = Scan <num_scan_inputs = 1, %1, body = b (float[N] s, float[N] v) => (float[N] t, float[N] o) {
                      t = Add (s, v) o = Identity (t) }> (S, X) })")
                                               .arg(attributes),
                                           18);
            return test::run(g, {2, 3}, {1, 2, 3, 4, 5, 6});
        };
        const QString reversed = QStringLiteral("scan_input_axes = [1], scan_input_directions = [1]");
        QCOMPARE(sums(reversed), (std::vector<float>{3, 6, 5, 11, 6, 15}));
        QCOMPARE(sums(reversed + ", scan_output_axes = [-1]"), (std::vector<float>{3, 5, 6, 6, 11, 15}));
        QCOMPARE(sums(reversed + ", scan_output_axes = [1], scan_output_directions = [1]"),
                 (std::vector<float>{6, 5, 3, 15, 11, 6}));
        const QString error = test::errorOf([&] { sums(QStringLiteral("scan_input_axes = [0, 1]")); });
        QVERIFY2(error.contains("scan_input_axes has 2 entries instead of 1"), qPrintable(error));
    }
};

QTEST_GUILESS_MAIN(ControlFlowTest)
#include "control_flow_test.moc"
