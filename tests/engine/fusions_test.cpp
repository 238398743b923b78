// SPDX-License-Identifier: Apache-2.0
// Groups of nodes that run as one kernel: found where no other node uses the tensors in between, and
// bit-identical to separate execution. Also operators on channels-last tensors: the results are the same as
// for row-major tensors.
#include "runtime/program/fusions.h"

#include <QtTest>
#include <random>

#include "runtime/operators/operators.h"
#include "runtime/program/program.h"
#include "support/small_graph.h"
#include "support/text_model.h"

using namespace quantloupe;
using quantloupe::test::textModel;

namespace {

std::vector<float> randomFloats(std::size_t count, unsigned seed) {
    std::mt19937 generator(seed);
    std::normal_distribution<float> normal;
    std::vector<float> values(count);
    for (float& value : values) value = 2 * normal(generator);
    return values;
}

/// The graph's output; with `lookInside` every computed tensor is observed, so that nothing can be fused.
std::vector<float> run(const GraphPtr& graph, const Dims& dims, bool lookInside,
                       FakeQuant* quantizer = nullptr) {
    ProgramSpec spec;
    spec.graph = graph;
    spec.inputs[graph->inputs()[0]] = {DataType::Float32, dims, Layout::Plain};
    spec.observed = {graph->outputs()[0]};
    for (std::size_t t = 0; t < graph->tensorCount(); ++t) {
        const NodeId producer = graph->tensor(TensorId(t)).producer;
        if (lookInside && producer.valid()) spec.observed.push_back(TensorId(t));
        if (quantizer != nullptr && producer.valid() && !graph->tensor(TensorId(t)).graphOutput)
            spec.quantizers[TensorId(t)] = *quantizer;
    }
    const std::vector<float> input = randomFloats(spec.inputs.at(graph->inputs()[0]).count(), 7);
    return test::run(std::move(spec), input);
}

/// Returns the operators that replace a graph's nodes, as far as this is known without computation.
QString foundFusions(const GraphPtr& graph, const Dims& dims) {
    const TensorDesc desc{DataType::Float32, dims, Layout::Plain};
    const FusionScope scope{
        *graph, [&](TensorId tensor) { return !graph->tensor(tensor).graphOutput; },
        [&](TensorId tensor) { return graph->constantOf(tensor); },
        [&](TensorId tensor) { return graph->tensor(tensor).constant ? nullptr : &desc; }};
    QStringList found;
    std::vector<bool> done(graph->nodeCount(), false);
    for (std::size_t n = 0; n < graph->nodeCount(); ++n) {
        if (done[n]) continue;
        const auto fusion = findFusion(scope, NodeId(n));
        if (fusion)
            for (const NodeId id : fusion->covered) done[id.index()] = true;
        found << QString::fromStdString(fusion ? fusion->node.op : graph->node(NodeId(n)).op);
    }
    return found.join(' ');
}

}  // namespace

