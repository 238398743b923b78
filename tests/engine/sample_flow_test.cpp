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
};

QTEST_APPLESS_MAIN(SampleFlowTest)
#include "sample_flow_test.moc"
