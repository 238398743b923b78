// SPDX-License-Identifier: Apache-2.0
// The positions of the samples of a batch in the output of small networks, and networks that mix the samples.
// Random graphs are compared with ONNX Runtime in sample_graphs_test.
#include "runtime/program/sample_flow.h"

#include <QtTest>

#include "runtime/program/program.h"
#include "support/small_graph.h"

using namespace quantloupe;

class SampleFlowTest : public QObject {
    Q_OBJECT

    static std::shared_ptr<const Program> compile(const GraphPtr& graph, std::int64_t batch) {
        std::map<TensorId, TensorDesc> inputs;
        for (const TensorId input : graph->inputs()) {
            if (graph->tensor(input).shape->empty()) {
                inputs[input] = {DataType::Float32, {}, Layout::Plain};
                continue;
            }
            Dims dims{batch};
            for (std::size_t d = 1; d < graph->tensor(input).shape->size(); ++d)
                dims.push_back((*graph->tensor(input).shape)[d].value);
            inputs[input] = {DataType::Float32, dims, Layout::Plain, {1, batch}};
        }
        ProgramSpec spec = floatProgram(graph, inputs, {graph->outputs().begin(), graph->outputs().end()});
        spec.partial = true;  // keeps the constants for a comparison with other batch sizes
        if (batch > 1) spec.one = compile(graph, 1);
        return Program::compile(std::move(spec));
    }

    /// "2 runs", "same for all" or "mixed".
    static QString layoutOf(const Program& program, TensorId tensor) {
        const SampleLayout& samples = program.desc(tensor).samples;
        if (samples.isMixed()) return "mixed";
        return samples.perSample() ? QStringLiteral("%1 runs").arg(samples.runs) : "same for all";
    }

