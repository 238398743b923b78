// SPDX-License-Identifier: Apache-2.0
// Compares every export format that contains scales or results with a manually reviewed golden file
// (tests/data), and with the schema in the tool's documentation. The network and its samples are small
// fractions of powers of two, so every number is the same on every machine.
#include <graphviz/cgraph.h>

#include <nlohmann/json.hpp>
#include <set>

#include "interchange/gather.h"
#include "session/session.h"
#include "support/exact_model.h"
#include "support/export_support.h"
#include "support/python.h"

using namespace quantloupe;
using namespace quantloupe::test;
using nlohmann::json;

namespace {

QuantizationConfig tuned() {
    QuantizationConfig config;
    config.skipTail = false;
    config.quantization.activation.isSigned = false;
    config.quantization.weight.bits = 4;
    config.quantization.weight.perChannel = true;
    SkipRule rule;
    rule.layers = {"/dw/Conv"};
    config.rules = {rule};
    config.layers["/out/Conv"].comment = "4 bits, \"narrow\" <but> enough";
    return config;
}

/// With scales, without an evaluation.
ExportResult scaled(const char* format, const char* output) {
    Session session(LoadedModel{exactModel(), "net.onnx", {}, {}});
    session.setData(std::make_shared<Quarters>(), std::make_shared<Quarters>());
    ExportSource source = gatherExport(session, tuned(), formatNamed(format, false));
    source.output = output;
    return formatNamed(format, false).write(source);
}

/// With made-up results: only their formatting matters.
ExportResult reported(const char* format, const char* output) {
    ExportSource source = exportSource(exactModel(), tuned(), output);
    auto evaluation = std::make_shared<Evaluation>();
    Accuracy accuracy;
    accuracy.samples = 512;
    accuracy.top1 = 0.9375;
    accuracy.top5 = 1.0;
    evaluation->floating = accuracy;
    accuracy.agreement = 1.0;
    accuracy.sqnrDb = std::numeric_limits<double>::infinity();
    evaluation->prepared = accuracy;
    accuracy.top1 = 0.6875;
    accuracy.top1Interval = RateInterval{0.625, 0.75};
    accuracy.agreement = 0.75;
    accuracy.sqnrDb = 12.5;
    evaluation->quantized = accuracy;
    for (std::size_t i = 0; i < source.layers.size(); ++i) {
        LayerResult& layer = source.layers[i];
        evaluation->counts.quantized += layer.state == LayerState::Quantized;
        evaluation->counts.skipped += layer.state == LayerState::Skipped;
        evaluation->counts.floating += layer.state == LayerState::Float;
        evaluation->counts.folded += layer.state == LayerState::Folded;
        evaluation->counts.fused += layer.state == LayerState::Fused;
        if (!layer.quantizable) continue;
        const double qs = 0.5 / static_cast<double>(i + 1);
        layer.local = TensorDifference{.qs = qs, .cosine = 0.75, .sqnrDb = 6.25};
        layer.cumulative = TensorDifference{.qs = 2 * qs, .cosine = 0.5, .sqnrDb = 3.125};
        layer.macs = 64;
        layer.parameters = 4;
    }
    evaluation->notices = {"a notice with <angles> & ampersands"};
    evaluation->layers = source.layers;
    source.evaluation = evaluation;
    source.path = {{"float", *evaluation->floating},
                   {"weights quantized", *evaluation->prepared},
                   {"activations, too", *evaluation->quantized}};
    source.history = {{"Open", *evaluation->quantized}, {"Skip /dw/Conv & more", *evaluation->floating}};
    return formatNamed(format, false).write(source);
}

/// Text widths in the graph depend on this machine's fonts; those in the plots do not.
std::string withoutDrawing(std::string text) {
    const auto from = text.find("<svg", text.find("<h2>Network</h2>")), to = text.find("</svg>", from);
    return from == std::string::npos ? text : text.replace(from, to + 6 - from, "<!-- the drawing -->");
}

std::set<std::string> keysOf(const json& object) {
    std::set<std::string> keys;
    for (const auto& item : object.items()) keys.insert(item.key());
    return keys;
}

/// Checks one entry of encodings 0.6.1, which Qualcomm's converters also read.
bool isOldEncoding(const json& e) {
    if (e == json({{"bitwidth", 32}, {"dtype", "float"}})) return true;
    return keysOf(e) ==
               std::set<std::string>{"bitwidth", "dtype", "is_symmetric", "max", "min", "offset", "scale"} &&
           e["bitwidth"].is_number_integer() && e["dtype"] == "int" &&
           (e["is_symmetric"] == "True" || e["is_symmetric"] == "False") && e["offset"].is_number_integer() &&
           e["offset"].get<int>() <= 0 && e["scale"].get<double>() > 0 &&
           std::abs(e["min"].get<double>() - e["scale"].get<double>() * e["offset"].get<int>()) < 1e-9 &&
           e["max"].get<double>() > e["min"].get<double>();
}

bool isOldFile(const json& file) {
    for (const char* key : {"activation_encodings", "param_encodings"}) {
        if (!file.contains(key) || !file[key].is_object() || file[key].empty()) return false;
        for (const auto& item : file[key].items()) {
            if (!item.value().is_array() || item.value().empty()) return false;
            for (const json& e : item.value())
                if (!isOldEncoding(e)) return false;
        }
    }
    return true;
}

}  // namespace

