// SPDX-License-Identifier: Apache-2.0
// AIMET's encodings: compares exports with the encodings that AIMET itself wrote for the same model
// (oracles), and imports all three formats.
#include <nlohmann/json.hpp>
#include <set>

#include "base/input_file.h"
#include "config/presets.h"
#include "data/numpy_file.h"
#include "data/random_dataset.h"
#include "interchange/gather.h"
#include "support/demo.h"
#include "support/export_support.h"
#include "support/text_model.h"

using namespace quantloupe;
using namespace quantloupe::test;
using nlohmann::json;

namespace {

/// {name: {scales, offsets}} of either of the first two formats.
struct Entry {
    std::vector<double> scales;
    std::vector<int> offsets;
};
std::map<std::string, Entry> entriesOf(const json& document, const char* key) {
    std::map<std::string, Entry> all;
    if (document[key].is_array()) {
        for (const json& e : document[key])
            all[e["name"]] = {e["scale"].get<std::vector<double>>(), e["offset"].get<std::vector<int>>()};
        return all;
    }
    for (const auto& item : document[key].items())
        for (const json& e : item.value()) {
            all[item.key()].scales.push_back(e["scale"]);
            all[item.key()].offsets.push_back(e["offset"]);
        }
    return all;
}

}  // namespace

class AimetTest : public QObject {
    Q_OBJECT

  private:
    std::filesystem::path m_assets = assets();
    std::unique_ptr<Session> m_session;
    GraphPtr m_model;
    ExportResult m_result;  ///< of the demo's network with AIMET's default scheme, two layers in float

    json file(std::size_t i) const { return json::parse(m_result.files[i].text); }
    std::string oracle(const char* name) const { return readFile(m_assets / "oracles" / name); }

  private Q_SLOTS:
    void initTestCase() {
        m_session = openSession(m_assets / "models/mobilenetv2_cifar10.onnx", m_assets / "data/cifar10/val",
                                m_assets / "data/cifar10/calibration");
        QuantizationConfig config = presetConfig("aimet-default");
        config.quantization.weight.perChannel = false;
        config.calibration.samples = 256;
        SkipRule rule;
        rule.layers = {"/features/features.0/features.0.0/Conv", "/classifier/classifier.1/Gemm"};
        config.rules = {rule};
        const FileFormat& format = formatNamed("aimet", false);
        ExportSource source = gatherExport(*m_session, config, format);
        source.output = "net.encodings";
        m_result = format.write(source);
        m_model = loadModel(m_assets / "models/mobilenetv2_cifar10.onnx").graph;
    }

    void everyNameIsInTheExportedModel() {
        QCOMPARE(m_result.files.size(), 6u);
        const GraphPtr model = m_result.files[5].model;
        for (const char* key : {"activation_encodings", "param_encodings"}) {
            const auto entries = entriesOf(file(0), key);
            QVERIFY(!entries.empty());
            for (const auto& [name, entry] : entries) QVERIFY2(model->findTensor(name), name.c_str());
        }
    }

    void scalesEqualAimets() {
        const json theirs = json::parse(oracle("aimet_mobilenetv2_cifar10_W8A8_minmax_pertensor.encodings"));
        const auto ourWeights = entriesOf(file(0), "param_encodings"),
                   theirWeights = entriesOf(theirs, "param_encodings");
        QCOMPARE(ourWeights.size(), theirWeights.size() - 2);
        QVERIFY(!ourWeights.contains("features.0.0.weight"));
        for (const auto& [ours, entry] : ourWeights) {
            // With the batch norm folded, the weight has a new name in the exported float model.
            const std::string name = ours.ends_with("_folded") ? ours.substr(0, ours.size() - 7) : ours;
            QVERIFY2(theirWeights.contains(name), name.c_str());
            QCOMPARE(entry.offsets, theirWeights.at(name).offsets);
            // AIMET divides by 128 where the smallest weight has the larger magnitude, the preview by 127.
            QVERIFY(std::abs(entry.scales[0] / theirWeights.at(name).scales[0] - 1) < 0.009);
        }
        // AIMET calibrates with the weights already quantized: ranges differ by up to 3.7 %.
        const auto ours = entriesOf(file(0), "activation_encodings"),
                   their = entriesOf(theirs, "activation_encodings");
        for (const auto& [name, entry] : ours) {
            // AIMET does not quantize Flatten; here it keeps its input's scale
            if (name == "/Flatten_output_0") continue;
            // Here a folded batch norm determines the tensor's name; in AIMET the layer before it keeps its
            // own.
            const NodeId maker = m_model->tensor(*m_model->findTensor(name)).producer;
            const bool folded = maker.valid() && m_model->node(maker).op == "BatchNormalization";
            const std::string& there = folded ? m_model->tensor(m_model->node(maker).input(0)).name : name;
            QVERIFY2(their.contains(there), there.c_str());
            const double ratio = entry.scales[0] / their.at(there).scales[0];
            QVERIFY2(std::abs(ratio - 1) < 0.05, qPrintable(QString::number(ratio)));
            QVERIFY(std::abs(entry.offsets[0] - their.at(there).offsets[0]) <= 4);
        }
    }