  private Q_SLOTS:
    void samplesAreFollowed_data() {
        QTest::addColumn<QString>("network");
        QTest::addColumn<QString>("expected");
        const auto row = [](const char* name, const char* expected, const char* shape, const char* constants,
                            const char* nodes) {
            QTest::newRow(name)
                << QStringLiteral("(float[N,%1] x) => (float y) <%2> { %3 }").arg(shape, constants, nodes)
                << QString(expected);
        };
        row("each sample alone", "1 runs", "2,3", "float[3] c = {1, 2, 3}", "y = Add(x, c)");
        row("scales of a dimension", "1 runs", "3", "float[3] s = {1, 2, 3}, uint8[3] z = {0, 1, 2}",
            "q = QuantizeLinear<axis = 1>(x, s, z) y = DequantizeLinear<axis = 1>(q, s, z)");
        row("over the samples", "mixed", "2,3", "int64[1] a = {0}", "y = ReduceSum(x, a)");
        row("within a sample", "1 runs", "2,3", "int64[1] a = {1}", "y = ReduceSum(x, a)");
        row("another dimension", "2 runs", "2,3", "", "y = Transpose<perm = [1, 0, 2]>(x)");
        row("last dimension", "6 runs", "2,3", "", "y = Transpose<perm = [1, 2, 0]>(x)");
        row("part of a dimension", "1 runs", "2,3", "int64[2] s = {-1, 3}", "y = Reshape(x, s)");
        row("end of a dimension", "2 runs", "2,3", "int64[2] s = {-1, 3}",
            "t = Transpose<perm = [1, 0, 2]>(x) y = Reshape(t, s)");
        row("two orders", "mixed", "4,4", "", "t = Transpose<perm = [1, 0, 2]>(x) y = Add(x, t)");
        row("first sample only", "mixed", "2,3", "int64 i = {0}", "y = Gather<axis = 0>(x, i)");
        row("softmax over the samples", "mixed", "2,3", "", "y = Softmax<axis = 0>(x)");
        row("softmax within a sample", "1 runs", "2,3", "", "y = Softmax<axis = 1>(x)");
        row("enlarged by less than a sample", "mixed", "2,3", "float[3] s = {1.1, 2, 2}",
            "y = Resize <mode = \"nearest\"> (x, , s)");
        row("enlarged samples", "1 runs", "2,3", "float[3] s = {1, 2, 2}",
            "y = Resize <mode = \"nearest\"> (x, , s)");
        row("sizes with another ratio", "mixed", "20,20", "int64[3] s = {4, 21, 21}",
            "y = Resize <mode = \"linear\", keep_aspect_ratio_policy = \"not_smaller\"> (x, , , s)");
        row("moved samples", "mixed", "2,3", "int64[6] p = {1, 0, 0, -1, 0, 0}", "y = Pad(x, p)");
        row("padded samples", "1 runs", "2,3", "int64[6] p = {0, 1, 0, 0, 0, -1}", "y = Pad(x, p)");
        // Values that depend on the number of samples.
        const auto counted = [&](const char* name, const char* shape, const char* constants,
                                 const std::string& nodes) {
            row(name, "mixed", shape, (std::string("int64 i = {0}") + constants).c_str(),
                ("s = Shape(x) n = Gather <axis = 0> (s, i) f = Cast <to = 1> (n) " + nodes).c_str());
        };
        counted("divisor of a softmax", "4", "", "d = Div(x, f) y = Softmax <axis = -1> (d)");
        counted("factor in a Gelu", "4", ", float one = {1}, float half = {0.5}, float q = {4}",
                "g = Div(q, f) d = Div(x, g) e = Erf(d) a = Add(e, one) b = Mul(x, a) y = Mul(b, half)");
        counted(
            "epsilon of a normalization", "4", ", float[4] w = {1, 2, 3, 4}",
            "m = ReduceMean <axes = [-1]> (x) d = Sub(x, m) q = Mul(d, d) v = ReduceMean <axes = [-1]> (q) "
            "e = Add(v, f) r = Sqrt(e) t = Div(d, r) u = Mul(t, w) y = Add(u, w)");
        counted("direction of a slice", "2,2", ", int64[1] m = {-1}, int64[1] low = {-9}, int64[1] two = {2}",
                "z = Min(n, two) y = Slice(x, m, low, z, m)");
        const auto shared = [&](const char* name, const char* expected, const char* nodes) {
            QTest::newRow(name)
                << QStringLiteral(
                       "(float[N,4] x, float g) => (float y) <int64 i = {0}, int64 one = {1}> "
                       "{ s = Shape(x) n = Gather <axis = 0> (s, i) %1 y = Add(x, q) }")
                       .arg(nodes)
                << QString(expected);
        };
        shared("shared input", "1 runs", "q = Neg(g)");
        shared("shared input times the number of samples", "mixed", "f = Cast <to = 1> (n) q = Mul(g, f)");
        shared("sum of a shared input", "mixed", "h = Expand(g, s) q = ReduceSum <keepdims = 0> (h)");
        shared("choice by the number of samples", "mixed",
               "c = Greater(n, one) q = If (c) <then_branch = t () => (float p) { p = Neg(g) }, "
               "else_branch = e () => (float p) { p = Abs(g) }>");
        // The values of each sample are the same for all.
        row("expanded constant", "1 runs", "3", "float[1,3] c = {1, 2, 3}",
            "s = Shape(x) e = Expand(c, s) y = Add(x, e)");
        row("expanded constant with several runs", "2 runs", "2", "float[2,1] c = {1, 2}",
            "t = Transpose<perm = [1, 0]>(x) s = Shape(t) e = Expand(c, s) y = Add(t, e)");
        // One value for each sample, in the order of the samples.
        row("constant with another value for each sample", "mixed", "3", "float[4,1] c = {1, 1, 1, 2}",
            "y = Add(x, c)");
        row("constant with another value in the second run", "mixed", "2",
            "float[2,4] c = {1, 1, 1, 1, 2, 2, 2, 3}", "t = Transpose<perm = [1, 0]>(x) y = Add(t, c)");
        row("constants alone", "same for all", "3", "float[2] c = {1, 2}", "z = Relu(x) y = Neg(c)");
    }

    void samplesAreFollowed() {
        QFETCH(QString, network);
        QFETCH(QString, expected);
        const GraphPtr graph = test::graph(network, 18);
        const auto program = compile(graph, 4);
        QCOMPARE(layoutOf(*program, graph->outputs()[0]), expected);
        QCOMPARE(program->mixesSamples(), expected == "mixed");
    }

    /// The values of the first samples of a padded batch, although the samples are in the second dimension.
    void presentSamplesOfAnotherDimension() {
        const GraphPtr graph = test::graph(
            "(float[N,2,3] x) => (float y) <int64[1] u = {0}, float[3,3] w = {1, 0, 0, 0, 1, 0, 0, 0, 1}> "
            "{ h = MatMul(x, w) a = Transpose <perm = [1, 2, 0]> (h) b = Unsqueeze(a, u) "
            "c = Transpose <perm = [0, 3, 1, 2]> (b) y = Relu(c) }",
            17);
        const auto program = compile(graph, 4);
        std::vector<float> x(24);
        for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i);
        Workspace workspace(program);
        workspace.bind(graph->inputs()[0], x.data());
        workspace.run({});
        const TensorId y = graph->outputs()[0];
        std::vector<float> storage;
        const auto found =
            presentValues(program->desc(y), static_cast<const float*>(workspace.data(y)), 3, storage);
        QCOMPARE(std::vector<float>(found.begin(), found.end()),
                 std::vector<float>(x.begin(), x.begin() + 18));
    }
};

QTEST_APPLESS_MAIN(SampleFlowTest)
#include "sample_flow_test.moc"
