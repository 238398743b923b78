// SPDX-License-Identifier: Apache-2.0
// The general profile: its junctions and the changes to their weights. For all profiles: the outputs of
// random networks do not change.
#include <QtTest/QtTest>
#include <cmath>
#include <random>
#include <set>

#include "model/graph_builder.h"
#include "runtime/program/program.h"
#include "runtime/workers.h"
#include "support/random_seed.h"
#include "support/small_graph.h"
#include "transform/prepare.h"
#include "transform/scale_groups.h"

using namespace quantloupe;
using test::constantOf;
using test::deviation;
using test::graph;
using test::list;
using test::run;

namespace {

QString names(const Graph& g, const std::vector<NodeId>& nodes) {
    QStringList texts;
    for (const NodeId id : nodes) texts << QString::fromStdString(g.node(id).name);
    return texts.join('+');
}

TransformOptions everywhere(int steps = 1) {
    TransformOptions options;
    options.equalization.profile = EqualizationProfile::Quantloupe;
    options.equalization.steps = steps;
    return options;
}

/// A random network of all kinds of layers and of the operators allowed between them, with 6 channels of 8 by
/// 8.
class RandomNetwork {
  public:
    explicit RandomNetwork(unsigned seed) : m_random(seed) {
        m_builder.facts().opsets[""] = 13;
        m_builder.facts().graphName = "random";
        const TensorId x = m_builder.tensor("x");
        m_builder.addInput(x, DataType::Float32, shape());
        m_open = {layer(x)};
        for (int i = 0; i < 14; ++i) grow();
        while (m_open.size() > 1) add();
        m_builder.addOutput(layer(m_open[0]));
        result = m_builder.build();
    }
    GraphPtr result;

  private:
    static constexpr std::int64_t kChannels = 6, kSide = 8;
    static Shape shape() { return {{1, {}}, {kChannels, {}}, {kSide, {}}, {kSide, {}}}; }
    int pick(int n) { return std::uniform_int_distribution<int>(0, n - 1)(m_random); }

    /// Channels differ by up to four decades.
    TensorId weights(const std::string& name, Dims dims) {
        std::vector<float> values(static_cast<std::size_t>(elementCount(dims)));
        std::normal_distribution<float> normal(0, 0.3f);
        std::uniform_real_distribution<float> decade(-2, 2);
        const std::size_t row = values.size() / static_cast<std::size_t>(dims[0]);
        float scale = 1;
        for (std::size_t i = 0; i < values.size(); ++i) {
            if (i % row == 0) scale = std::pow(10.0f, decade(m_random));
            values[i] = normal(m_random) * scale;
        }
        return m_builder.addConstant(name, Constant::fromFloats(std::move(dims), std::move(values)));
    }

    TensorId node(Node node) {
        const std::string name = "t" + std::to_string(m_count++);
        node.name = name + "_" + node.op;
        const TensorId out = m_builder.tensor(name);
        m_builder.tensorInfo(out).type = DataType::Float32;
        m_builder.tensorInfo(out).shape = shape();
        node.outputs = {out};
        m_builder.addNode(std::move(node));
        return out;
    }

    TensorId layer(TensorId x) {
        const std::string name = "w" + std::to_string(m_count);
        const std::int64_t groups = std::array{1, 1, 2, 3, 6}[static_cast<std::size_t>(pick(5))];
        const std::int64_t kernel = pick(2) == 0 ? 1 : 3;
        Node conv;
        conv.op = pick(4) == 0 ? "ConvTranspose" : "Conv";
        conv.inputs = {x, weights(name, {kChannels, kChannels / groups, kernel, kernel})};
        if (pick(3) > 0) conv.inputs.push_back(weights(name + "b", {kChannels}));
        conv.attributes.set("group", groups);
        conv.attributes.set("pads", std::vector<std::int64_t>(4, kernel / 2));
        return node(std::move(conv));
    }