    void allThreeFormatsAgree() {
        const json current = file(0), old = file(1), flat = file(2);
        QCOMPARE(current["version"], "1.0.0");
        QCOMPARE(old["version"], "0.6.1");
        QCOMPARE(flat["version"], "2.0.0");
        std::map<std::string, json> flatEntries;
        for (const json& e : flat["encodings"]) flatEntries[e["name"]] = e;
        for (const char* key : {"activation_encodings", "param_encodings"}) {
            const auto a = entriesOf(current, key), b = entriesOf(old, key);
            QCOMPARE(a.size(), b.size());
            for (const auto& [name, entry] : a) {
                QVERIFY(entry.scales == b.at(name).scales && entry.offsets == b.at(name).offsets);
                const json& f = flatEntries.at(name);
                QCOMPARE(f["y_scale"].get<double>(), entry.scales[0]);
                const int half = f["output_dtype"] == "int8" ? 128 : 0;
                QCOMPARE(f.value("y_zero_point", 0), -entry.offsets[0] - half);
                const json& e = old[key][name][0];
                QCOMPARE(e["min"].get<double>(), entry.scales[0] * entry.offsets[0]);
                QCOMPARE(e["max"].get<double>(), entry.scales[0] * (255 + entry.offsets[0]));
            }
        }
    }

    void quantsimConfigurationHasSevenSections() {
        const json config = file(3);
        for (const char* key : {"defaults", "params", "op_type", "supergroups", "model_input", "model_output",
                                "supergroup_pass_list"})
            QVERIFY(config.contains(key));
        QCOMPARE(config.size(), 7u);
        QCOMPARE(config["defaults"]["per_channel_quantization"], "False");
        QCOMPARE(config["params"]["bias"]["is_quantized"], "False");
        // the only one is in float
        QCOMPARE(config["op_type"]["Gemm"]["params"]["weight"]["is_quantized"], "False");
        QVERIFY(!config["op_type"].contains("Conv"));
    }

    void theModuleThatLoadsTheEncodingsCompiles() { QVERIFY(compilesInPython(m_result.files[4].text)); }