class GoldenExportsTest : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void onnxRuntime() {
        const std::string text = scaled("onnxruntime", "net.py").files[0].text;
        QVERIFY(matchesGolden(text, "onnxruntime.py"));
        if (runPython({"-c", "pass"}) == 0) QVERIFY(compilesInPython(text));
    }

    void aimet() {
        const ExportResult result = scaled("aimet", "net.encodings");
        const char* const names[] = {"aimet.encodings", "aimet.0.6.1.encodings", "aimet.2.0.0.encodings",
                                     "aimet.quantsim.json"};
        for (std::size_t i = 0; i < 4; ++i) QVERIFY(matchesGolden(result.files[i].text, names[i]));

        const json current = json::parse(result.files[0].text);
        QCOMPARE(keysOf(current), (std::set<std::string>{"version", "activation_encodings", "param_encodings",
                                                         "quantizer_args"}));
        for (const char* key : {"activation_encodings", "param_encodings"})
            for (const json& e : current[key]) {
                QCOMPARE(keysOf(e), (std::set<std::string>{"name", "enc_type", "dtype", "bw", "is_sym",
                                                           "scale", "offset"}));
                QCOMPARE(e["dtype"], "INT");
                QVERIFY(e["is_sym"].is_boolean() && e["bw"].is_number_integer());
                QCOMPARE(e["scale"].size(), e["offset"].size());
                QCOMPARE(e["enc_type"], e["scale"].size() > 1 ? "PER_CHANNEL" : "PER_TENSOR");
                for (const json& offset : e["offset"])
                    QVERIFY(offset.get<int>() <= 0 && offset.get<int>() >= -(1 << e["bw"].get<int>()));
            }
        QVERIFY(isOldFile(json::parse(result.files[1].text)));
        const json flat = json::parse(result.files[2].text);
        QCOMPARE(flat["version"], "2.0.0");
        static const std::set<std::string> kTypes = {"int2",  "uint2", "int4",   "uint4", "int8",
                                                     "uint8", "int16", "uint16", "int32", "uint32"};
        for (const json& e : flat["encodings"]) {
            QVERIFY(kTypes.contains(e["output_dtype"].get<std::string>()) && e["name"].is_string());
            QCOMPARE(e["y_scale"].is_array(), e.contains("axis"));
        }
    }

    void qnn() {
        const std::string text = scaled("qnn", "net.qnn.json").files[0].text;
        QVERIFY(matchesGolden(text, "qnn.json"));
        const json file = json::parse(text);
        QVERIFY(isOldFile(file));
        QCOMPARE(keysOf(file), (std::set<std::string>{"activation_encodings", "param_encodings"}));
    }

    void modelExplorer() {
        const ExportResult result = reported("model-explorer", "net.model_explorer.json");
        QVERIFY(matchesGolden(result.files[0].text, "model_explorer.json"));
        QVERIFY(matchesGolden(result.files[1].text, "model_explorer.states.json"));
        for (const std::size_t file : {0u, 1u}) {
            const json data = json::parse(result.files[file].text);
            for (const auto& key : keysOf(data))
                QVERIFY(key == "results" || key == "thresholds" || key == "gradient");
            for (const json& value : data["results"])
                QVERIFY(value["value"].is_number() || value["value"].is_string());
        }
    }

    void clikasGraphs() {
        const ExportResult result = reported("clika-graphs", "model_post_preprocessing.svg");
        QVERIFY(matchesGolden(result.files[1].text, "model_post_preprocessing.dot"));
        QVERIFY(matchesGolden(result.files[3].text, "model_init.dot"));
        for (const std::size_t file : {1u, 3u}) {
            Agraph_t* graph = agmemread(result.files[file].text.c_str());
            QVERIFY(graph != nullptr);
            QCOMPARE(agnnodes(graph), 9 + 2);
            agclose(graph);
        }
    }

    void reports() {
        QVERIFY(
            matchesGolden(withoutDrawing(reported("html", "net.report.html").files[0].text), "report.html"));
        QVERIFY(matchesGolden(reported("csv", "net.layers.csv").files[0].text, "layers.csv"));
        const std::string text = reported("json", "net.report.json").files[0].text;
        QVERIFY(matchesGolden(text, "report.json"));
        QCOMPARE(json::parse(text)["layers"].size(), 9u);
    }
};

QTEST_GUILESS_MAIN(GoldenExportsTest)
#include "golden_exports_test.moc"
