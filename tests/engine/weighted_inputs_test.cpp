// SPDX-License-Identifier: Apache-2.0
// Placement weighted_inputs: each weighted layer quantizes its own inputs; everything else stays in float.
#include <QtTest/QtTest>

#include "config/presets.h"
#include "interchange/gather.h"
#include "quantize/layer_scheme.h"
#include "quantize/plan.h"
#include "quantize/qdq_writer.h"
#include "session/session.h"
#include "support/exact_model.h"
#include "support/small_graph.h"
#include "transform/own_inputs.h"

using namespace quantloupe;
using test::graph;
using test::ops;

namespace {

// The residual Add reads r in float, both convolutions read it quantized, each with its own quantizer.
const QString kNet =
    "(float[1,1,2,2] x) => (float[1,1,1,1] y) <float[1,1,1,1] w1 = {1}, float[1,1,1,1] w2 = {2}, "
    "float[1,1,1,1] w3 = {3}> "
    "{ a = Conv(x, w1)\n r = Relu(a)\n b = Conv(r, w2)\n c = Conv(r, w3)\n s = Add(b, r)\n t = Add(s, c)\n "
    "y = AveragePool<kernel_shape = [2, 2]>(t) }";

struct Planned {
    std::shared_ptr<const Prepared> prepared;
    Plan plan;
};

Planned plan(const QuantizationConfig& config) {
    Planned result;
    result.prepared =
        std::make_shared<const Prepared>(withOwnInputs(prepare(graph(kNet), config.transforms)));
    const UnitList units = findUnits(*result.prepared, resolveSkips(*result.prepared->source, config));
    Statistics statistics;
    for (const TensorId tensor : calibratedTensors(units))
        statistics[tensor].min = -1, statistics[tensor].max = 3;
    QuantizerCache cache;
    result.plan = resolvePlan(result.prepared, units, statistics, config, cache);
    return result;
}

QuantizationConfig weightedInputs() {
    QuantizationConfig config;
    config.skipTail = false;
    config.quantization.placement = Placement::WeightedInputs;
    return config;
}

QString quantized(const Planned& planned) {
    QStringList names;
    for (const auto& [tensor, quantizer] : planned.plan.tensors)
        names << QString::fromStdString(planned.prepared->graph->tensor(tensor).name);
    names.sort();
    return names.join(' ');
}

}  // namespace

