// SPDX-License-Identifier: Apache-2.0
// The NPU's constraints on positions of power-of-two scales, compared with AMD Quark 0.11.2: each row is a
// graph that Quark quantized for the NPU without and with NPULimitationCheck, and the positions in both
// models.
#include "quantize/npu_positions.h"

#include <QtTest>

#include "model/graph_builder.h"
#include "quantize/plan.h"
#include "support/small_graph.h"

using namespace quantloupe;
using test::graph;

namespace {

using Positions = std::map<std::string, int>;

/// "a:7 b:-1".
Positions parsed(const QString& text) {
    Positions positions;
    for (const QString& item : text.split(' '))
        positions[item.section(':', 0, 0).toStdString()] = item.section(':', 1).toInt();
    return positions;
}

QString printed(const Positions& positions) {
    QStringList items;
    for (const auto& [name, position] : positions)
        items << QString("%1:%2").arg(QString::fromStdString(name)).arg(position);
    return items.join(' ');
}

int positionOfScale(float scale) { return -static_cast<int>(std::lround(std::log2(scale))); }

QuantizationConfig npuConfig() {
    QuantizationConfig config;
    config.skipTail = false;
    auto& q = config.quantization;
    q.operators = OperatorSet::Quark;
    q.activation.isSigned = false;
    q.activation.symmetric = true;
    q.weight.powerOfTwo = true;
    q.biasBits = 8;
    config.calibration.method = CalibrationMethod::PowerOfTwoNonOverflow;
    return config;
}

Plan planOf(const GraphPtr& source, const QuantizationConfig& config, const Positions& before) {
    GraphBuilder builder(*source);
    for (const auto& [name, position] : before) {
        const TensorId id = *source->findTensor(name);
        if (const Constant* constant = source->constantOf(id))
            builder.setConstant(
                id, Constant::fromFloats(constant->dims(),
                                         std::vector<float>(static_cast<std::size_t>(constant->size()),
                                                            std::ldexp(127.0f, -position))));
    }
    Prepared made = prepare(builder.build(), config.transforms);
    made.operators = config.quantization.operators;
    const auto prepared = std::make_shared<const Prepared>(std::move(made));
    const UnitList units = findUnits(*prepared, resolveSkips(*prepared->source, config));
    Statistics statistics;
    for (const TensorId tensor : calibratedTensors(units)) {
        const auto found = before.find(prepared->graph->tensor(tensor).name);
        statistics[tensor].max = found == before.end() ? 1.0f : std::ldexp(127.0f, -found->second);
        statistics[tensor].min = -statistics[tensor].max;
    }
    QuantizerCache cache;
    return resolvePlan(prepared, units, statistics, config, cache);
}

Positions positionsOf(const Plan& plan) {
    const Graph& g = *plan.prepared->graph;
    Positions positions;
    for (const auto& [tensor, quantizer] : plan.tensors)
        positions[g.tensor(tensor).name] = positionOfScale(quantizer.scale);
    for (std::size_t u = 0; u < plan.units.units.size(); ++u) {
        const Unit& unit = plan.units.units[u];
        const UnitQuantizers& own = plan.quantizers[u];
        if (own.weight) positions[g.tensor(unit.weight).name] = positionOfScale(own.weight->scales[0]);
        if (own.bias) positions[g.tensor(unit.bias).name] = positionOfScale(own.bias->scales[0]);
    }
    return positions;
}

void allRules(NpuPositions& npu) { npu = {true, true, true, true, true, true, true, true, true, true, 5}; }

const char* const kOneConv =
    "(float[1,2,4,4] x) => (float[1,1,4,4] y) <float[1,2,1,1] w = {1, 1}, float[1] b = {1}> "
    "{ c = Conv(x, w, b)\n y = Add(c, c) }";
const char* const kTwoConvs =
    "(float[1,2,4,4] x) => (float[1,1,4,4] y) <float[1,2,1,1] w = {1, 1}, float[1,2,1,1] v = {1, 1}> "
    "{ a = Conv(x, w)\n b = Conv(x, v)\n y = %1(a, b) }";
const char* const kBetween =
    "(float[1,2,4,4] x) => (float[1,1,4,4] y) <float[1,2,1,1] w = {1, 1}, float[1,1,1,1] u = {1}, "
    "int64[8] pads = {0,0,1,1,0,0,1,1}, int64[1] zero = {0}, int64[1] one = {1}> "
    "{ a = Conv(x, w)\n p = %1\n y = Conv(p, u) }";
const char* const kSwish =
    "(float[1,2,4,4] x) => (float[1,1,4,4] y) <float[1,2,1,1] w = {1, 1}, float[1,1,1,1] u = {1}> "
    "{ a = Conv(x, w)\n s = HardSigmoid<alpha = 0.16666667, beta = 0.5>(a)\n m = Mul(a, s)\n y = Conv(m, u) "
    "}";

}  // namespace

