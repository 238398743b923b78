// SPDX-License-Identifier: Apache-2.0
// Random networks with a random precision for each layer: the preview must compute what ONNX Runtime computes
// on the exported model. Needs Python with onnxruntime and is skipped without it.
#include <QTemporaryDir>
#include <QtTest>
#include <cmath>

#include "config/layer_choices.h"
#include "config/precision_rules.h"
#include "data/numpy_file.h"
#include "model/load_model.h"
#include "session/session.h"
#include "support/python.h"
#include "support/random_network.h"
#include "support/random_seed.h"
#include "support/signal_to_noise.h"
#include "support/text_model.h"

using namespace quantloupe;

namespace {

constexpr int kNetworks = 40;

std::vector<float> floatsOf(const ConstantPtr& constant) {
    return {constant->floats().begin(), constant->floats().end()};
}

}  // namespace

class MixedPrecisionTest : public QObject {
    Q_OBJECT

    struct Network {
        std::string text;
        QuantizationConfig config;
        std::vector<float> preview, plain;  ///< with and without the precisions
    };

    std::string path(std::size_t network, const char* ending) const {
        return fmt::format("{}/{:03}{}", m_folder.path().toStdString(), network, ending);
    }

    /// Writes the model and its inputs, and computes the preview.
    void add(std::string text, const std::function<void(const Graph&, QuantizationConfig&)>& choose) {
        const std::size_t index = m_networks.size();
        Network& network = m_networks.emplace_back();
        network.text = std::move(text);
        Session session(test::textModel(network.text));
        std::normal_distribution<float> normal(0, 1);
        std::vector<float> values(16 * 3 * 8 * 8);
        for (float& value : values) value = normal(m_random);
        saveNpz({{"X", Constant::fromFloats({16, 3, 8, 8}, values)}}, path(index, ".npz"));
        const DatasetPtr data = openDataset(path(index, ".npz"), inputSpecsOf(session.graph()), {});
        session.setData(data, data);
        network.config.skipTail = false;
        network.config.quantization.activation.isSigned = m_random() % 2 == 0;
        network.config.quantization.weight.perChannel = m_random() % 2 == 0;
        if (m_random() % 3 == 0) network.config.quantization.operators = OperatorSet::OnnxRuntime;
        if (m_random() % 4 == 0) network.config.quantization.placement = Placement::WeightedInputs;
        network.plain = floatsOf(session.outputs(network.config).at(0));
        choose(session.graph(), network.config);
        network.preview = floatsOf(session.outputs(network.config).at(0));
        m_conversions += session.prepare(network.config)->conversions.size();
        saveModel(*session.quantizedModel(network.config), path(index, ".onnx"));
    }

    double sqnr(std::size_t network, const char* level) const {
        const auto outputs = loadNpz(path(network, ".out.npz"));
        return test::sqnrDb(m_networks[network].preview, outputs.at(level)->floats());
    }

    /// "{0.31, -0.2, ...}".
    static std::string numbers(int count, int seed) {
        std::string text = "{";
        for (int i = 0; i < count; ++i)
            text += (i == 0 ? "" : ",") + std::to_string(std::sin(1.7 * (i + 1) * seed) * 0.5);
        return text + "}";
    }

    /// Layers that have constants besides a weight and a bias.
    static std::vector<std::string> withFurtherConstants() {
        std::vector<std::string> networks;
        for (const auto& [op, rows] : {std::pair{"LSTM", 20}, {"GRU", 15}})
            networks.push_back(fmt::format(
                "(float[N,3,8,8] X) => (float[N,24,1,5] y) <float[1,{0},8] W = {1}, float[1,{0},5] R = {2}, "
                "float[1,{3}] B = {4}, int64[3] rows = {{0, 24, 8}}> {{ a = Reshape(X, rows) "
                "b = Transpose<perm = [1, 0, 2]>(a) c = {5}<hidden_size = 5>(b, W, R, B) "
                "y = Transpose<perm = [2, 0, 1, 3]>(c) }}",
                rows, numbers(8 * rows, 3), numbers(5 * rows, 5), 2 * rows, numbers(2 * rows, 7), op));
        networks.push_back("(float[N,3,8,8] X) => (float[N,3,8,8] y) <float[8] S = " + numbers(8, 3) +
                           ", float[8] B = " + numbers(8, 5) +
                           "> { y = LayerNormalization<axis = -1>(X, S, B) }");
        return networks;
    }

