// SPDX-License-Identifier: Apache-2.0
// The same numbers on every processor: networks run with each instruction set that this processor supports,
// with one and two workers and different batch sizes, and all outputs have the same bits.
#include <QTemporaryDir>
#include <QtTest>
#include <random>

#include "base/atomic_file.h"
#include "data/numpy_file.h"
#include "support/random_seed.h"
#include "support/run_cli.h"
#include "support/text_model.h"

using namespace quantloupe;

namespace {

/// Values of ONEDNN_MAX_CPU_ISA; one that the processor lacks means the best that it has.
constexpr const char* kInstructionSets[] = {"AVX2", "AVX512_CORE", "AVX512_CORE_VNNI", "AVX512_CORE_AMX",
                                            "AVX2_VNNI"};

constexpr std::size_t kSamples = 21, kPerSample = 600;

std::string randomValues(std::mt19937& random, int count, float size) {
    std::normal_distribution<float> normal(0, size);
    std::string values;
    for (int i = 0; i < count; ++i) values += fmt::format("{}{:.6f}", i == 0 ? "" : ", ", normal(random));
    return values;
}

/// Layers of every kind that computes sums: convolutions with and without groups, transposed, over channels;
/// products of two activations; pools, softmax, normalization and a recurrent layer.
std::string manyLayers(std::mt19937& random) {
    std::string weights;
    const auto weight = [&](const char* name, const char* shape, int count, float size) {
        weights += fmt::format("{}float[{}] {} = {{{}}}", weights.empty() ? "" : ", ", shape, name,
                               randomValues(random, count, size));
    };
    weight("W1", "24,6,3,3", 1296, 0.2f);
    weight("b1", "24", 24, 0.2f);
    weight("W2", "24,1,3,3", 216, 0.4f);
    weight("W3", "32,6,3,3", 1728, 0.2f);
    weight("W4", "32,8,3,3", 2304, 0.2f);
    weight("b4", "16", 16, 0.2f);
    weight("Wq", "16,16", 256, 0.3f);
    weight("Wk", "16,16", 256, 0.3f);
    weight("Wv", "16,16", 256, 0.3f);
    weight("ls", "16", 16, 0.5f);
    weight("lb", "16", 16, 0.5f);
    weight("Wl", "1,48,16", 768, 0.3f);
    weight("Rl", "1,48,12", 576, 0.3f);
    weight("W5", "10,12", 120, 0.5f);
    weight("b5", "10", 10, 0.5f);
    return R"(<ir_version: 8, opset_import: ["" : 17]> g (float[N,6,10,10] X) => (float[N,10] Y)
        <int64[3] split = {0,16,36}, float eight = {4}, float half = {0.5}, float one = {1}, float root = {1.4142135},
         int64[1] zero = {0}, )" +
           weights + R"(> {
            c1 = Conv<pads = [1,1,1,1]>(X, W1, b1)
            r1 = Relu(c1)
            c2 = Conv<group = 24, pads = [1,1,1,1], strides = [2,2]>(r1, W2)
            c3 = Conv<group = 4, pads = [1,1,1,1]>(c2, W3)
            s3 = Sigmoid(c3)
            m3 = Mul(c3, s3)
            c4 = ConvTranspose<group = 2, strides = [2,2]>(m3, W4, b4)
            p4 = AveragePool<kernel_shape = [3,3], strides = [2,2], pads = [1,1,1,1]>(c4)
            f4 = Reshape(p4, split)
            t = Transpose<perm = [0,2,1]>(f4)
            n = LayerNormalization(t, ls, lb)
            q = MatMul(n, Wq)
            k = MatMul(n, Wk)
            v = MatMul(n, Wv)
            kt = Transpose<perm = [0,2,1]>(k)
            a = MatMul(q, kt)
            ad = Div(a, eight)
            s = Softmax(ad)
            o = MatMul(s, v)
            od = Div(o, root)
            oe = Erf(od)
            o1 = Add(oe, one)
            om = Mul(o, o1)
            oh = Mul(om, half)
            e = Add(t, oh)
            et = Transpose<perm = [1,0,2]>(e)
            l, lh = LSTM<hidden_size = 12>(et, Wl, Rl)
            h = Squeeze(lh, zero)
            Y = Gemm<alpha = 0.5, transB = 1>(h, W5, b5)
        })";
}

}  // namespace

class ProcessorsTest : public QObject {
    Q_OBJECT

