// SPDX-License-Identifier: Apache-2.0
// The executor: fusion, layouts, quantizers, cuts, and the float outputs of real networks.
#include "runtime/program/program.h"

#include <QtTest>

#include "base/error.h"
#include "data/numpy_file.h"
#include "support/errors.h"
#include "support/small_graph.h"

using namespace quantloupe;
using quantloupe::test::textModel;
using test::run;

namespace {

const char* const kConvolution = R"(<ir_version: 8, opset_import: ["" : 13]>
g (float[1,2,2,2] X) => (float[1,2,2,2] Y)
<float[2,2,1,1] W = {1, 2, -1, 1}, float[2] B = {0.5, -0.5}> {
    A = Conv (X, W, B)
    R = Relu (A)
    Y = Add (R, X)
})";

}  // namespace

class ProgramTest : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void convolutionWithFusedReluAndResidual() {
        const GraphPtr graph = textModel(kConvolution).graph;
        // Channel 0: x0 + 2 x1 + 0.5; channel 1: -x0 + x1 - 0.5; then relu; then + x.
        const std::vector<float> x{1, 2, 3, 4, 5, 6, 7, -8};
        const std::vector<float> expected{12.5, 16.5, 20.5, 4, 8.5, 9.5, 10.5, -8};
        QCOMPARE(run(graph, {1, 2, 2, 2}, x), expected);
    }

    /// Later opsets have the scales as an input.
    void upsampleOfOpset7() {
        const GraphPtr graph = textModel(R"(<ir_version: 3, opset_import: ["" : 7]>
            net (float[1,1,1,2] X) => (float[1,1,2,4] Y) { Y = Upsample<mode = "nearest", scales = [1.0, 1.0, 2.0, 2.0]>(X) })")
                                   .graph;
        QCOMPARE(run(graph, {1, 1, 1, 2}, {5, 7}), (std::vector<float>{5, 5, 7, 7, 5, 5, 7, 7}));
    }

    void operandsOfAnotherTypeAreRefused() {
        const GraphPtr graph = textModel(R"(<ir_version: 8, opset_import: ["" : 17]>
            net (float[1,4] X) => (float[1,4] Y) <float[4] W = {1, 1, 1, 1}, uint8[4] B = {1, 1, 1, 1}>
            { Y = LayerNormalization(X, W, B) })")
                                   .graph;
        const QString error = test::errorOf([&] { run(graph, {1, 4}, {1, 2, 3, 4}); });
        QVERIFY2(error.contains("float32"), qPrintable(error));
    }

    /// Must be refused before a kernel runs: these nodes would crash, read memory that is not theirs, or need
    /// far more than there is.
    void invalidNodesAreRefused_data() {
        QTest::addColumn<Dims>("dims");
        QTest::addColumn<QString>("nodes");
        QTest::addColumn<QString>("says");
        QTest::newRow("a state of another type")
            << Dims{1, 2}
            << "Y, Z = Scan <num_scan_inputs = 1, body = b (float[2] s, float[2] v) => (double[2] t, "
               "float[2] o) "
               "{ a = Add (s, v) t = Cast <to = 11> (a) o = Identity (v) }> (S, X)"
            << "changes its type from float32 to float64";
        QTest::newRow("no scales")
            << Dims{1, 2} << "c = Cast <to = 2> (X) e = ConstantOfShape (Zero) Y = DequantizeLinear (c, e)"
            << "has no scales";
        QTest::newRow("values of an empty image")
            << Dims{1, 1, 0, 4} << "Y = GridSample <padding_mode = \"border\"> (X, Grid)"
            << "empty images";
        QTest::newRow("indices without depth")
            << Dims{1, 2} << "e = ConstantOfShape (Empty) i = Cast <to = 7> (e) Y = GatherND (X, i)"
            << "indices 2×0";
        QTest::newRow("an immense shape") << Dims{1, 2} << "Y = Reshape (X, Immense)"
                                          << "too large";
        QTest::newRow("an immense padding") << Dims{1, 2} << "Y = Pad (X, Wide)"
                                            << "not enough memory";
    }
    void invalidNodesAreRefused() {
        QFETCH(Dims, dims);
        QFETCH(QString, nodes);
        QFETCH(QString, says);
        const GraphPtr graph = test::graph(
            "(float X) => (float Y) <float[2] S = {0, 0}, int64[1] Zero = {0}, float[1,1,1,2] Grid = {0, "
            "-1}, int64[2] Empty = {2, 0}, int64[3] Immense = {4611686018427387904, 4, -1}, int64[4] Wide = "
            "{2147483648, 2147483648, 2147483648, 2147483648}> { " +
                nodes + " }",
            17);
        const std::vector<float> x(static_cast<std::size_t>(elementCount(dims)), 1.0f);
        const QString error = test::errorOf([&] { run(graph, dims, x); });
        QVERIFY2(error.contains(says), qPrintable(error));
    }

    void farDiagonalsKeepAllOrNothing() {
        const GraphPtr graph = test::graph(
            "(float[2,2] X) => (float Y) <int64 K = {9223372036854775807}> { Y = Trilu (X, K) }", 14);
        QCOMPARE(run(graph, {2, 2}, {1, 2, 3, 4}), (std::vector<float>{0, 0, 0, 0}));
    }

    void emptyExtentsGiveEmptySums() {
        // An empty sum of products is 0; a result without columns has no values.
        const GraphPtr inner = textModel(R"(<ir_version: 8, opset_import: ["" : 13]>
            net (float[2,0] X) => (float[2,3] Y) <float[0,3] W = {}> { Y = MatMul(X, W) })")
                                   .graph;
        QCOMPARE(run(inner, {2, 0}, {}), std::vector<float>(6, 0));
        const GraphPtr columns = textModel(R"(<ir_version: 8, opset_import: ["" : 13]>
            net (float[2,3] X) => (float[2,0] Y) <float[3,0] W = {}> { Y = Gemm(X, W) })")
                                     .graph;
        QCOMPARE(run(columns, {2, 3}, std::vector<float>(6, 1)), std::vector<float>());
    }

    void averageOverPaddingOnlyIsZero() {
        // The last window begins at position 3, after the only two values and one value of padding.
        const GraphPtr graph = textModel(R"(<ir_version: 8, opset_import: ["" : 13]>
            net (float[1,1,2] X) => (float[1,1,2] Y) { Y = AveragePool<kernel_shape = [1], strides = [3], pads = [0, 2]>(X) })")
                                   .graph;
        QCOMPARE(run(graph, {1, 1, 2}, {5, 7}), (std::vector<float>{5, 0}));
    }

    /// Since opset 19 ONNX Runtime sums an AveragePool sequentially; for older opsets it uses the order of
    /// its own kernel.
    void averagesFollowTheOpsetOfTheExport() {
        const auto averages = [](int opset, int exportOpset) {
            const GraphPtr graph = textModel(fmt::format(R"(<ir_version: 8, opset_import: ["" : {}]>
                net (float[1,1,4,4] X) => (float[1,1,1,1] Y) {{ Y = AveragePool<kernel_shape = [4, 4]>(X) }})",
                                                         opset))
                                       .graph;
            ProgramSpec spec =
                floatProgram(graph, {{graph->inputs()[0], {DataType::Float32, {1, 1, 4, 4}, Layout::Plain}}},
                             {graph->outputs()[0]});
            spec.exportOpset = exportOpset;
            std::vector<float> result;
            for (int seed = 0; seed < 50; ++seed) {
                std::vector<float> x(16);
                for (std::size_t i = 0; i < x.size(); ++i)
                    x[i] = std::sin(static_cast<float>(16 * seed) + static_cast<float>(i));
                Workspace workspace(Program::compile(spec));
                workspace.bind(graph->inputs()[0], x.data());
                workspace.run();
                result.push_back(workspace.floats(graph->outputs()[0])[0]);
            }
            return result;
        };
        QVERIFY(averages(13, 0) != averages(19, 0));
        QCOMPARE(averages(13, 21), averages(21, 0));
        QCOMPARE(averages(13, 13), averages(13, 0));
    }

    void quantizersActOnAllReaders() {
        const GraphPtr graph = textModel(kConvolution).graph;
        const std::vector<float> x{1.2f, 2, 3, 4, 5, 6, 7, -8};
        // A scale of 1 rounds the input to integers for the convolution and for the Add.
        const auto y = run(graph, {1, 2, 2, 2}, x, {{graph->inputs()[0], FakeQuant{1, -128, 127}}});
        QCOMPARE(y[0], 12.5f);
    }

    void anyBatchSize() {
        const GraphPtr graph = textModel(kConvolution).graph;
        const std::vector<float> one{1, 2, 3, 4, 5, 6, 7, -8};
        std::vector<float> three;
        for (int i = 0; i < 3; ++i) three.insert(three.end(), one.begin(), one.end());
        const auto single = run(graph, {1, 2, 2, 2}, one), many = run(graph, {3, 2, 2, 2}, three);
        for (std::size_t i = 0; i < many.size(); ++i) QCOMPARE(many[i], single[i % single.size()]);
    }

    void startsFromAnyCut() {
        const GraphPtr graph = textModel(kConvolution).graph;
        ProgramSpec spec;
        spec.graph = graph;
        const TensorId r = *graph->findTensor("R"), x = *graph->findTensor("X"), y = graph->outputs()[0];
        for (const TensorId id : {r, x})
            spec.inputs[id] = {DataType::Float32, {1, 2, 2, 2}, Layout::ChannelsLast};
        spec.observed = {y};
        const auto program = Program::compile(spec);
        Workspace workspace(program);
        const std::vector<float> ones(8, 1), twos(8, 2);
        workspace.bind(r, ones.data());
        workspace.bind(x, twos.data());
        workspace.run();
        QCOMPARE(workspace.floats(y)[7], 3.0f);
    }

    void shapeArithmeticIsFolded() {
        const GraphPtr graph = textModel(R"(<ir_version: 8, opset_import: ["" : 13]>
            g (float[N,2,3] X) => (float[N,6] Y) <int64[1] zero = {0}, int64[1] rest = {-1}> {
                S = Shape (X)
                B = Gather (S, zero)
                T = Concat <axis = 0> (B, rest)
                Y = Reshape (X, T)
            })")
                                   .graph;
        const std::vector<float> x(12, 1);
        QCOMPARE(run(graph, {2, 2, 3}, x).size(), 12u);
    }

    void cancelStopsARun() {
        const GraphPtr graph = textModel(kConvolution).graph;
        ProgramSpec spec;
        spec.graph = graph;
        spec.inputs[graph->inputs()[0]] = {DataType::Float32, {1, 2, 2, 2}, Layout::Plain};
        spec.observed = {graph->outputs()[0]};
        Workspace workspace(Program::compile(spec));
        const std::vector<float> x(8, 1);
        workspace.bind(graph->inputs()[0], x.data());
        const CancelToken cancel;
        cancel.cancel();
        QVERIFY_EXCEPTION_THROWN(workspace.run(cancel), Cancelled);
    }

    void errorsOfKernelsNameTheNode() {
        const GraphPtr graph = test::graph(
            "(float[1] X) => (float[1] Y) <float[2] W = {1, 2}> { I = Cast <to = 7> (X) Y = Gather (W, I) }",
            17);
        const QString error = test::errorOf([&] { run(graph, {1}, {5}); });
        QVERIFY2(error.contains("(Gather): "), qPrintable(error));
    }

    void shapeErrorsNameTheNode() {
        const GraphPtr graph = textModel(R"(<ir_version: 8, opset_import: ["" : 13]>
            g (float[1,3,2,2] X) => (float[1,2,2,2] Y) <float[2,2,1,1] W = {1, 2, -1, 1}> { Y = Conv (X, W) })")
                                   .graph;
        try {
            run(graph, {1, 3, 2, 2}, std::vector<float>(12));
            QFAIL("no error");
        } catch (const Error& error) {
            QVERIFY(QString(error.what()).contains("node 'Conv_0' (Conv)"));
            QVERIFY(QString(error.what()).contains("3 channels"));
        }
    }

    void aPartialProgramEndsBeforeUnsupportedNodes() {
        const GraphPtr graph = textModel(R"(<ir_version: 8, opset_import: ["" : 13]>
            g (float[N,4] X) => (float[N,4] Y, float[N,4] Z) { A = Relu (X) B = RandomNormalLike (A) Y = Neg (B) Z = Abs (A) })")
                                   .graph;
        ProgramSpec spec =
            floatProgram(graph, {{graph->inputs()[0], {DataType::Float32, {1, 4}, Layout::Plain, {1, 1}}}},
                         {graph->outputs()[0], graph->outputs()[1]});
        QVERIFY_EXCEPTION_THROWN(Program::compile(spec), Error);
        spec.partial = true;
        const auto program = Program::compile(spec);
        QCOMPARE(program->unavailable().size(), 2u);
        QVERIFY(QString::fromStdString(program->unavailable().at(*graph->findNode("RandomNormalLike_1")))
                    .contains("RandomNormalLike"));
        QVERIFY(QString::fromStdString(program->unavailable().at(*graph->findNode("Neg_2")))
                    .contains("'RandomNormalLike_1'"));
        Workspace workspace(program);
        const std::vector<float> x{-1, 2, -3, 4};
        workspace.bind(graph->inputs()[0], x.data());
        workspace.run();
        QCOMPARE(std::vector<float>(workspace.floats(graph->outputs()[1]),
                                    workspace.floats(graph->outputs()[1]) + 4),
                 (std::vector<float>{0, 2, 0, 4}));
    }

    /// The kernel that would run the convolution and its batch norm together does not hide the batch norm.
    void aPartialProgramLeavesOutFusedNodes() {
        const GraphPtr graph = textModel(R"(<ir_version: 8, opset_import: ["" : 13]>
            g (float[N,1,2,2] X) => (double[N,1,2,2] Y, float[N,1,2,2] Z)
            <double[1,1,1,1] W = {2}, double[1] S = {1}>
            { B = Cast <to = 11> (X) C = Conv (B, W)
              D = BatchNormalization (C, S, S, S, S) Y = Relu (D) Z = Abs (X) })")
                                   .graph;
        ProgramSpec spec = floatProgram(
            graph, {{graph->inputs()[0], {DataType::Float32, {1, 1, 2, 2}, Layout::Plain, {1, 1}}}},
            {graph->outputs()[0], graph->outputs()[1]});
        spec.partial = true;
        const auto program = Program::compile(spec);
        QCOMPARE(program->unavailable().size(), 3u);
        for (const char* name : {"Conv_1", "BatchNormalization_2", "Relu_3"})
            QVERIFY2(program->unavailable().contains(*graph->findNode(name)), name);
    }
};

QTEST_GUILESS_MAIN(ProgramTest)
#include "program_test.moc"
