// SPDX-License-Identifier: Apache-2.0
// Q/DQ pairs next to operators that copy values: where they are repeated, and that this changes no value.
#include "quantize/spread_pairs.h"

#include <QTemporaryDir>
#include <QtTest>

#include "data/dataset.h"
#include "data/numpy_file.h"
#include "session/session.h"
#include "support/text_model.h"

using namespace quantloupe;

class SpreadPairsTest : public QObject {
    Q_OBJECT

    /// A network with the constants of a pair; `type` is that of the zero point.
    static LoadedModel network(const char* nodes, int opset = 21, const char* type = "int8") {
        return test::textModel(fmt::format(
            "<ir_version: 10, opset_import: [\"\" : {}]> net (float[N,2,4,4] X) => (float[N,2,2,2] Y) "
            "<float scale = {{0.03}}, {} zero = {{0}}> {{ {} }}",
            opset, type, nodes));
    }

    /// "QuantizeLinear DequantizeLinear MaxPool": the operators from the input of the network on.
    static QString operatorsOf(const Graph& graph) {
        QStringList words;
        for (const Node& node : graph.nodes()) words << QString::fromStdString(node.op);
        return words.join(' ').replace("QuantizeLinear DequantizeLinear", "Pair");
    }

    static QString spread(const LoadedModel& model) { return operatorsOf(*spreadPairs(model.graph)); }

    static std::vector<float> outputs(LoadedModel network) {
        QTemporaryDir folder;
        const std::string file = folder.filePath("x.npz").toStdString();
        std::vector<float> values(3 * 2 * 4 * 4);
        for (std::size_t i = 0; i < values.size(); ++i)
            values[i] = std::sin(1.7f * static_cast<float>(i)) * 4;
        saveNpz({{"X", Constant::fromFloats({3, 2, 4, 4}, values)}}, file);
        Session session(std::move(network));
        const DatasetPtr data = openDataset(file, inputSpecsOf(session.graph()), {});
        session.setData(data, data);
        const ConstantPtr output = session.outputs(std::nullopt).at(0);
        return std::vector<float>(output->floats().begin(), output->floats().end());
    }