    QTemporaryDir m_folder;
    std::vector<float> m_samples;
    std::mt19937 m_random{test::randomSeed()};

    QString path(const char* name) const { return m_folder.filePath(QLatin1String(name)); }

    static QStringList words(const char* text) { return QString::fromLatin1(text).split(QLatin1Char(' ')); }

    void save(const char* name, const std::vector<float>& samples) const {
        const auto count = static_cast<std::int64_t>(samples.size() / kPerSample);
        saveNpz({{"X", Constant::fromFloats({count, 6, 10, 10}, samples)}}, path(name).toStdString());
    }

    /// The file that the command writes; empty, with a warning, if it fails.
    QByteArray outputs(const QStringList& command, const char* instructions, const char* workers) const {
        qputenv("ONEDNN_MAX_CPU_ISA", instructions);
        const QStringList rest{QStringLiteral("-o"), path("out.npz"), QStringLiteral("--threads"),
                               QLatin1String(workers)};
        const test::Outcome run = test::runCli(command + rest);
        qunsetenv("ONEDNN_MAX_CPU_ISA");
        if (run.code != 0) qWarning("%s", run.text().constData());
        QFile out(path("out.npz"));
        return run.code == 0 && out.open(QIODevice::ReadOnly) ? out.readAll() : QByteArray();
    }

  private Q_SLOTS:
    void initTestCase() {
        writeFileAtomically(path("layers.onnx").toStdString(), test::textModelBytes(manyLayers(m_random)));
        std::normal_distribution<float> normal;
        m_samples.resize(kSamples * kPerSample);
        for (float& value : m_samples) value = normal(m_random);
        save("data.npz", m_samples);
    }

    void sameBits_data() {
        QTest::addColumn<QStringList>("command");
        const QStringList layers{QStringLiteral("run"), path("layers.onnx"), QStringLiteral("--data"),
                                 path("data.npz")};
        QTest::newRow("float") << layers;
        QTest::newRow("quantized") << layers + words("--quantized");
        QTest::newRow("simulated") << layers + words("--quantized --simulate");
        QTest::newRow("some layers in float") << layers + words("--quantized --skip-type MatMul");
        QTest::newRow("demo, equalized, two layers in float") << test::demoCommand(
            "run MODEL --data VAL --calibration-data CALIBRATION --config CONFIG --samples 60 --quantized "
            "--cle aimet --replace-relu6 between --skip re:features.0/features.0.0 --skip "
            "re:features.17/conv/conv.2");
    }
    void sameBits() {
        QFETCH(QStringList, command);
        const QByteArray first = outputs(command, "ALL", "1");
        QVERIFY(!first.isEmpty());
        QCOMPARE(outputs(command, "ALL", "2"), first);
        for (const char* instructions : kInstructionSets) {
            const QByteArray other = outputs(command, instructions, "2");
            QVERIFY2(other == first, instructions);
        }
        // Without AVX2 there are no integer kernels, and the network is simulated.
        if (!command.contains(QStringLiteral("--quantized")) ||
            command.contains(QStringLiteral("--simulate")))
            QVERIFY(outputs(command, "SSE41", "2") == first);
    }

    /// The samples run several at a time; one alone gives the same bits.
    void sameBitsAlone() {
        const QStringList command = QStringList{QStringLiteral("run"), path("layers.onnx"),
                                                QStringLiteral("--calibration-data"), path("data.npz")} +
                                    words("--quantized --data");
        QVERIFY(!outputs(command + QStringList{path("data.npz")}, "ALL", "2").isEmpty());
        const ConstantPtr together = loadNpz(path("out.npz").toStdString()).at("Y");
        for (const std::size_t i : {std::size_t{0}, std::size_t{7}, kSamples - 1}) {
            const auto begin = m_samples.begin() + static_cast<std::ptrdiff_t>(i * kPerSample);
            save("one.npz", {begin, begin + static_cast<std::ptrdiff_t>(kPerSample)});
            QVERIFY(!outputs(command + QStringList{path("one.npz")}, "ALL", "1").isEmpty());
            const ConstantPtr alone = loadNpz(path("out.npz").toStdString()).at("Y");
            QVERIFY(std::ranges::equal(alone->floats(), together->floats().subspan(i * 10, 10)));
        }
    }
};

QTEST_GUILESS_MAIN(ProcessorsTest)
#include "processors_test.moc"
