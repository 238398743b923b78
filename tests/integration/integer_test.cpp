// SPDX-License-Identifier: Apache-2.0
// The integer path compared with the float simulation: unit by unit, and for the whole network.
#include <QtTest>

#include "config/presets.h"
#include "quantize/plan.h"
#include "runtime/integer/integer_product.h"
#include "session/evaluation_data.h"
#include "support/demo.h"
#include "support/text_model.h"

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

    /// A Split of x * sigmoid(x), whose parts have quantizers of their own: once decoded as the codes of x.
    void movedFunctionsAgree() {
        std::vector<float> outputs[2];
        for (const Arithmetic arithmetic : {Arithmetic::Integer, Arithmetic::Simulation}) {
            SessionOptions options;
            options.arithmetic = arithmetic;
            Session session(
                test::textModel(
                    "<ir_version: 8, opset_import: [\"\" : 13]> g (float[N,4,5,5] X) => "
                    "(float[N,4,5,5] Y) <float[4,4,1,1] P = {0.2, 0.1, -0.1, 0.2, 0.1, -0.2, 0.1, 0.1, "
                    "2, -1, 3, 1, -2, 3, 1, 2}, int64[2] parts = {2, 2}, "
                    "float[2,2,1,1] A = {1, -2, 0.5, 1}, float[2,2,1,1] B = {1, 0.5, -1, 2}> "
                    "{ c = Conv(X, P) s = Sigmoid(c) m = Mul(c, s) a, b = Split<axis = 1>(m, parts) "
                    "d = Conv(a, A) e = Conv(b, B) Y = Concat<axis = 1>(d, e) }"),
                options);
            session.useRandomInputs(8);
            const ConstantPtr values = session.outputs(configOf(8, true)).at(0);
            outputs[arithmetic == Arithmetic::Simulation].assign(values->floats().begin(),
                                                                 values->floats().end());
        }
        float largest = 0, difference = 0;
        for (std::size_t i = 0; i < outputs[0].size(); ++i) {
            largest = std::max(largest, std::fabs(outputs[1][i]));
            difference = std::max(difference, std::fabs(outputs[0][i] - outputs[1][i]));
        }
        QVERIFY2(difference < largest / 50, qPrintable(QString("%1 of %2").arg(difference).arg(largest)));
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