class WeightedInputsTest : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void everyLayerHasItsOwnInput() {
        const Planned planned = plan(weightedInputs());
        QCOMPARE(quantized(planned), QString("AveragePool_6_input Conv_0_input Conv_2_input Conv_3_input"));
        const Prepared& p = *planned.prepared;
        QCOMPARE(ops(*p.transformed), QString("Conv Relu Conv Conv Add Add AveragePool"));
        QCOMPARE(p.ownInputs.size(), std::size_t(4));
        for (const NodeId id : p.ownInputs) QCOMPARE(p.graph->node(id).op, std::string("Identity"));
        for (std::size_t i = 0; i < p.layerMappings.size(); ++i) {
            QCOMPARE(p.graph->node(p.layerMappings[i].prepared).name, p.source->node(NodeId(i)).name);
            QCOMPARE(p.sourceOf[p.layerMappings[i].prepared.index()], NodeId(i));
        }
        const auto layers = layerStates(p, planned.plan.units, resolveSkips(*p.source, weightedInputs()));
        QCOMPARE(layers[4].state, LayerState::Float);
        QVERIFY(layers[4].reason.find("weighted_inputs") != std::string::npos);
    }

    /// Q/DQ is between the tensor and the single layer; the Identity nodes are removed.
    void exportHasPairsBeforeLayers() {
        QuantizationConfig config = weightedInputs();
        config.layers["Conv_3"].quantize = false;
        const Planned planned = plan(config);
        QCOMPARE(quantized(planned), QString("AveragePool_6_input Conv_0_input Conv_2_input"));
        const GraphPtr written = writeQdq(planned.plan, "{}");
        QStringList reads;
        for (const Node& node : written->nodes()) {
            QVERIFY(node.op != "Identity");
            const NodeId maker = written->tensor(node.input(0)).producer;
            reads << QString::fromStdString(node.name + "<" +
                                            (maker.valid() ? written->node(maker).op : "input"));
        }
        QVERIFY(reads.contains("Conv_2<DequantizeLinear") && reads.contains("Conv_3<Relu") &&
                reads.contains("Add_4<Conv"));
        QVERIFY(reads.contains("Conv_2_input_QuantizeLinear<Relu") &&
                reads.contains("Conv_0_input_QuantizeLinear<input"));
        const Node& sum = written->node(*written->findNode("Add_4"));
        QCOMPARE(written->tensor(sum.input(1)).name, std::string("r"));
    }

    /// ONNX Runtime ignores scales of tensors that do not exist.
    void exportedScalesNameTensorsOfTheModel() {
        Session session(LoadedModel{test::exactModel(), "net.onnx", {}, {}});
        session.setData(std::make_shared<test::Quarters>(), std::make_shared<test::Quarters>());
        const FileFormat& format = formatNamed("onnxruntime", false);
        const ExportResult result = format.write(gatherExport(session, presetConfig("amct-default"), format));
        const QString table = QString::fromStdString(result.files.at(0).text)
                                  .section(QStringLiteral("TENSOR_QUANT_OVERRIDES = {"), 1)
                                  .section(QStringLiteral("\n}"), 0, 0);
        QStringList activations;
        for (const QString& line : table.split(QLatin1Char('\n'), Qt::SkipEmptyParts)) {
            const std::string name = line.section(QLatin1Char('"'), 1, 1).toStdString();
            const auto tensor = result.files.at(1).model->findTensor(name);
            QVERIFY2(tensor, name.c_str());
            if (result.files[1].model->constantOf(*tensor) == nullptr) activations << name.c_str();
        }
        activations.sort();
        QCOMPARE(activations.join(' '), QString("X a2 b2 g"));
    }

    /// In ONNX Runtime, a tensor has one quantizer.
    void exportedScalesAreThoseOfTheWidestReader() {
        const GraphPtr g = graph(kNet);
        const auto samples =
            arrayDataset({{"x", Constant::fromFloats({3, 1, 2, 2}, {1, 2, 3, 4, 0, 1, 5, 2, 3, 1, 0, 7})}},
                         nullptr, inputSpecsOf(*g));
        Session session(LoadedModel{g, "net.onnx", {}, {}});
        session.setData(samples, samples);
        const FileFormat& format = formatNamed("onnxruntime", false);
        for (const char* wide : {"Conv_2", "Conv_3"}) {
            QuantizationConfig config = presetConfig("amct-default");
            config.layers[wide].activationBits = 16;
            const ExportResult result = format.write(gatherExport(session, config, format));
            QVERIFY2(result.files.at(0).text.find("\"r\": tensor(QuantType.QInt16, ") != std::string::npos,
                     result.files[0].text.c_str());
            QVERIFY(
                test::says(result.notices, "the one with the most bits in the preview is exported for r"));
        }
    }

    void activationSettingsApplyToTheInput() {
        QuantizationConfig config = weightedInputs();
        config.layers["Conv_2"].activationBits = 4;
        const Planned planned = plan(config);
        const auto quantizer = [&](const char* name) {
            return planned.plan.tensors.at(*planned.prepared->graph->findTensor(name));
        };
        QCOMPARE(quantizer("Conv_2_input").quantMax, 7);
        QCOMPARE(quantizer("Conv_3_input").quantMax, 127);
    }

    void productsCanStayPerTensor() {
        QuantizationConfig config = weightedInputs();
        config.quantization.weight.perChannel = true;
        config.quantization.weight.perChannelProducts = false;
        const GraphPtr g = graph(
            "(float[1,2] x) => (float[1,2] y) <float[2,2] w = {1, 2, 3, 4}, float[2,2] v = {1, 2, 3, 4}> { a "
            "= MatMul(x, w)\n y = Gemm(a, v) }");
        for (const Node& node : g->nodes()) {
            QCOMPARE(weightSchemeOf(config, nullptr, node).perChannel, false);
            LayerSettings own;
            own.weightPerChannel = true;
            QCOMPARE(weightSchemeOf(config, &own, node).perChannel, true);
        }
        QCOMPARE(weightSchemeOf(config, nullptr, graph(kNet)->node(NodeId(0))).perChannel, true);
    }
};

QTEST_GUILESS_MAIN(WeightedInputsTest)
#include "weighted_inputs_test.moc"
