// SPDX-License-Identifier: Apache-2.0
// Scripts for NNCF and ModelOpt, and QNN's overrides.
#include <nlohmann/json.hpp>

#include "config/layer_choices.h"
#include "config/presets.h"
#include "interchange/gather.h"
#include "model/graph_builder.h"
#include "support/demo.h"
#include "support/export_support.h"
#include "support/python.h"

using namespace quantloupe;
using namespace quantloupe::test;

namespace {

QuantizationConfig tuned() {
    QuantizationConfig config;
    config.skipTail = false;
    SkipRule until, type, single;
    until.kind = SkipKind::Until;
    until.from = "/stem/Conv";
    until.to = {"/dw/Conv"};
    type.kind = SkipKind::Type;
    type.op = "Add";
    single.layers = {"/head/Gemm"};
    config.rules = {until, type, single};
    return config;
}

ExportResult exported(const char* format, const QuantizationConfig& config) {
    return formatNamed(format, false).write(exportSource(stageModel(), config, "net.py"));
}

}  // namespace

class NameListsTest : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void nncf() {
        const ExportResult result = exported("nncf", tuned());
        QVERIFY(matchesGolden(result.files[0].text, "nncf.py"));
        QVERIFY(
            result.files[0].text.find(
                "nncf.Subgraph(inputs=[\"/stem/Conv\"], outputs=[\n            \"/dw/Conv\",\n        ])") !=
            std::string::npos);
        QVERIFY(joined(result.notices).find("skip-until") == std::string::npos);
        QuantizationConfig against = tuned();
        against.layers["/dw/Conv"].quantize = true;
        QVERIFY(says(exported("nncf", against).notices,
                     "'/dw/Conv' is quantized here although a rule skips it, which NNCF cannot express"));
    }

    void modelOpt() {
        QuantizationConfig config = tuned();
        const ExportResult result = exported("modelopt", config);
        QVERIFY(matchesGolden(result.files[0].text, "modelopt.py"));
        QVERIFY(result.files[0].text.find("\"^/head/Gemm$\"") != std::string::npos);
        QVERIFY(says(result.notices, "ModelOpt has no skip-until rule: resolved to 2 layers"));
        // Names are not patterns.
        GraphBuilder builder(*stageModel());
        builder.node(NodeId(std::size_t(10))).name = "head.1+(x)";
        config.rules = {};
        config.layers["head.1+(x)"].quantize = false;
        const ExportResult odd =
            formatNamed("modelopt", false).write(exportSource(builder.build(), config, "net.py"));
        QVERIFY(odd.files[0].text.find(R"("^head\\.1\\+\\(x\\)$")") != std::string::npos);
    }

    /// The nodes that the preview adds for layers with own input quantizers are not part of the model.
    void theModelHasNoNodesOfThePreview() {
        for (const char* format : {"nncf", "modelopt"}) {
            const ExportResult result = exported(format, presetConfig("amct-default"));
            for (const Node& node : result.files.back().model->nodes()) QVERIFY(node.op != "Identity");
        }
    }

    void typesThatTheModelDoesNotContainAreListedByName() {
        QuantizationConfig config = tuned();
        config.rules[1].op = "depthwise";
        config.quantization.weight.bits = 4;
        const ExportResult result = exported("nncf", config);
        QVERIFY(result.files[0].text.find("types=[]") != std::string::npos);
        QVERIFY(says(result.notices, "NNCF quantizes weights and activations to 8 bits; the preview has 4"));
        QVERIFY(says(exported("modelopt", config).notices, "the preview has 4 and 8"));
    }

    void npuOperatorsAreReported() {
        QuantizationConfig config = tuned();
        config.transforms.npuOperators.averagePool = true;
        for (const char* format : {"nncf", "modelopt", "onnxruntime", "clika", "amct"})
            QVERIFY2(says(exported(format, config).notices, "NPU arithmetic for means (npu_operators)"),
                     format);
    }

    void pythonCompilesThem() {
        if (runPython({"-c", "pass"}) != 0) QSKIP("Python is not available");
        for (const char* format : {"nncf", "modelopt", "onnxruntime"})
            QVERIFY2(compilesInPython(exported(format, tuned()).files[0].text), format);
    }

    void qnn() {
        const auto session = openDemo();
        QuantizationConfig config = demoConfig();
        config.skipTail = false;
        SkipRule rule;
        rule.layers = {"/features/features.0/features.0.0/Conv"};
        config.rules = {rule};
        // Conversions are nodes of the preview only.
        config = withPrecision(config, {"/features/features.17/conv/conv.2/Conv"}, Precision::integer(8, 16));
        ExportSource source = gatherExport(*session, config, formatNamed("qnn", false));
        source.output = "net.qnn.json";
        const ExportResult result = formatNamed("qnn", false).write(source);
        const auto json = nlohmann::json::parse(result.files[0].text);
        const GraphPtr model = result.files[1].model;
        for (const Node& node : model->nodes()) QVERIFY(node.op != "Identity");
        std::size_t floating = 0;
        for (const char* key : {"activation_encodings", "param_encodings"})
            for (const auto& item : json[key].items()) {
                QVERIFY2(model->findTensor(item.key()), item.key().c_str());
                const auto& first = item.value().at(0);
                if (first.contains("dtype") && first["dtype"] == "float") {
                    QCOMPARE(first["bitwidth"], 32);
                    ++floating;
                    continue;
                }
                QVERIFY(first["max"].get<double>() >= first["min"].get<double>());
                QVERIFY(first["offset"].get<int>() <= 0);
                QVERIFY(first["is_symmetric"] == "True" || first["is_symmetric"] == "False");
            }
        QVERIFY(json["param_encodings"].contains("features.0.0.weight_folded"));
        QVERIFY(json["param_encodings"]["features.0.0.weight_folded"][0]["dtype"] == "float");
        QVERIFY(floating >= 1);
    }
};

QTEST_GUILESS_MAIN(NameListsTest)
#include "name_lists_test.moc"