    /// Scales of normalizations and operands of sums; AIMET leaves biases in float.
    void quantizedConstantsHaveEncodings() {
        Session session(textModel(R"(
            <ir_version: 8, opset_import: ["" : 17]> net (float[N,4] X) => (float[N,4] Y)
            <float[1,4] P = {0.1, -0.2, 0.3, -0.4}, float[4] s = {1, 0.9, 1.1, 1.3}, float[4] t = {0, 0.1, -0.1, 0.2}> {
                x = Add(X, P)
                Y = LayerNormalization<axis = -1>(x, s, t)
            })"));
        QTemporaryDir folder;
        const std::string file = folder.path().toStdString() + "/x.npz";
        saveNpz({{"X", Constant::fromFloats({2, 4}, {1, -2, 3, -4, 0.5, 0, 2, 1})}}, file);
        const DatasetPtr data = openDataset(file, inputSpecsOf(session.graph()), {});
        session.setData(data, data);
        ExportSource source =
            gatherExport(session, presetConfig("onnxruntime-s8s8"), formatNamed("aimet", false));
        source.output = "net.encodings";
        const json written = json::parse(formatNamed("aimet", false).write(source).files[0].text);
        const auto entries = entriesOf(written, "param_encodings");
        QVERIFY(entries.contains("P") && entries.contains("s") && !entries.contains("t"));
        QVERIFY(std::abs(entries.at("s").scales.at(0) - 1.3 / 127) < 1e-6);
    }

    /// The symmetry of single activations is exported and imported.
    void symmetryOfLayers() {
        const std::string layer = "/features/features.2/conv/conv.0/conv.0.0/Conv";
        for (const bool symmetric : {false, true}) {
            QuantizationConfig config = presetConfig("aimet-default");
            config.calibration.samples = 16;
            config.quantization.activation.symmetric = config.quantization.activation.isSigned = symmetric;
            config.layers[layer].activationSymmetric = config.layers[layer].activationSigned = !symmetric;
            ExportSource source = gatherExport(*m_session, config, formatNamed("aimet", false));
            source.output = "net.encodings";
            const ExportResult result = formatNamed("aimet", false).write(source);
            for (const std::size_t i : {0u, 1u, 2u}) {
                const ImportResult read = readText("aimet", m_model, result.files[i].text);
                QCOMPARE(read.config.quantization.activation.symmetric, symmetric);
                if (i == 2 &&
                    !symmetric) {  // 2.0.0: the same as an affine one with the zero point in the middle
                    QVERIFY(read.config.layers.empty());
                    continue;
                }
                QCOMPARE(read.config.layers.size(), 1u);
                QCOMPARE(read.config.layers.at(layer).activationSymmetric, std::optional(!symmetric));
                QCOMPARE(read.config.layers.at(layer).activationSigned, std::optional(!symmetric));
            }
        }
    }

    void importsFilesOfAimet() {
        for (const char* name : {"aimet_mobilenetv2_cifar10_W8A8_minmax.encodings",
                                 "aimet_mobilenetv2_cifar10_W8A8_minmax_0.6.1.encodings",
                                 "aimet_mobilenetv2_cifar10_W8A8_minmax_2.0.0.encodings"}) {
            const ImportResult result = readText("aimet", m_model, oracle(name));
            QVERIFY2(result.config.rules.empty(), joined(result.taken).c_str());  // nothing was skipped
            QCOMPARE(result.config.quantization.weight.bits, 8);
            QCOMPARE(result.config.quantization.operators, OperatorSet::Aimet);
            QVERIFY(result.config.quantization.weight.perChannel);
            QVERIFY(result.config.quantization.weight.symmetric);
            QVERIFY(!result.config.quantization.activation.symmetric);
            QVERIFY(!result.config.quantization.activation.isSigned);
            QVERIFY(!result.config.skipTail);
            QVERIFY(result.config.layers.empty());
            QVERIFY(says(result.left, "scales are not imported"));
        }
        const ImportResult four =
            readText("aimet", m_model, oracle("aimet_mobilenetv2_cifar10_W4A8_minmax_pertensor.encodings"));
        QCOMPARE(four.config.quantization.weight.bits, 4);
        QVERIFY(!four.config.quantization.weight.perChannel);
    }

    void importsOwnExports() {
        for (const std::size_t i : {0u, 1u, 2u}) {
            const ImportResult result = readText("aimet", m_model, m_result.files[i].text);
            QCOMPARE(result.config.rules.size(), 1u);
            QCOMPARE(result.config.rules[0].layers,
                     (std::vector<std::string>{"/features/features.0/features.0.0/Conv",
                                               "/classifier/classifier.1/Gemm"}));
            QVERIFY(result.config.layers.empty());
        }
    }

    /// Layers without weights stay in float, too.
    void importsFloatLayersWithoutWeights() {
        QuantizationConfig config = presetConfig("aimet-default");
        config.calibration.samples = 16;
        config.skipTail = false;
        SkipRule rule;
        rule.layers = {"/GlobalAveragePool", "/classifier/classifier.1/Gemm"};
        config.rules = {rule};
        ExportSource source = gatherExport(*m_session, config, formatNamed("aimet", false));
        source.output = "net.encodings";
        const ExportResult result = formatNamed("aimet", false).write(source);
        for (const std::size_t i : {0u, 1u, 2u}) {
            const ImportResult read = readText("aimet", m_model, result.files[i].text);
            QCOMPARE(read.config.rules.size(), 1u);
            QCOMPARE(read.config.rules[0].layers, rule.layers);
        }
    }

    /// A weight that a Transpose passes on, a Softmax without an entry, and an entry that no layer uses.
    void importsWhatItsOperatorSetQuantizes() {
        std::string weight = "{0.1";
        for (int i = 1; i < 48; ++i) weight += fmt::format(", {}", 0.01 * (i % 7) - 0.03);
        Session session(textModel(
            "<ir_version: 8, opset_import: [\"\" : 17]> g (float[N,4,8] x) => (float[N,4,4] y) <float[6,8] w "
            "= " +
            weight +
            "}> { t = Transpose<perm = [1, 0]>(w) c = MatMul(x, t) u = Transpose<perm = [0, 2, 1]>(c) "
            "s = MatMul(c, u) y = Softmax(s) }"));
        session.setData(randomDataset(session.graph(), 16, 1), randomDataset(session.graph(), 16, 2));
        QuantizationConfig config = presetConfig("aimet-default");
        config.skipTail = false;
        config.rules.resize(1);
        config.rules[0].layers = {"Softmax_4"};
        const GraphPtr model = session.model().graph;
        const auto imported = [&](std::size_t version) {
            ExportSource source = gatherExport(session, config, formatNamed("aimet", false));
            source.output = "net.encodings";
            return readText("aimet", model, formatNamed("aimet", false).write(source).files[version].text);
        };
        constexpr const char* kUnused = "no layer of the operator set 'aimet' quantizes this tensor: s";
        for (const std::size_t version : {0u, 1u, 2u}) {
            const ImportResult read = imported(version);
            QCOMPARE(read.config.rules.size(), 1u);
            QCOMPARE(read.config.rules[0].layers, config.rules[0].layers);
            QVERIFY2(!says(read.left, kUnused), joined(read.left).c_str());
        }
        config.quantization.operators = OperatorSet::OnnxRuntime;
        for (const std::size_t version : {0u, 1u, 2u})
            QVERIFY2(says(imported(version).left, kUnused), joined(imported(version).left).c_str());
    }

    /// More biases than weights: they have 32 bits.
    void biasesAreNotWeights() {
        json document = json::parse(oracle("aimet_mobilenetv2_cifar10_W8A8_minmax.encodings"));
        for (std::size_t i = 0; i < m_model->nodeCount(); ++i) {
            const TensorId bias = m_model->node(NodeId(i)).input(2);
            if (!bias.valid() || m_model->constantOf(bias) == nullptr) continue;
            json entry = document["param_encodings"][0];
            entry["name"] = m_model->tensor(bias).name;
            entry["bw"] = 32;
            for (int copy = 0; copy < 2; ++copy) {
                document["param_encodings"].push_back(entry);
                entry["name"] = entry["name"].get<std::string>() + "_copy";
            }
        }
        QCOMPARE(readText("aimet", m_model, document.dump()).config.quantization.weight.bits, 8);
    }

    /// No layer has a setting for the bits of the network's input.
    void otherBitsWithoutALayerAreReported() {
        const std::string input = m_model->tensor(m_model->inputs()[0]).name;
        json document = json::parse(oracle("aimet_mobilenetv2_cifar10_W8A8_minmax.encodings"));
        const std::string message = "the bits of these tensors, which have 8 bits here: ";
        QVERIFY(!says(readText("aimet", m_model, document.dump()).left, message.c_str()));
        for (json& entry : document["activation_encodings"])
            if (entry["name"] == input) entry["bw"] = 16;
        const ImportResult result = readText("aimet", m_model, document.dump());
        QCOMPARE(result.config.quantization.activation.bits, 8);
        QVERIFY2(says(result.left, (message + input + " (16 bits)").c_str()), joined(result.left).c_str());
    }

    void badFiles_data() {
        QTest::addColumn<std::string>("text");
        QTest::addColumn<std::string>("message");
        const auto row = [](const char* name, std::string text, std::string message) {
            QTest::newRow(name) << text << message;
        };
        row("empty", "", "not valid JSON");
        row("no version", "{}", "the key version is missing");
        row("unknown version", R"({"version": "3.0"})", "'3.0' is not a supported AIMET format");
        row("section missing", R"({"version": "1.0.0", "activation_encodings": []})",
            "the key param_encodings is missing");
        row("wrong section", R"({"version": "1.0.0", "activation_encodings": {}, "param_encodings": []})",
            "activation_encodings: must be a list");
        row("no name", R"({"version": "1.0.0", "activation_encodings": [{"bw": 8}], "param_encodings": []})",
            "activation_encodings[0].name: is missing");
        row("bits",
            R"({"version": "1.0.0", "activation_encodings": [{"name": "a", "bw": "8"}], "param_encodings": []})",
            "activation_encodings[0].bw: must be a whole number");
        row("twice",
            R"({"version": "2.0.0", "encodings": [{"name": "input", "output_dtype": "uint8"}, {"name": "input", "output_dtype": "uint8"}]})",
            "the tensor 'input' has two encodings");
        row("no type", R"({"version": "2.0.0", "encodings": [{"name": "input"}]})",
            "encodings[0].output_dtype: is missing");
        row("another model",
            R"({"version": "2.0.0", "encodings": [{"name": "elsewhere", "output_dtype": "uint8"}]})",
            "none of its 1 tensors is in the model");
        row("old list", R"({"version": "0.6.1", "activation_encodings": {"a": {}}, "param_encodings": {}})",
            "activation_encodings['a']: must be a list of encodings");
        row("key twice", R"({"version": "0.6.1", "version": "0.6.1"})", "duplicate key 'version'");
    }
    void badFiles() {
        QFETCH(std::string, text);
        QFETCH(std::string, message);
        const std::string said = readFailure("aimet", m_model, text);
        QVERIFY2(said.find(message) != std::string::npos, said.c_str());
    }
};

QTEST_GUILESS_MAIN(AimetTest)
#include "aimet_test.moc"