class FusionsTest : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void fused_data() {
        QTest::addColumn<QString>("body");
        QTest::addColumn<QString>("constants");
        QTest::addColumn<QString>("found");
        QTest::newRow("Gelu, divided, halved last")
            << "D = Div (X, S) E = Erf (D) A = Add (E, One) M = Mul (X, A) Y = Mul (M, Half)"
            << "float S = {1.41421356}, float One = {1}, float Half = {0.5}" << kFusedErfGelu;
        QTest::newRow("Gelu, multiplied, halved first")
            << "H = Mul (X, Half) D = Mul (X, S) E = Erf (D) A = Add (One, E) Y = Mul (H, A)"
            << "float S = {0.70710678}, float One = {1}, float Half = {0.5}" << kFusedErfGelu;
        QTest::newRow("not a Gelu: plus 2")
            << "D = Div (X, S) E = Erf (D) A = Add (E, Two) M = Mul (X, A) Y = Mul (M, Half)"
            << "float S = {1.41421356}, float Two = {2}, float Half = {0.5}"
            << "Div Erf Add Mul Mul";
        QTest::newRow("Swish") << "S = Sigmoid (X) Y = Mul (S, X)"
                               << "float One = {1}"
                               << "QuickGelu";
        QTest::newRow("not a Swish: another factor") << "S = Sigmoid (X) N = Neg (X) Y = Mul (S, N)"
                                                     << "float One = {1}"
                                                     << "Sigmoid Neg Mul";
        QTest::newRow("LayerNormalization")
            << "M = ReduceMean <axes = [-1]> (X) D = Sub (X, M) Q = Pow (D, Two) V = ReduceMean <axes = "
               "[-1]> (Q) "
               "W = Add (V, Eps) R = Sqrt (W) N = Div (D, R) G = Mul (N, Gamma) Y = Add (G, Beta)"
            << "float Two = {2}, float Eps = {0.00001}, float[6] Gamma = {1, 2, 3, 4, 5, 6}, float[6] Beta = "
               "{6, 5, 4, 3, "
               "2, 1}"
            << kFusedLayerNorm;
        QTest::newRow("Softmax of a scaled product") << "D = Div (X, S) Y = Softmax <axis = -1> (D)"
                                                     << "float S = {2.5}" << kFusedMaskedSoftmax;
        QTest::newRow("Softmax after a factor that adds a dimension")
            << "D = Mul (S, X) E = Softmax <axis = -1> (D) Y = Squeeze (E, A)"
            << "float[1,1,1,1] S = {2.5}, int64[1] A = {0}"
            << "Mul Softmax Squeeze";
        QTest::newRow("transposed matrices on the right")
            << "T = Transpose <perm = [0, 2, 1]> (X) Y = MatMul (X, T)"
            << "float One = {1}"
            << "MatMul";
        QTest::newRow("transposed matrices on the left")
            << "T = Transpose <perm = [0, 2, 1]> (X) Y = MatMul (T, X)"
            << "float One = {1}"
            << "Transpose MatMul";
        QTest::newRow("Softmax over rows") << "D = Div (X, S) Y = Softmax <axis = 1> (D)"
                                           << "float S = {2.5}"
                                           << "Div Softmax";
        QTest::newRow("masked Softmax")
            << "K = Neg (X) D = Mul (X, S) A = Add (D, K) Y = Softmax <axis = -1> (A)"
            << "float S = {0.3}" << (QString("Neg ") + kFusedMaskedSoftmax);
        QTest::newRow("product with bias") << "P = MatMul (X, W) Y = Add (B, P)"
                                           << "float[6,3] W = {1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 3, 2, 5, 4, 7, "
                                              "6, 9, 8}, float[3] B = {0.1, 0.2, 0.3}"
                                           << "MatMul";
        const auto floats = [](const char* name, const char* shape, std::size_t count, float least) {
            QStringList values;
            for (const float value : randomFloats(count, 3))
                values << QString::number(static_cast<double>(std::max(value, least)), 'f', 6);
            return QStringLiteral("float[%1] %2 = {%3}").arg(shape, name, values.join(", "));
        };
        const auto norm = [&](const char* shape, std::size_t count) {
            return QStringList{floats("S", shape, count, -9), floats("T", shape, count, -9),
                               floats("M", shape, count, -9), floats("V", shape, count, 0.1f)}
                .join(", ");
        };
        // Padding makes lines longer than the blocks of pixels that are scaled together.
        const QString normalized = "N = BatchNormalization <epsilon = 0.01> (C, S, T, M, V) Y = Relu (N)";
        QTest::newRow("normalized convolution")
            << "C = Conv <pads = [70, 70]> (X, W, B) " + normalized
            << floats("W", "5,4,3", 60, -9) + ", " + floats("B", "5", 5, -9) + ", " + norm("5", 5)
            << "Conv Relu";
        QTest::newRow("normalized pointwise convolution")
            << "L = Concat <axis = 2> (" + QStringList(20, "X").join(", ") + ") C = Conv (L, W) " + normalized
            << floats("W", "5,4,1", 20, -9) + ", " + norm("5", 5) << "Concat Conv Relu";
        QTest::newRow("normalized depthwise convolution")
            << "C = Conv <pads = [70, 70], group = 4> (X, W) " + normalized
            << floats("W", "4,1,3", 12, -9) + ", " + norm("4", 4) << "Conv Relu";
        QTest::newRow("normalized convolution with groups, without activation")
            << "C = Conv <pads = [70, 70], group = 2> (X, W) Y = BatchNormalization (C, S, T, M, V)"
            << floats("W", "6,2,3", 36, -9) + ", " + norm("6", 6) << "Conv";
        QTest::newRow("convolution with Swish")
            << "C = Conv (X, W, B) S = Sigmoid (C) Y = Mul (C, S)"
            << floats("W", "75,4,3", 900, -9) + ", " + floats("B", "75", 75, -9) << "Conv";
        QTest::newRow("normalized pointwise convolution with Swish")
            << "L = Concat <axis = 2> (" + QStringList(50, "X").join(", ") +
                   ") C = Conv (L, W) N = BatchNormalization (C, S, T, M, V) G = Sigmoid (N) Y = Mul (G, N)"
            << floats("W", "5,4,1", 20, -9) + ", " + norm("5", 5) << "Concat Conv";
        QTest::newRow("depthwise convolution with Swish")
            << "C = Conv <pads = [70, 70], group = 4> (X, W) S = Sigmoid (C) Y = Mul (C, S)"
            << floats("W", "4,1,3", 12, -9) << "Conv";
        QTest::newRow("convolution with groups and Swish")
            << "C = Conv <pads = [70, 70], group = 2> (X, W) S = Sigmoid (C) Y = Mul (C, S)"
            << floats("W", "6,2,3", 36, -9) << "Conv";
        QTest::newRow("convolution with one pixel and Swish")
            << "C = Conv (X, W) S = Sigmoid (C) Y = Mul (C, S)" << floats("W", "5,4,6", 120, -9) << "Conv";
        QTest::newRow("Swish before Relu") << "C = Conv (X, W) S = Sigmoid (C) A = Mul (C, S) Y = Relu (A)"
                                           << floats("W", "4,4,1", 16, -9) << "Conv Relu";
        QTest::newRow("Swish of a tensor that another node reads")
            << "C = Conv (X, W) S = Sigmoid (C) A = Mul (C, S) Y = Add (A, C)" << floats("W", "4,4,1", 16, -9)
            << "Conv QuickGelu Add";
        QTest::newRow("Sigmoid times another tensor")
            << "C = Conv (X, W) S = Sigmoid (C) A = Mul (X, S) D = Mul (A, C) Y = Relu (D)"
            << floats("W", "4,4,1", 16, -9) << "Conv Sigmoid Mul Mul Relu";
        QTest::newRow("normalized and read by another node")
            << "C = Conv (X, W) N = BatchNormalization (C, S, T, M, V) Y = Add (N, C)"
            << floats("W", "4,4,1", 16, -9) + ", " + norm("4", 4) << "Conv BatchNormalization Add";
    }
    void fused() {
        QFETCH(QString, body);
        QFETCH(QString, constants);
        QFETCH(QString, found);
        const GraphPtr graph =
            textModel(("<ir_version: 8, opset_import: [\"\" : 17]> g (float[2,4,6] X) => (float[a,b,c] Y) <" +
                       constants + "> { " + body + " }")
                          .toStdString())
                .graph;
        const Dims dims{2, 4, 6};
        QCOMPARE(foundFusions(graph, dims), found);
        QCOMPARE(run(graph, dims, false), run(graph, dims, true));
        FakeQuant coarse{0.25f, -128, 127};  // quantizers in between prevent fusion
        QCOMPARE(run(graph, dims, false, &coarse), run(graph, dims, true, &coarse));
    }

    void layouts_data() {
        QTest::addColumn<QString>("body");
        QTest::newRow("Concat") << "Y = Concat <axis = 1> (A, B)";
        QTest::newRow("Concat of a row-major one") << "T = Reshape (A, Sh) Y = Concat <axis = 1> (T, B)";
        QTest::newRow("Split") << "P, Q = Split <axis = 1> (A) Y = Mul (Q, P)";
        QTest::newRow("Slice") << "Y = Slice (A, St, En, Ax, Stp)";
        QTest::newRow("Pad") << "Y = Pad (A, Pads)";
        QTest::newRow("Resize") << "Y = Resize <mode = \"linear\"> (A, , Sc)";
        QTest::newRow("bias a channel") << "Y = Add (A, Chan)";
        QTest::newRow("gate a channel") << "G = GlobalAveragePool (A) S = Sigmoid (G) Y = Mul (A, S)";
        QTest::newRow("scalar") << "Y = Mul (A, One)";
        QTest::newRow("Where") << "C = Greater (A, One) Y = Where (C, A, B)";
        QTest::newRow("mean over pixels") << "Y = ReduceMean <axes = [2, 3]> (A)";
        QTest::newRow("mean over channels") << "Y = ReduceMean <axes = [1]> (A)";
        QTest::newRow("LRN") << "Y = LRN <size = 3> (A)";
        QTest::newRow("to tokens")
            << "R = Reshape (A, Tok) T = Transpose <perm = [0, 2, 1]> (R) Y = MatMul (T, W)";
        QTest::newRow("to NHWC and back")
            << "T = Transpose <perm = [0, 2, 3, 1]> (A) U = Relu (T) Y = Transpose <perm = [0, 3, 1, 2]> (U)";
    }
    void layouts() {
        QFETCH(QString, body);
        // A 1x1 MaxPool changes no values but makes its output channels-last; Identity keeps it row-major.
        const auto graph = [&](const char* op) {
            return textModel(
                       QString("<ir_version: 8, opset_import: [\"\" : 13]> g (float[2,4,3,5] X) => "
                               "(float[a,b,c,d] Y) <int64[4] Sh = {2, 4, 3, 5}, int64[3] Tok = {2, 4, 15}, "
                               "float[4,2] W = {1, 2, 3, 4, 5, 6, 7, 8}, int64[2] St = {0, -1}, int64[2] En "
                               "= {3, -9}, int64[2] Ax = {1, 3}, int64[2] Stp = {2, -2}, int64[8] Pads = {0, "
                               "1, 1, 0, 0, 0, 1, 2}, float[4] Sc = {1, 1, 2, 1.6}, float One = {1}, "
                               "float[4,1,1] Chan = {1, 2, 3, 4}> { A = %1 (X) N = Neg (X) B = %1 (N) %2 }")
                           .arg(op, body)
                           .toStdString())
                .graph;
        };
        const Dims dims{2, 4, 3, 5};
        const auto found = run(graph("MaxPool <kernel_shape = [1, 1]>"), dims, false);
        const auto expected = run(graph("Identity"), dims, false);
        QCOMPARE(found.size(), expected.size());
        for (std::size_t i = 0; i < found.size(); ++i)
            QVERIFY2(std::abs(found[i] - expected[i]) < 1e-5f, qPrintable(QString("element %1").arg(i)));
    }

    void tokenOutOfRangeIsReported() {
        const GraphPtr graph =
            textModel(
                "<ir_version: 8, opset_import: [\"\" : 13]> g (int64[2] ids) => (float[2,2] Y) "
                "<float[3,2] T = {1, 2, 3, 4, 5, 6}> { Y = Gather (T, ids) }")
                .graph;
        ProgramSpec spec;
        spec.graph = graph;
        spec.inputs[graph->inputs()[0]] = {DataType::Int64, {2}, Layout::Plain};
        spec.observed = {graph->outputs()[0]};
        Workspace workspace(Program::compile(spec));
        const std::int64_t ids[] = {-1, 3};
        workspace.bind(graph->inputs()[0], ids);
        QVERIFY_EXCEPTION_THROWN(workspace.run(), std::exception);
    }
};

QTEST_GUILESS_MAIN(FusionsTest)
#include "fusions_test.moc"
