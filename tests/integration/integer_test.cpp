// SPDX-License-Identifier: Apache-2.0
// The integer path compared with the float simulation: unit by unit, and for the whole network.
#include <QtTest>

#include "config/presets.h"
#include "quantize/plan.h"
#include "runtime/integer/integer_product.h"
#include "runtime/workers.h"
#include "session/evaluation_data.h"
#include "support/demo.h"

using namespace quantloupe;

namespace {

struct Difference {
    std::size_t elements = 0, different = 0;
    int largestSteps = 0;
};

QuantizationConfig configOf(int bits, bool perChannel) {
    QuantizationConfig config = presetConfig("default");
    config.skipTail = false;
    config.quantization.weight.bits = bits;
    config.quantization.weight.perChannel = perChannel;
    return config;
}

std::vector<float> runAlone(Plan& plan, std::size_t unit, Arithmetic arithmetic, const Program& floating,
                            const Workspace& values) {
    plan.arithmetic = arithmetic;
    std::map<TensorId, TensorDesc> inputs;
    for (const TensorId in : plan.units.units[unit].inputs) inputs[in] = floating.desc(in);
    const auto program = Program::compile(plan.unitSpec(unit, inputs));
    Workspace workspace(program);
    for (const TensorId in : plan.units.units[unit].inputs) workspace.bind(in, values.data(in));
    workspace.run();
    const TensorId output = plan.units.units[unit].output;
    const TensorDesc& desc = program->desc(output);
    std::vector<float> result(desc.count());
    convertLayout(desc, workspace.data(output), Layout::Plain, result.data());
    return result;
}

}  // namespace

class IntegerTest : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void initTestCase() {
        limitOpenMpOfThisThread();
        if (!integerKernelsAvailable())
            QSKIP("this processor has no AVX2: quantized units are simulated in float");
    }

    void unitsDifferByRoundingTiesOnly_data() {
        QTest::addColumn<int>("bits");
        QTest::addColumn<bool>("perChannel");
        for (const int bits : {8, 7, 4, 2})
            for (const bool perChannel : {false, true})
                QTest::addRow("W%d %s", bits, perChannel ? "per channel" : "per tensor")
                    << bits << perChannel;
    }
    void unitsDifferByRoundingTiesOnly() {
        QFETCH(int, bits);
        QFETCH(bool, perChannel);
        const auto session = test::openDemo({1, 32, 8});
        const QuantizationConfig config = configOf(bits, perChannel);
        session->evaluate(config, Depth::Accuracy);
        Plan plan = *session->plan(config);
        std::vector<TensorId> observed;
        for (const Unit& unit : plan.units.units) {
            observed.push_back(unit.output);
            observed.insert(observed.end(), unit.inputs.begin(), unit.inputs.end());
        }
        const SampleBatches& batches = evaluationBatches(*session);
        const auto graph = plan.prepared->graph;
        const auto floating = Program::compile(floatProgram(graph, batches.inputsOf(*graph), observed));
        Workspace values(floating);
        Difference difference;
        for (std::size_t chunk = 0; chunk < batches.chunks(); ++chunk) {
            const auto samples = batches.load(chunk);
            values.bind(graph->inputs()[0], samples[0].data());
            values.run();
            for (std::size_t u = 0; u < plan.units.units.size(); ++u) {
                const auto simulated = runAlone(plan, u, Arithmetic::Simulation, *floating, values);
                const auto exact = runAlone(plan, u, Arithmetic::Integer, *floating, values);
                QCOMPARE(exact.size(), simulated.size());
                for (std::size_t i = 0; i < exact.size(); ++i) {
                    ++difference.elements;
                    if (exact[i] == simulated[i]) continue;
                    ++difference.different;
                    const float steps = std::fabs(exact[i] - simulated[i]) / plan.quantizers[u].output.scale;
                    difference.largestSteps =
                        std::max(difference.largestSteps, static_cast<int>(std::lround(steps)));
                }
            }
        }
        qInfo("%zu of %zu elements differ", difference.different, difference.elements);
        QVERIFY(difference.elements > 1000000);
        QVERIFY(difference.largestSteps <= 1);
        QVERIFY(difference.different * 10000 < difference.elements);
    }

    void theNetworkAgrees() {
        std::vector<EvaluationPtr> results;
        for (const Arithmetic arithmetic : {Arithmetic::Simulation, Arithmetic::Integer}) {
            SessionOptions options;
            options.arithmetic = arithmetic;
            results.push_back(test::openDemo(options)->evaluate(configOf(8, false), Depth::Accuracy));
        }
        const auto& simulated = *results[0]->classes;
        const auto& exact = *results[1]->classes;
        QCOMPARE(exact.size(), 500u);
        std::size_t different = 0;
        for (std::size_t s = 0; s < exact.size(); ++s) different += exact[s] != simulated[s] ? 1 : 0;
        qInfo("%zu of 500 images get another class", different);
        QCOMPARE(different, 0u);  // 99.9 % of 500 leaves room for none
    }
};

QTEST_GUILESS_MAIN(IntegerTest)
#include "integer_test.moc"