class NpuPositionsTest : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    /// A tensor that is almost 0 has a very large position; that of the weight must not overflow its scale.
    void scalesStayFinite() {
        QuantizationConfig config = npuConfig();
        config.quantization.npuPositions = {};
        config.quantization.npuPositions.adjustShiftCut = true;
        const Plan plan = planOf(graph(kOneConv), config, {{"x", 100}, {"w", -50}, {"b", 0}, {"c", -60}});
        QCOMPARE(positionsOf(plan).at("w"), -127);
    }

    void positionsEqualQuarks_data() {
        QTest::addColumn<QString>("net");
        QTest::addColumn<QString>("before");
        QTest::addColumn<QString>("after");
        const auto row = [](const char* name, const QString& net, const char* before, const char* after) {
            QTest::newRow(name) << net << before << after;
        };
        row("the accumulator would be shifted up", kOneConv, "b:13 w:-1 x:7 c:13 y:12",
            "b:13 w:6 x:7 c:13 y:12");
        row("the accumulator is shifted too far down", kOneConv, "b:-1 w:27 x:7 c:-1 y:-2",
            "b:0 w:8 x:7 c:-1 y:-2");
        row("a coarse bias", kOneConv, "b:-3 w:7 x:7 c:-3 y:-4", "b:-2 w:6 x:7 c:-3 y:-4");
        row("a fine bias", kOneConv, "b:36 w:5 x:7 c:4 y:3", "b:20 w:5 x:7 c:4 y:3");
        row("operands of a sum far apart", QString(kTwoConvs).arg("Add"), "v:20 w:7 x:7 a:8 b:20 y:8",
            "v:20 w:7 x:7 a:8 b:15 y:8");
        row("a fine sum", QString(kTwoConvs).arg("Add"), "v:6 w:6 x:7 a:6 b:6 y:20",
            "v:6 w:6 x:7 a:6 b:6 y:13");
        row("a fine product", QString(kTwoConvs).arg("Mul"), "v:6 w:6 x:7 a:7 b:7 y:20",
            "v:6 w:6 x:7 a:7 b:7 y:14");
        row("Concat",
            "(float[1,2,4,4] x) => (float[1,1,4,4] y) <float[1,2,1,1] w = {1, 1}, float[1,2,1,1] v = {1, 1}, "
            "float[1,2,1,1] u = {1, 1}> "
            "{ a = Conv(x, w)\n b = Conv(x, v)\n d = Concat<axis = 1>(a, b)\n y = Conv(d, u) }",
            "u:7 v:3 w:7 x:7 a:7 b:3 d:3 y:4", "u:7 v:3 w:7 x:7 a:3 b:3 d:3 y:4");
        row("MaxPool passes its scale on", QString(kBetween).arg("MaxPool<kernel_shape = [1, 1]>(a)"),
            "u:6 w:7 x:7 a:6 p:6 y:6", "u:6 w:7 x:7 a:6 p:6 y:6");
        row("AveragePool", QString(kBetween).arg("AveragePool<kernel_shape = [3, 3]>(a)"),
            "u:7 w:7 x:7 a:7 p:8 y:9", "u:7 w:7 x:7 a:7 p:7 y:9");
        row("GlobalAveragePool", QString(kBetween).arg("GlobalAveragePool(a)"), "u:8 w:6 x:7 a:7 p:11 y:12",
            "u:8 w:6 x:7 a:7 p:7 y:12");
        row("Pad", QString(kBetween).arg("Pad(a, pads)"), "u:8 w:7 x:7 a:7 p:3 y:5",
            "u:8 w:7 x:7 a:3 p:3 y:5");
        row("Slice", QString(kBetween).arg("Slice(a, zero, one, one)"), "u:9 w:4 x:7 a:4 p:13 y:16",
            "u:12 w:4 x:7 a:4 p:4 y:16");
        row("HardSigmoid of huge values", kSwish, "u:7 w:-14 x:7 a:-120 s:6 m:-120 y:-120",
            "u:-96 w:-7 x:7 a:0 s:7 m:-8 y:-120");
        row("HardSigmoid of tiny values", kSwish, "u:8 w:20 x:7 a:20 s:7 m:21 y:23",
            "u:8 w:20 x:7 a:15 s:7 m:21 y:23");
        row("followed by a LeakyRelu",
            "(float[1,2,4,4] x) => (float[1,1,4,4] y) <float[1,2,1,1] w = {1, 1}, float[1] b = {1}, "
            "float[1,1,1,1] u = {1}> "
            "{ a = Conv(x, w, b)\n r = LeakyRelu<alpha = 0.1>(a)\n y = Conv(r, u) }",
            "b:16 u:7 w:8 x:7 r:8 y:8", "b:15 u:7 w:8 x:7 r:8 y:8");
    }
    void positionsEqualQuarks() {
        QFETCH(QString, net);
        QFETCH(QString, before);
        QFETCH(QString, after);
        const GraphPtr source = graph(net);
        QuantizationConfig config = npuConfig();
        const Positions start = parsed(before);
        QCOMPARE(printed(positionsOf(planOf(source, config, start))), printed(start));
        allRules(config.quantization.npuPositions);
        QCOMPARE(printed(positionsOf(planOf(source, config, start))), printed(parsed(after)));
    }

    /// Each constraint alone: the rows of the others do not change.
    void rulesCanBeDisabled_data() {
        QTest::addColumn<int>("rule");
        QTest::addColumn<QString>("net");
        QTest::addColumn<QString>("before");
        QTest::addColumn<QString>("after");
        const auto row = [](const char* name, int rule, const QString& net, const char* before,
                            const char* after) { QTest::newRow(name) << rule << net << before << after; };
        row("cut", 6, kOneConv, "b:-1 w:27 x:7 c:-1 y:-2", "b:-1 w:8 x:7 c:-1 y:-2");
        row("bias", 7, kOneConv, "b:36 w:-9 x:7 c:4 y:3", "b:20 w:-9 x:7 c:4 y:3");
        row("read", 4, QString(kTwoConvs).arg("Add"), "v:20 w:7 x:7 a:8 b:20 y:30",
            "v:20 w:7 x:7 a:8 b:15 y:30");
        row("write", 5, QString(kTwoConvs).arg("Add"), "v:6 w:6 x:7 a:6 b:26 y:20",
            "v:6 w:6 x:7 a:6 b:26 y:13");
        row("pool", 1, QString(kBetween).arg("AveragePool<kernel_shape = [3, 3]>(a)"),
            "u:1 w:1 x:7 a:7 p:8 y:9", "u:1 w:1 x:7 a:7 p:7 y:9");
    }
    void rulesCanBeDisabled() {
        QFETCH(int, rule);
        QFETCH(QString, net);
        QFETCH(QString, before);
        QFETCH(QString, after);
        QuantizationConfig config = npuConfig();
        NpuPositions& npu = config.quantization.npuPositions;
        bool* const rules[] = {&npu.alignConcat,     &npu.alignPool,       &npu.alignPad,
                               &npu.alignSlice,      &npu.adjustShiftRead, &npu.adjustShiftWrite,
                               &npu.adjustShiftCut,  &npu.adjustShiftBias, &npu.adjustHardSigmoid,
                               &npu.adjustShiftSwish};
        *rules[rule] = true;
        QCOMPARE(printed(positionsOf(planOf(graph(net), config, parsed(before)))), printed(parsed(after)));
    }

    /// Quark changes a weight's scale but not its codes. Quantloupe does the same and reports it.
    void codesOfWeightsStay() {
        QuantizationConfig config = npuConfig();
        const GraphPtr source = graph(kOneConv);
        const Positions start = parsed("b:13 w:-1 x:7 c:13 y:12");
        const Plan free = planOf(source, config, start);
        allRules(config.quantization.npuPositions);
        const Plan moved = planOf(source, config, start);
        QCOMPARE(moved.quantizers[0].weight->codes.values(), free.quantizers[0].weight->codes.values());
        QCOMPARE(moved.quantizers[0].weight->dequantized->floats()[0] * 128,
                 free.quantizers[0].weight->dequantized->floats()[0]);
        QVERIFY(
            test::lines(moved.notices)
                .contains("layer 'Conv_0': the NPU's rules change the scale of its weight from 2^1 to 2^-6"));
        QVERIFY(moved.version != free.version);
    }

    void otherScalesStay() {
        QuantizationConfig config = npuConfig();
        config.calibration.method = CalibrationMethod::MinMax;
        allRules(config.quantization.npuPositions);
        const Plan plan =
            planOf(graph(QString(kTwoConvs).arg("Add")), config, parsed("v:20 w:7 x:7 a:8 b:20 y:8"));
        // 127 * 2^-p over 127 is a power of two.
        QVERIFY(!test::lines(plan.notices).contains("not powers of two"));
        QVERIFY(test::lines(plan.notices).contains("number of activations whose scales were changed: 1"));
        config.layers["Conv_1"].activationBits = 7;
        const Plan other =
            planOf(graph(QString(kTwoConvs).arg("Add")), config, parsed("v:20 w:7 x:7 a:8 b:20 y:8"));
        QVERIFY(test::lines(other.notices)
                    .contains("the scales of 1 tensors are not powers of two and stay unchanged: 'b'"));
    }
};

QTEST_GUILESS_MAIN(NpuPositionsTest)
#include "npu_positions_test.moc"