  private Q_SLOTS:
    void pairsAreRepeatedAtOperatorsThatCopyValues_data() {
        QTest::addColumn<QByteArray>("nodes");
        QTest::addColumn<QString>("expected");
        QTest::newRow("after")
            << QByteArray(
                   "Q = QuantizeLinear(X, scale, zero) D = DequantizeLinear(Q, scale, zero) "
                   "M = MaxPool<kernel_shape = [2, 2], strides = [2, 2]>(D) Y = Sin(M)")
            << "Pair MaxPool Pair Sin";
        QTest::newRow("after several")
            << QByteArray(
                   "Q = QuantizeLinear(X, scale, zero) D = DequantizeLinear(Q, scale, zero) "
                   "M = MaxPool<kernel_shape = [2, 2], strides = [2, 2]>(D) "
                   "T = Transpose<perm = [0, 1, 3, 2]>(M) Y = Sin(T)")
            << "Pair MaxPool Pair Transpose Pair Sin";
        QTest::newRow("after, at an output")
            << QByteArray(
                   "Q = QuantizeLinear(X, scale, zero) D = DequantizeLinear(Q, scale, zero) "
                   "Y = MaxPool<kernel_shape = [2, 2], strides = [2, 2]>(D)")
            << "Pair MaxPool Pair";
        QTest::newRow("before")
            << QByteArray(
                   "S = Sin(X) M = MaxPool<kernel_shape = [2, 2], strides = [2, 2]>(S) "
                   "Q = QuantizeLinear(M, scale, zero) Y = DequantizeLinear(Q, scale, zero)")
            << "Sin Pair MaxPool Pair";
        QTest::newRow("before, at an input")
            << QByteArray(
                   "M = MaxPool<kernel_shape = [2, 2], strides = [2, 2]>(X) "
                   "Q = QuantizeLinear(M, scale, zero) Y = DequantizeLinear(Q, scale, zero)")
            << "Pair MaxPool Pair";
        QTest::newRow("after a Dropout")
            << QByteArray(
                   "Q = QuantizeLinear(X, scale, zero) D = DequantizeLinear(Q, scale, zero) E, mask = "
                   "Dropout(D) M = MaxPool<kernel_shape = [2, 2], strides = [2, 2]>(E) Y = Sin(M)")
            << "Pair Dropout Pair MaxPool Pair Sin";
        QTest::newRow("after a Cast without effect, with two readers")
            << QByteArray(
                   "Q = QuantizeLinear(X, scale, zero) D = DequantizeLinear(Q, scale, zero) C = Cast<to = "
                   "1>(D) M = MaxPool<kernel_shape = [2, 2], strides = [2, 2]>(C) T = Transpose<perm = [0, "
                   "1, 3, 2]>(C) N = MaxPool<kernel_shape = [2, 2], strides = [2, 2]>(T) Y = Add(M, N)")
            << "Pair Cast Pair MaxPool Transpose Pair Pair MaxPool Pair Add";
        QTest::newRow("not past other operators")
            << QByteArray(
                   "Q = QuantizeLinear(X, scale, zero) D = DequantizeLinear(Q, scale, zero) S = Sin(D) "
                   "Y = MaxPool<kernel_shape = [2, 2], strides = [2, 2]>(S)")
            << "Pair Sin MaxPool";
        QTest::newRow("not before a value that others read")
            << QByteArray(
                   "S = Sin(X) M = MaxPool<kernel_shape = [2, 2], strides = [2, 2]>(S) "
                   "Q = QuantizeLinear(M, scale, zero) D = DequantizeLinear(Q, scale, zero) "
                   "A = AveragePool<kernel_shape = [2, 2], strides = [2, 2]>(S) Y = Add(A, D)")
            << "Sin MaxPool Pair AveragePool Add";
        QTest::newRow("not before a Split, whose other outputs are not quantized")
            << QByteArray(
                   "S = Sin(X) M, N = Split<axis = 1, num_outputs = 2>(S) "
                   "Q = QuantizeLinear(M, scale, zero) D = DequantizeLinear(Q, scale, zero) Y = Add(D, N)")
            << "Sin Split Pair Add";
        QTest::newRow("not after a Split")
            << QByteArray(
                   "Q = QuantizeLinear(X, scale, zero) D = DequantizeLinear(Q, scale, zero) "
                   "M, N = Split<axis = 1, num_outputs = 2>(D) A = Sin(M) Y = Add(A, N)")
            << "Pair Split Sin Add";
        QTest::newRow("once")
            << QByteArray(
                   "Q = QuantizeLinear(X, scale, zero) D = DequantizeLinear(Q, scale, zero) "
                   "M = MaxPool<kernel_shape = [2, 2], strides = [2, 2]>(D) "
                   "R = QuantizeLinear(M, scale, zero) Y = DequantizeLinear(R, scale, zero)")
            << "Pair MaxPool Pair";
    }

    void pairsAreRepeatedAtOperatorsThatCopyValues() {
        QFETCH(QByteArray, nodes);
        QFETCH(QString, expected);
        const LoadedModel model = network(nodes.constData());
        QCOMPARE(spread(model), expected);

        LoadedModel changed = model;
        changed.graph = spreadPairs(model.graph);
        QCOMPARE(outputs(std::move(changed)), outputs(model));
    }

    /// ONNX Runtime merges a MatMul and the Add of a vector into Reshape, Gemm and Reshape.
    void biasesOfProductsInFloatAreNotMerged() {
        const LoadedModel model = network(
            "Q = QuantizeLinear(X, scale, zero) D = DequantizeLinear(Q, scale, zero) "
            "W = Constant<value = float[4, 2] {1, 2, 3, 4, 5, 6, 7, 8}>() "
            "B = Constant<value = float[2] {0.5, -1}>() M = MatMul(D, W) A = Add(B, M) "
            "Y = AveragePool<kernel_shape = [2, 1], strides = [2, 1]>(A)");
        LoadedModel changed = model;
        changed.graph = spreadPairs(model.graph);
        const auto add = std::ranges::find(changed.graph->nodes(), "Add", &Node::op);
        QCOMPARE(changed.graph->constantOf(add->input(0))->dims(), (Dims{1, 2}));
        QCOMPARE(operatorsOf(*changed.graph), operatorsOf(*model.graph));
        QCOMPARE(outputs(std::move(changed)), outputs(model));
    }

    void otherGraphsAreUnchanged() {
        const char* nodes =
            "Q = QuantizeLinear(X, scale, zero) D = DequantizeLinear(Q, scale, zero) "
            "M = MaxPool<kernel_shape = [2, 2], strides = [2, 2]>(D) Y = Sin(M)";
        for (const LoadedModel& model : {network(nodes, 20), network(nodes, 21, "uint8")})
            QCOMPARE(spreadPairs(model.graph), model.graph);
    }
};

QTEST_GUILESS_MAIN(SpreadPairsTest)
#include "spread_pairs_test.moc"