    TensorId between(TensorId x) {
        Node op;
        op.inputs = {x};
        static const std::array<const char*, 7> kOps = {"Relu",        "LeakyRelu", "PRelu", "MaxPool",
                                                        "AveragePool", "Identity",  "Relu"};
        op.op = kOps[static_cast<std::size_t>(pick(7))];
        if (op.op == "PRelu") op.inputs.push_back(weights("s" + std::to_string(m_count), {kChannels, 1, 1}));
        if (op.op.ends_with("Pool")) {
            op.attributes.set("kernel_shape", std::vector<std::int64_t>{3, 3});
            op.attributes.set("pads", std::vector<std::int64_t>(4, 1));
        }
        return node(std::move(op));
    }

    void add() {
        Node sum;
        sum.op = "Add";
        sum.inputs = {m_open[m_open.size() - 1], m_open[m_open.size() - 2]};
        m_open.resize(m_open.size() - 2);
        m_open.push_back(node(std::move(sum)));
    }

    void grow() {
        TensorId& x = m_open[static_cast<std::size_t>(pick(static_cast<int>(m_open.size())))];
        switch (pick(6)) {
            case 0:
            case 1:
                x = layer(x);
                break;
            case 2:
            case 3:
                x = between(x);
                break;
            case 4:
                m_open.push_back(layer(TensorId(x)));
                break;  // a second reader
            default:
                if (m_open.size() > 1) add();
        }
    }

    std::mt19937 m_random;
    GraphBuilder m_builder;
    std::vector<TensorId> m_open;
    int m_count = 0;
};

}  // namespace

