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
    void add(const std::function<void(const Graph&, QuantizationConfig&)>& choose) {
        const std::size_t index = m_networks.size();
        Network& network = m_networks.emplace_back();
        network.text = test::RandomNetwork(m_random).text();
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

  private Q_SLOTS:
    void initTestCase() {
        if (test::runPython({"-c", "import onnxruntime, numpy"}) != 0)
            QSKIP("Python with onnxruntime and numpy is not available (QUANTLOUPE_PYTHON)");
        m_random.seed(test::randomSeed());
        constexpr const char* kPrecisions[] = {"float32", "float16", "w8a8",   "w8a8",
                                               "w4a8",    "w8a16",   "w16a16", "w4a16"};
        for (int i = 0; i < kNetworks; ++i)
            add([&](const Graph& graph, QuantizationConfig& config) {
                for (const Node& node : graph.nodes())
                    if (m_random() % 3 != 0)
                        config =
                            withPrecision(config, {node.name},
                                          precisionNamed(kPrecisions[m_random() % std::size(kPrecisions)]));
            });
        for (int i = 0; i < kNetworks / 4; ++i)
            add([&](const Graph& graph, QuantizationConfig& config) {
                for (const Node& node : graph.nodes())
                    config = withPrecision(config, {node.name}, Precision::float16());
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
        for (std::size_t i = kNetworks; i < m_networks.size(); ++i, ++count) {
            const double db = sqnr(i, level.toLatin1().constData());
            exact += db >= 90;
            QVERIFY2(db >= 60, fmt::format("network {}: {} dB: {}", i, db, m_networks[i].text).c_str());
        }
        qInfo("%d of %d exact", exact, count);
        QVERIFY(exact >= count / 2);
    }

  private:
    std::mt19937 m_random;
    QTemporaryDir m_folder;
    std::vector<Network> m_networks;
    std::size_t m_conversions = 0;
};

QTEST_APPLESS_MAIN(MixedPrecisionTest)
#include "mixed_precision_test.moc"