  private Q_SLOTS:
    void initTestCase() {
        QUANTLOUPE_NEEDS_ONNXRUNTIME;
        m_random.seed(test::randomSeed());
        constexpr const char* kPrecisions[] = {"float32", "float16", "w8a8",   "w8a8",
                                               "w4a8",    "w8a16",   "w16a16", "w4a16"};
        for (int i = 0; i < kNetworks; ++i)
            add(test::RandomNetwork(m_random).text(), [&](const Graph& graph, QuantizationConfig& config) {
                for (const Node& node : graph.nodes())
                    if (m_random() % 3 != 0)
                        config =
                            withPrecision(config, {node.name},
                                          precisionNamed(kPrecisions[m_random() % std::size(kPrecisions)]));
            });
        const auto allFloat16 = [](const Graph& graph, QuantizationConfig& config) {
            for (const Node& node : graph.nodes())
                config = withPrecision(config, {node.name}, Precision::float16());
        };
        for (int i = 0; i < kNetworks / 4; ++i) add(test::RandomNetwork(m_random).text(), allFloat16);
        for (const std::string& body : withFurtherConstants())
            add("<ir_version: 8, opset_import: [\"\" : 17]> net " + body,
                [&](const Graph& graph, QuantizationConfig& config) {
                    config.quantization.operators = body.find("Normalization") == std::string::npos
                                                        ? OperatorSet::Layers
                                                        : OperatorSet::OnnxRuntime;
                    allFloat16(graph, config);
                });
        // ONNX Runtime spreads pairs of int8 over a MaxPool (quantize/spread_pairs.h).
        m_spread = m_networks.size();
        add("<ir_version: 8, opset_import: [\"\" : 17]> net (float[N,3,8,8] X) => (float[N,2,4,4] y) "
            "<float[2,3,1,1] W = " +
                numbers(6, 3) + ", float[2,2,1,1] V = " + numbers(4, 5) +
                "> { a = Conv(X, W) b = MaxPool<kernel_shape = [2, 2], strides = [2, 2]>(a) y = Conv(b, V) }",
            [](const Graph& graph, QuantizationConfig& config) {
                config.quantization.activation.isSigned = true;
                config.quantization.placement = Placement::InputsAndOutputs;
                config = withPrecision(config, {graph.nodes().front().name}, precisionNamed("w4a8"));
                for (std::size_t i = 1; i < graph.nodes().size(); ++i)
                    config = withPrecision(config, {graph.nodes()[i].name}, Precision::float32());
            });
        QVERIFY(test::runsInPython(
            {QStringLiteral(QUANTLOUPE_SOURCE_DIR "/tests/integration/run_models.py"), m_folder.path()}));
    }

    /// A sum in another order can cross the border between two codes, so a few networks differ by a code.
    void theExportedModelComputesThePreview() {
        int exact = 0, different = 0;
        for (std::size_t i = 0; i < kNetworks; ++i) {
            const double db = sqnr(i, "off");
            exact += db >= 90;
            different += test::sqnrDb(m_networks[i].preview, m_networks[i].plain) < 60;
            QVERIFY2(db >= 35, fmt::format("network {}: {} dB: {}", i, db, m_networks[i].text).c_str());
        }
        qInfo("%d of %d exact, %d unlike the network without precisions, %zu conversions", exact, kNetworks,
              different, m_conversions);
        QVERIFY(exact >= kNetworks * 3 / 4);
        QVERIFY(different >= kNetworks / 2);
        QVERIFY(m_conversions >= kNetworks);
    }

    /// Rounding to float16 gives about 60 to 70 dB, so a runtime that drops the Casts is noticed.
    void float16ComputesThePreview_data() {
        QTest::addColumn<QString>("level");
        QTest::newRow("without optimizations") << "off";
        QTest::newRow("with all optimizations") << "all";
    }
    void float16ComputesThePreview() {
        QFETCH(QString, level);
        int exact = 0, count = 0;
        for (std::size_t i = kNetworks; i < m_spread; ++i, ++count) {
            const double db = sqnr(i, level.toLatin1().constData());
            exact += db >= 90;
            QVERIFY2(db >= 60, fmt::format("network {}: {} dB: {}", i, db, m_networks[i].text).c_str());
        }
        qInfo("%d of %d exact", exact, count);
        QVERIFY(exact >= count / 2);
    }

    void pairsOfInt8CanBeOptimized() {
        QVERIFY(sqnr(m_spread, "off") >= 90);
        QVERIFY2(sqnr(m_spread, "all") >= 35, qPrintable(QString::number(sqnr(m_spread, "all"))));
    }

  private:
    std::mt19937 m_random;
    QTemporaryDir m_folder;
    std::vector<Network> m_networks;
    std::size_t m_spread = 0;  ///< index of the network for pairsOfInt8CanBeOptimized()
    std::size_t m_conversions = 0;
};

QTEST_APPLESS_MAIN(MixedPrecisionTest)
#include "mixed_precision_test.moc"