class EqualizeEverywhereTest : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void initTestCase() { limitOpenMpOfThisThread(); }

    void junctions_data() {
        QTest::addColumn<QString>("nodes");
        QTest::addColumn<QString>("expected");
        const auto between = [](const char* op) {
            QTest::newRow(op) << QString("a = Conv(x, w1)\n b = %1\n y = Conv(b, w2)").arg(op)
                              << "Conv_0>Conv_2";
        };
        between("Relu(a)");
        between("PRelu(a, s)");
        between("LeakyRelu(a)");
        between("Identity(a)");
        between("Dropout(a)");
        between("MaxPool<kernel_shape = [1,1]>(a)");
        between("AveragePool<kernel_shape = [3,3], pads = [1,1,1,1]>(a)");
        between("Pad(a, noPads, zero)");
        between("Clip(a, zero)");
        QTest::newRow("Clip") << "a = Conv(x, w1)\n b = Clip(a, zero, six)\n y = Conv(b, w2)"
                              << "";
        QTest::newRow("Pad with ones") << "a = Conv(x, w1)\n b = Pad(a, noPads, six)\n y = Conv(b, w2)"
                                       << "";
        QTest::newRow("Sigmoid") << "a = Conv(x, w1)\n b = Sigmoid(a)\n y = Conv(b, w2)"
                                 << "";
        QTest::newRow("depthwise") << "a = Conv(x, w1)\n b = Conv<group = 2>(a, d1)\n y = Conv(b, w2)"
                                   << "Conv_0>Conv_1, Conv_1>Conv_2";
        QTest::newRow("grouped") << "a = Conv(x, w1)\n b = Conv<group = 2>(a, u)\n y = Conv(b, v)"
                                 << "Conv_0>Conv_1, Conv_1>Conv_2";
        QTest::newRow("ConvTranspose") << "a = ConvTranspose(x, w1)\n y = Conv(a, w2)"
                                       << "ConvTranspose_0>Conv_1";
        QTest::newRow("two readers")
            << "a = Conv(x, w1)\n b = Relu(a)\n c = Conv(b, w2)\n e = Conv(a, w3)\n y = Add(c, e)"
            << "Conv_0>Conv_2+Conv_3";
        QTest::newRow("residual") << "a = Conv(x, w1)\n b = Conv(a, w2)\n c = Add(a, b)\n y = Conv(c, w3)"
                                  << "Conv_0+Conv_1>Conv_1+Conv_3";
        QTest::newRow("residual from the input") << "a = Conv(x, w1)\n c = Add(a, x)\n y = Conv(c, w3)"
                                                 << "";
        QTest::newRow("constant added") << "a = Conv(x, w1)\n c = Add(a, t)\n y = Conv(c, w3)"
                                        << "Conv_0>Conv_2";
        QTest::newRow("one value added") << "a = Conv(x, w1)\n c = Add(a, six)\n y = Conv(c, w3)"
                                         << "";
        QTest::newRow("shared weight") << "a = Conv(x, w1)\n y = Conv(a, w1)"
                                       << "";
    }
    void junctions() {
        QFETCH(QString, nodes);
        const auto g = graph(
            "(float[1,2,4,4] x) => (float[1,2,4,4] y) <float[2,2,1,1] w1 = {1,2,3,4}, float[2,2,1,1] w2 = "
            "{1,2,3,4}, "
            "float[2,2,1,1] w3 = {1,2,3,4}, float[2,1,1,1] d1 = {1,2}, float[4,1,1,1] u = {1,2,3,4}, "
            "float[2,4,1,1] v = {1,2,3,4,5,6,7,8}, float[2,1,1] s = {0.25,0.5}, float[2,1,1] t = {1,2}, "
            "int64[8] noPads = {0,0,1,1,0,0,1,1}, float zero = {0}, float six = {6}> { " +
            nodes + " }");
        QStringList texts;
        for (const ScaleGroup& group : findScaleGroups(*g, {}).groups)
            texts << names(*g, group.heads) + ">" + names(*g, group.tails);
        QTEST(texts.join(", "), "expected");
    }

    void otherRanks() {
        const auto conv1 = prepare(graph("(float[1,1,4] x) => (float[1,1,4] y) <float[2,1,1] w1 = {-4, 1}, "
                                         "float[1,2,1] w2 = {1, 4}> { a = Conv(x, w1)\n y = Conv(a, w2) }"),
                                   everywhere());
        QCOMPARE(list(conv1.junctions[0].factors), QString("2 0.5"));
        const auto gemm = prepare(
            graph(
                "(float[1,1] x) => (float[1,1] y) <float[1,2] w1 = {-4, 1}, float[2] b = {6, 6}, "
                "float[1,2] w2 = {1, 4}> { a = Gemm(x, w1, b)\n r = Relu(a)\n y = Gemm<transB = 1>(r, w2) }"),
            everywhere());
        QCOMPARE(list(constantOf(*gemm.graph, NodeId(0), 1)), QString("-2 2"));
        QCOMPARE(list(constantOf(*gemm.graph, NodeId(0), 2)), QString("3 12"));
        QCOMPARE(list(constantOf(*gemm.graph, NodeId(2), 1)), QString("2 2"));
        const auto matmul = prepare(
            graph("(float[1,3,1] x) => (float[1,3,1] y) <float[1,2] w1 = {-4, 1}, float[2] b = {6, 6}, "
                  "float[2,1] w2 = {1, 4}> { a = MatMul(x, w1)\n s = Add(a, b)\n r = Relu(s)\n y = MatMul(r, "
                  "w2) }"),
            everywhere());
        QCOMPARE(list(constantOf(*matmul.graph, NodeId(0), 1)), QString("-2 2"));
        QCOMPARE(list(constantOf(*matmul.graph, NodeId(1), 1)), QString("3 12"));
        QCOMPARE(list(constantOf(*matmul.graph, NodeId(3), 1)), QString("2 2"));
    }

    void whatIsInTheWayIsTold() {
        const auto p = prepare(
            graph(
                "(float[1,1,4,4] x) => (float[1,1,4,4] y) <float[1,1,1,1] w1 = {4}, float[1,1,1,1] w2 = {1}> "
                "{ a = Conv(x, w1)\n b = Sigmoid(a)\n y = Conv(b, w2) }"),
            everywhere());
        QCOMPARE(QString::fromStdString(p.notices.at(0)),
                 QString("nothing can be equalized; reasons: 'Conv_0' before 'Conv_2': 'Sigmoid_1' is a "
                         "Sigmoid, which a "
                         "factor cannot pass"));
        const auto output = prepare(
            graph("(float[1,1,4,4] x) => (float[1,1,4,4] y, float[1,1,4,4] a) <float[1,1,1,1] w1 = {4}, "
                  "float[1,1,1,1] w2 = {1}> { a = Conv(x, w1)\n y = Conv(a, w2) }"),
            everywhere());
        QCOMPARE(
            QString::fromStdString(output.notices.at(0)),
            QString("nothing can be equalized; reasons: 'Conv_0' before 'Conv_1': 'a' is a graph output"));
    }

    /// A channel that is dead in the head: its bias does not explode. The tail's column only shrinks to the
    /// largest of the others.
    void deadChannels() {
        const auto p =
            prepare(graph("(float[1,1,4,4] x) => (float[1,1,4,4] y) <float[3,1,1,1] w1 = {4, 1e-20, 0}, "
                          "float[3] b1 = {1, 1, 1}, float[1,3,1,1] w2 = {1, 1, 8}> { a = Conv(x, w1, b1)\n y "
                          "= Conv(a, w2) }"),
                    everywhere(-1));
        QCOMPARE(list(constantOf(*p.graph, NodeId(0), 2)), QString("0.5 1 4"));
        QCOMPARE(list(constantOf(*p.graph, NodeId(1), 1)), QString("2 1 2"));
        QVERIFY(QString::fromStdString(p.notices.at(0)).startsWith("2 of 3 channels of 'Conv_0' are dead"));
    }

    void repeatingAndRescalingChangeNothing() {
        const QString net =
            "(float[1,1,4,4] x) => (float[1,1,4,4] y) <float[2,1,1,1] w1 = {%1}, float[2] b1 = {%2}, "
            "float[1,2,1,1] w2 = {%3}> { a = Conv(x, w1, b1)\n y = Conv(a, w2) }";
        const auto once = prepare(graph(net.arg("-4.5, 1.5", "6, 5", "1.25, 4")), everywhere());
        const auto twice = prepare(once.graph, everywhere());
        for (const float f : twice.junctions[0].factors) QVERIFY(std::fabs(f - 1) <= 1e-6f);
        // The same function, its channels rescaled by 16 and 1/8.
        const auto other = prepare(graph(net.arg("-72, 0.1875", "96, 0.625", "0.078125, 32")), everywhere());
        for (std::size_t i = 0; i < 2; ++i) {
            QVERIFY(deviation(constantOf(*other.graph, NodeId(i), 1),
                              constantOf(*once.graph, NodeId(i), 1)) <= 1e-6);
            QCOMPARE(constantOf(*other.graph, NodeId(0), 2).size(), std::size_t(2));
        }
        QVERIFY(deviation(constantOf(*other.graph, NodeId(0), 2), constantOf(*once.graph, NodeId(0), 2)) <=
                1e-6);
    }

    void isolatedJunctions_data() {
        QTest::addColumn<int>("profile");
        QTest::newRow("aimet") << int(EqualizationProfile::Aimet);
        QTest::newRow("quark") << int(EqualizationProfile::Quark);
        QTest::newRow("quantloupe") << int(EqualizationProfile::Quantloupe);
    }
    /// Random pairs of layers: equalizing again changes nothing, and rescaling their channels by powers of
    /// two beforehand gives the same weights.
    void isolatedJunctions() {
        QFETCH(int, profile);
        TransformOptions options = everywhere();
        options.equalization.profile = static_cast<EqualizationProfile>(profile);
        options.equalization.weightThreshold = 0;  // Quark's would keep small channels, whatever their scale
        const unsigned first = test::randomSeed() % 100000;
        for (unsigned seed = first; seed < first + 25; ++seed) {
            std::mt19937 random(seed);
            std::normal_distribution<double> normal;
            std::uniform_real_distribution<double> decade(-2, 2);
            QStringList head, bias, tail, head2, bias2, tail2;
            for (int c = 0; c < 5; ++c) {
                const double wide = std::pow(10, decade(random)),
                             s = std::exp2(static_cast<int>(random() % 9) - 4);
                for (int i = 0; i < 3; ++i) {
                    const double w = static_cast<double>(static_cast<float>(normal(random) * wide));
                    head << QString::number(w, 'g', 9);
                    head2 << QString::number(w / s, 'g', 9);
                    const double v = static_cast<double>(static_cast<float>(normal(random)));
                    tail << QString::number(v, 'g', 9);
                    tail2 << QString::number(v * s, 'g', 9);
                }
                const double b = static_cast<double>(static_cast<float>(normal(random)));
                bias << QString::number(b, 'g', 9);
                bias2 << QString::number(b / s, 'g', 9);
            }
            const auto net = [&](const QStringList& h, const QStringList& b, const QStringList& t) {
                return graph("(float[1,3,2,2] x) => (float[1,3,2,2] y) <float[5,3,1,1] w1 = {" +
                             h.join(", ") + "}, float[5] b1 = {" + b.join(", ") + "}, float[5,3,1,1] w2 = {" +
                             t.join(", ") +
                             "}> { a = Conv<group = 1>(x, w1, b1)\n r = Relu(a)\n y = ConvTranspose<group = "
                             "1>(r, w2) }");
            };
            // Quark equalizes no ConvTranspose: its second layer is a Conv, with the transposed weight.
            const auto asConv = [&](const QStringList& h, const QStringList& b, const QStringList& t) {
                QStringList turned;
                for (int o = 0; o < 3; ++o)
                    for (int c = 0; c < 5; ++c) turned << t[c * 3 + o];
                return graph(
                    "(float[1,3,2,2] x) => (float[1,3,2,2] y) <float[5,3,1,1] w1 = {" + h.join(", ") +
                    "}, float[5] b1 = {" + b.join(", ") + "}, float[3,5,1,1] w2 = {" + turned.join(", ") +
                    "}> { a = Conv<group = 1>(x, w1, b1)\n r = Relu(a)\n y = Conv<group = 1>(r, w2) }");
            };
            const bool transposed = options.equalization.profile != EqualizationProfile::Quark;
            const auto once = prepare(transposed ? net(head, bias, tail) : asConv(head, bias, tail), options);
            const auto other =
                prepare(transposed ? net(head2, bias2, tail2) : asConv(head2, bias2, tail2), options);
            const auto twice = prepare(once.graph, options);
            QCOMPARE(once.junctions.size(), std::size_t(1));
            for (const float f : twice.junctions.at(0).factors)
                QVERIFY2(std::fabs(f - 1) <= 2e-6f, qPrintable(QString::number(seed)));
            for (const auto& [node, input] : {std::pair<std::size_t, std::size_t>(0, 1), {0, 2}, {2, 1}}) {
                QVERIFY2(deviation(constantOf(*other.graph, NodeId(node), input),
                                   constantOf(*once.graph, NodeId(node), input)) <= 1e-6,
                         qPrintable(QString("seed %1, node %2").arg(seed).arg(node)));
                QVERIFY(deviation(constantOf(*twice.graph, NodeId(node), input),
                                  constantOf(*once.graph, NodeId(node), input)) <= 2e-6);
            }
        }
    }

    void exactOnRandomNetworks_data() {
        QTest::addColumn<int>("profile");
        QTest::addColumn<int>("steps");
        QTest::newRow("aimet") << int(EqualizationProfile::Aimet) << 1;
        QTest::newRow("quark") << int(EqualizationProfile::Quark) << 3;
        QTest::newRow("quantloupe") << int(EqualizationProfile::Quantloupe) << 1;
        QTest::newRow("quantloupe to rest") << int(EqualizationProfile::Quantloupe) << -1;
    }
    /// The outputs do not change; disabling a junction leaves layers without other junctions bit-identical.
    void exactOnRandomNetworks() {
        QFETCH(int, profile);
        QFETCH(int, steps);
        TransformOptions options = everywhere(steps);
        options.equalization.profile = static_cast<EqualizationProfile>(profile);
        const unsigned first = test::randomSeed() % 100000;
        double worst = 0;
        std::size_t junctions = 0, undoneLayers = 0;
        for (unsigned seed = first; seed < first + 60; ++seed) {
            const RandomNetwork network(seed);
            std::mt19937 random(seed);
            std::vector<float> input(6 * 8 * 8);
            for (float& v : input) v = std::normal_distribution<float>()(random);
            const auto p = prepare(network.result, options);
            const double d = deviation(run(p.graph, input), run(network.result, input));
            QVERIFY2(d <= 1e-5,
                     qPrintable(QString("seed %1: outputs differ by %2 of the largest").arg(seed).arg(d)));
            worst = std::max(worst, d);
            junctions += p.junctions.size();
            if (p.sets.empty()) continue;
            // With one group disabled, its layers that are in no other group keep the source's bits.
            const EqualizationSet& chosen = p.sets[random() % p.sets.size()];
            TransformOptions without = options;
            auto& names = without.equalization.off.emplace_back();
            for (const NodeId id : chosen.layers) names.push_back(network.result->node(id).name);
            const auto undone = prepare(network.result, without);
            std::set<NodeId> touched;
            for (const EqualizationSet& set : undone.sets)
                if (set.enabled) touched.insert(set.layers.begin(), set.layers.end());
            for (const NodeId id : chosen.layers) {
                if (touched.contains(id)) continue;
                for (const std::size_t constant : {std::size_t(1), std::size_t(2)})
                    QCOMPARE(constantOf(*undone.graph, id, constant),
                             constantOf(*network.result, id, constant));
                ++undoneLayers;
            }
            TransformOptions all = options;
            for (const EqualizationSet& set : p.sets) {
                auto& off = all.equalization.off.emplace_back();
                for (const NodeId id : set.layers) off.push_back(network.result->node(id).name);
            }
            QVERIFY2(prepare(network.result, all).graph->version() == network.result->version(),
                     qPrintable(QString("seed %1: switched off, weights still change").arg(seed)));
        }
        qInfo("%zu junctions, outputs within %.2g", junctions, worst);
        QVERIFY(undoneLayers > 0);
        QVERIFY(junctions > 5);  // quark finds some 30 on average, and by chance 18
    }

    void realNetworks_data() {
        QTest::addColumn<int>("junctions");
        QTest::newRow("mobilenetv2_cifar10") << 42;
        // one inside each of three blocks, one chain of sums per stage
        QTest::newRow("mlperf_tiny_resnet8") << 6;
        QTest::newRow("mlperf_tiny_vww_mobilenet") << 27;
        QTest::newRow("vww_mobilenet_unequalized") << 27;
        QTest::newRow("mlperf_tiny_ad01_autoencoder") << 9;
        QTest::newRow("vit_2_blocks") << 0;
        QTest::newRow("vit_cifar10") << 0;
    }
    void realNetworks() {
        QUANTLOUPE_ASSET(path, std::string("models/") + QTest::currentDataTag() + ".onnx");
        TransformOptions options = everywhere(-1);
        options.replaceRelu6 = ReplaceRelu6::All;
        const auto p = prepare(loadModel(path).graph, options);
        for (const std::string& notice : p.notices) qInfo("%s", notice.c_str());
        float widest = 1;
        for (const EqualizationJunction& j : p.junctions)
            for (const float f : j.factors) widest = std::max({widest, f, 1 / f});
        qInfo("%zu junctions, factors up to %g", p.junctions.size(), static_cast<double>(widest));
        // One more pass, which reads all weights instead of only the largest, hardly changes anything, unless
        // factors have reached the limit of one run.
        if (widest > 9999) return;
        for (const EqualizationJunction& j : prepare(p.graph, everywhere()).junctions)
            for (const float f : j.factors)
                QVERIFY2(std::fabs(f - 1) <= 1e-5f, qPrintable(QString::number(f)));
        QTEST(int(p.junctions.size()), "junctions");
    }
};

QTEST_GUILESS_MAIN(EqualizeEverywhereTest)
#include "equalize_everywhere_test.moc"
