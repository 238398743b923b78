// SPDX-License-Identifier: Apache-2.0
// All equalization profiles on random networks and random pairs of layers: the outputs do not change, and
// equalizing again changes nothing.
#include <QtTest/QtTest>
#include <cmath>
#include <optional>
#include <random>
#include <set>

#include "model/graph_builder.h"
#include "runtime/program/program.h"
#include "support/equalization.h"
#include "support/random_seed.h"
#include "support/small_graph.h"
#include "transform/prepare.h"
#include "transform/scale_groups.h"

using namespace quantloupe;
using test::constantOf;
using test::deviation;
using test::everywhere;
using test::graph;
using test::list;
using test::run;

namespace {

/// A random network of all kinds of layers and of the operators allowed between them, with 6 channels of 8 by
/// 8. With `rounding`, every constant is the next larger or the next smaller float, chosen at random.
class RandomNetwork {
  public:
    explicit RandomNetwork(unsigned seed, std::optional<unsigned> rounding = {})
        : m_random(seed), m_rounding(rounding ? std::optional(std::mt19937(*rounding)) : std::nullopt) {
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
            if (m_rounding)
                values[i] = std::nextafter(values[i], (*m_rounding)() % 2 == 0 ? INFINITY : -INFINITY);
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
    std::optional<std::mt19937> m_rounding;
    GraphBuilder m_builder;
    std::vector<TensorId> m_open;
    int m_count = 0;
};

}  // namespace

class EqualizeRandomTest : public QObject {
    Q_OBJECT

  private Q_SLOTS:
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
    /// The outputs change no more than rounding changes them: in 9,600 networks, the change was half of that
    /// of rounding the constants differently in the median, and 3.6 times as large at most. Disabling a
    /// junction leaves layers without other junctions bit-identical.
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
            const std::vector<float> expected = run(network.result, input);
            const double d = deviation(run(p.graph, input), expected);
            double noise = 0;
            for (unsigned i = 0; i < 4; ++i)
                noise = std::max(noise, deviation(run(RandomNetwork(seed, i).result, input), expected));
            QVERIFY2(d <= 8 * noise,
                     qPrintable(
                         QString("seed %1: outputs differ by %2 of the largest, rounding changes them by %3")
                             .arg(seed)
                             .arg(d)
                             .arg(noise)));
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
};

QTEST_GUILESS_MAIN(EqualizeRandomTest)
#include "equalize_random_test.moc"
