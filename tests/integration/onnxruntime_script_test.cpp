// SPDX-License-Identifier: Apache-2.0
// Runs the exported script in ONNX Runtime and compares the outputs of its quantized model with the preview:
// small networks with every kind of quantizer, in many configurations. Needs Python with onnx, onnxruntime,
// numpy and Pillow; skipped without it.
#include <QImage>
#include <QTemporaryDir>
#include <QtTest>
#include <cmath>
#include <random>
#include <span>

#include "base/atomic_file.h"
#include "config/config_json.h"
#include "config/presets.h"
#include "data/numpy_file.h"
#include "interchange/gather.h"
#include "support/export_support.h"
#include "support/python.h"
#include "support/random_network.h"
#include "support/random_seed.h"

using namespace quantloupe;
namespace fs = std::filesystem;

namespace {

/// Layers that clip their output, a sum that does, an operator that passes its scale on, and one that is not
/// clipped.
constexpr const char* kConvolutions = R"(
    <ir_version: 8, opset_import: ["" : 13]>
    net (float[N,2,4,4] X) => (float[N,3] Y)
    <float[3,2,1,1] A = {1, 2, -3, 1.5, 0.3, -0.7}, float[3] a0 = {0.1, -0.4, 0.2}, float lo = {0}, float hi = {6},
     float[3,3,1,1] B = {1, 0.5, 0.25, -1, 2, 0.1, 0.6, -0.9, 0.4}, float[3] b0 = {0.5, 0, -0.3},
     float[3,1,3,3] D = {1, 2, 1, 0, 0.5, 0, -1, -2, -1, 1, 0, -1, 2, 0, -2, 1, 0, -1, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9},
     float[3,3] W = {1, 0.2, -0.3, 0.4, -0.5, 0.6, 0.7, 0.8, -0.9}, float[3] w0 = {0.1, 0.2, 0.3}> {
        a = Conv(X, A, a0)
        a2 = Relu(a)
        b = Conv(a2, B, b0)
        b2 = Clip(b, lo, hi)
        d = Conv<group = 3, pads = [1, 1, 1, 1]>(b2, D)
        e = Add(d, a2)
        e2 = Relu(e)
        p = MaxPool<kernel_shape = [2, 2], strides = [2, 2]>(e2)
        g = GlobalAveragePool(p)
        f = Flatten(g)
        Y = Gemm<transB = 1>(f, W, w0)
    })";

/// Normalization, attention with a product of activations, constants as operands, a projection with a
/// separate bias.
constexpr const char* kTransformer = R"(
    <ir_version: 8, opset_import: ["" : 17]>
    net (float[N,2,4] X) => (float[N,2,4] Y)
    <float[1,2,4] P = {0.1, -0.2, 0.3, -0.4, 0.5, -0.6, 0.7, -0.8}, float[4] s = {1, 0.9, 1.1, 1.3}, float[4] t = {0, 0.1, -0.1, 0.2},
     float[4,4] Q = {1, 0.2, -0.3, 0.4, -0.5, 0.6, 0.7, 0.8, -0.9, 1.1, 0.1, 0.2, 0.3, -0.4, 0.5, 0.6},
     float[4,4] K = {0.5, 0.1, -0.2, 0.3, 0.4, -0.6, 0.2, 0.8, 0.9, 0.1, 0.7, -0.2, 0.3, 0.4, -0.5, 0.6},
     float[4] q = {0.1, 0.2, -0.1, 0.3}, float half = {0.5}> {
        x = Add(X, P)
        n = LayerNormalization<axis = -1, epsilon = 1e-5>(x, s, t)
        q1 = MatMul(n, Q)
        q2 = Add(q1, q)
        k1 = MatMul(n, K)
        k2 = Transpose<perm = [0, 2, 1]>(k1)
        z = MatMul(q2, k2)
        z1 = Mul(z, half)
        z2 = Softmax<axis = -1>(z1)
        o = MatMul(z2, k1)
        r = Relu(o)
        Y = Add(r, x)
    })";

/// A sequence whose samples are in the second dimension, and a factor that all samples share.
constexpr const char* kSequence = R"(
    <ir_version: 8, opset_import: ["" : 13]>
    net (float scale, float[3,batch,2] X) => (float[batch,3,2] Y)
    <float[2,2] W = {1, 0.2, -0.3, 0.4}> {
        x = Mul(X, scale)
        t = Transpose<perm = [1, 0, 2]>(x)
        Y = MatMul(t, W)
    })";

/// A network that takes two samples at once.
constexpr const char* kPairs = R"(
    <ir_version: 8, opset_import: ["" : 13]>
    net (float[2,3] X) => (float[2,2] Y)
    <float[2,3] W = {1, 0.2, -0.3, 0.4, 0.7, -0.6}, float[2] b = {0.1, -0.2}> { Y = Gemm<transB = 1>(X, W, b) })";

/// A network that mixes the two samples of a batch: both must be in the same batch during calibration, too.
constexpr const char* kMixed = R"(
    <ir_version: 8, opset_import: ["" : 13]>
    net (float[2,3] X) => (float[2,2] Y)
    <float[2,3] W = {1, 0.2, -0.3, 0.4, 0.7, -0.6}, float[2] b = {0.1, -0.2}> {
        m = ReduceMean<axes = [0], keepdims = 1>(X)
        c = Sub(X, m)
        Y = Gemm<transB = 1>(c, W, b)
    })";

/// A constant left operand, padding with zeros, a Clip after another operator than a layer, and a bias with
/// two dimensions.
constexpr const char* kOperands = R"(
    <ir_version: 8, opset_import: ["" : 13]>
    net (float[N,3,4] X) => (float[N,2] Y)
    <float[2,3] A = {1, 0.2, -0.3, 0.4, 0.7, -1.6}, int64[6] pads = {0, 0, 1, 0, 0, 1}, float lo = {0.2}, float hi = {0.6},
     float[12,2] W = {1, 0.2, -0.3, 0.4, 0.7, -0.6, 0.3, 0.4, -0.5, 0.6, 0.7, 0.8, -0.9, 1.1, 0.1, 0.2, 0.3, -0.4, 0.5, 0.6, 1, -1, 0.2, 0.3},
     float[1,2] b = {0.1, -0.2}> {
        m = MatMul(A, X)
        p = Pad(m, pads)
        s = Sigmoid(p)
        c = Clip(s, lo, hi)
        f = Flatten(c)
        Y = Gemm(f, W, b)
    })";

/// A pool before the layer that quantizes its input.
constexpr const char* kPoolFirst = R"(
    <ir_version: 8, opset_import: ["" : 13]>
    net (float[N,2,4,4] X) => (float[N,2,2,2] Y)
    <float[2,2,1,1] A = {1, 2, -3, 1.5}, float[2] a0 = {0.1, -0.4}> {
        p = MaxPool<kernel_shape = [2, 2], strides = [2, 2]>(X)
        a = Conv(X, A, a0)
        q = MaxPool<kernel_shape = [2, 2], strides = [2, 2]>(a)
        Y = Add(p, q)
    })";

/// Operators as ONNX Runtime's optimizer writes them, whose types ONNX does not infer.
constexpr const char* kOptimized = R"(
    <ir_version: 8, opset_import: ["" : 17, "com.microsoft" : 1]>
    net (float[N,4] X) => (float[N,4] Y)
    <float[4,4] A = {1, 0.2, -0.3, 0.4, -0.5, 0.6, 0.7, 0.8, -0.9, 1.1, 0.1, 0.2, 0.3, -0.4, 0.5, 0.6},
     float[4,4] B = {0.5, 0.1, -0.2, 0.3, 0.4, -0.6, 0.2, 0.8, 0.9, 0.1, 0.7, -0.2, 0.3, 0.4, -0.5, 0.6},
     float[4] b = {0.1, -0.2, 0.3, 0.4}> {
        a = MatMul(X, A)
        g = com.microsoft.QuickGelu<alpha = 1.702>(a)
        Y = Gemm(g, B, b)
    })";

/// Of an opset that quantize_static converts.
constexpr const char* kOld = R"(
    <ir_version: 4, opset_import: ["" : 9]>
    net (float[N,1,2,2] X) => (float[N,1,4,4] Y)
    <float[1,1,1,1] A = {1.5}, float[1,1,3,3] B = {0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, -0.9}, float[4] scales = {1, 1, 2, 2}> {
        a = Conv(X, A)
        u = Upsample<mode = "linear">(a, scales)
        Y = Conv<pads = [1, 1, 1, 1]>(u, B)
    })";

constexpr int kSamples = 40;

/// Returns how many samples have an output that differs by more than a thousandth of the largest one. A value
/// at a rounding tie changes a sample, a wrong scale nearly all.
int differingSamples(std::span<const float> ours, std::span<const float> theirs) {
    float largest = 0;
    for (const float value : ours) largest = std::max(largest, std::fabs(value));
    const std::size_t width = ours.size() / kSamples;
    int count = 0;
    for (std::size_t first = 0; first < ours.size(); first += width) {
        bool differs = false;
        for (std::size_t i = first; i < first + width; ++i)
            differs = differs || !(std::fabs(ours[i] - theirs[i]) <= 1e-3f * largest);
        count += differs;
    }
    return count;
}

struct Configuration {
    const char* name;
    const char* preset;
    QStringList keys;
};

const std::vector<Configuration>& configurations() {
    static const std::vector<Configuration> all = {
        {"u8s8", "onnxruntime-u8s8", {}},
        {"s8s8 per channel", "onnxruntime-s8s8", {"quantization.weight.per_channel=true"}},
        {"symmetric", "default", {"quantization.activation.symmetric=true"}},
        {"symmetric, ONNX Runtime's operators",
         "onnxruntime-s8s8",
         {"quantization.activation.symmetric=true"}},
        {"symmetric unsigned", "onnxruntime-u8s8", {"quantization.activation.symmetric=true"}},
        {"one symmetric layer", "onnxruntime-u8s8", {"layers.LAYER.activation.symmetric=true"}},
        {"widened ranges",
         "default",
         {"calibration.method=ifmr", "calibration.parameters.search_range=[0.7, 1.5]"}},
        {"scales that are powers of two",
         "default",
         {"quantization.activation.power_of_two=true", "calibration.method=hfmg"}},
        {"weights with powers of two", "default", {"quantization.weight.power_of_two=true"}},
        {"weights with the smallest error", "default", {"quantization.weight.method=mse"}},
        {"affine weights", "default", {"quantization.weight.symmetric=false"}},
        {"all codes", "default", {"quantization.weight.restricted=false"}},
        {"16 bits", "default", {"quantization.activation.bits=16"}},
        {"one layer of 16 bits", "default", {"layers.LAYER.precision=w8a16"}},
        {"4-bit weights", "w4a8", {}},
        {"biases in float", "default", {"quantization.bias_bits=float"}},
        {"percentile",
         "default",
         {"calibration.method=percentile", "calibration.parameters.percentile=0.97"}},
        {"ONNX Runtime's operators, entropy",
         "onnxruntime-s8s8",
         {"calibration.method=entropy", "calibration.parameters.num_bins=2048"}},
        {"ONNX Runtime's operators, powers of two",
         "onnxruntime-s8s8",
         {"quantization.activation.power_of_two=true", "quantization.weight.power_of_two=true"}},
        {"ONNX Runtime's operators, smallest errors",
         "onnxruntime-u8s8",
         {"calibration.method=mse", "quantization.weight.method=mse"}},
        {"ONNX Runtime's operators, 4-bit weights", "onnxruntime-w4s8", {}},
        {"7-bit weights, smallest error",
         "default",
         {"quantization.weight.bits=7", "quantization.weight.method=mse"}},
        {"AIMET", "aimet-default", {}},
        {"Quark", "quark-xint8", {"quantization.bias_bits=float"}},
    };
    return all;
}

}  // namespace

class OnnxRuntimeScriptTest : public QObject {
    Q_OBJECT

    struct Export {
        QString what;
        fs::path folder;
        ConstantPtr preview;
        std::vector<std::string> notices;
        bool averages = false;  ///< the network has an AveragePool: averages of four codes are often ties
    };

    QTemporaryDir m_folder;
    std::mt19937 m_random;
    std::vector<Export> m_exports;

    DatasetPtr samplesFor(const Session& session, const fs::path& file) {
        std::normal_distribution<float> normal(0, 1);
        std::vector<std::pair<std::string, ConstantPtr>> arrays;
        for (const InputSpec& input : inputSpecsOf(session.graph())) {
            Dims dims;
            for (std::size_t axis = 0; axis < input.shape.size(); ++axis)
                dims.push_back(axis == input.sampleAxis ? kSamples : input.shape[axis].value);
            std::vector<float> values(static_cast<std::size_t>(elementCount(dims)));
            for (float& value : values) value = normal(m_random);
            arrays.emplace_back(input.name, Constant::fromFloats(dims, std::move(values)));
        }
        saveNpz({arrays.begin(), arrays.end()}, file);
        return openDataset(file, inputSpecsOf(session.graph()), {});
    }

    void write(const QString& network, const std::string& text, const Configuration& how) {
        SessionOptions options;
        options.arithmetic = Arithmetic::Simulation;
        Session session(test::textModel(text), options);
        Export made;
        made.what = network + ", " + how.name;
        made.folder = fs::path(m_folder.path().toStdString()) / std::to_string(m_exports.size());
        fs::create_directory(made.folder);
        const DatasetPtr data = samplesFor(session, made.folder / "x.npz");
        session.setData(data, data);
        QuantizationConfig config = presetConfig(how.preset);
        config.skipTail = false;
        config.calibration.samples = kSamples;
        config.quantization.rounding = TieRounding::HalfEven;
        for (QString key : how.keys) {
            const auto layers = session.evaluate(config, Depth::States)->layers;
            const auto layer = std::ranges::find_if(layers, [](const LayerResult& one) {
                return one.state == LayerState::Quantized && one.weight;
            });
            key.replace("LAYER", QString::fromStdString(layer->name));
            setConfigKey(config, key.section('=', 0, 0).toStdString(), key.section('=', 1).toStdString());
        }
        const FileFormat& format = formatNamed("onnxruntime", false);
        ExportSource source = gatherExport(session, config, format);
        source.model = "net.onnx";
        source.output = made.folder / "net.py";
        source.calibrationData = made.folder / "x.npz";
        const ExportResult result = exportTo(format, source);
        writeExport(result, source.output);
        made.notices = result.notices;
        made.averages = text.find(" AveragePool") != std::string::npos;
        made.preview = session.outputs(config).at(0);
        m_exports.push_back(std::move(made));
    }

  private Q_SLOTS:
    void theScriptMatchesThePreview() {
        QUANTLOUPE_NEEDS_ONNXRUNTIME;
        m_random.seed(test::randomSeed());
        QStringList arguments = {QStringLiteral(QUANTLOUPE_SOURCE_DIR "/tests/integration/run_scripts.py")};
        for (const Configuration& how : configurations()) {
            write("convolutions", kConvolutions, how);
            write("transformer", kTransformer, how);
            write("operands", kOperands, how);
            write("random", test::RandomNetwork(m_random).text(), how);
        }
        write("samples in the second dimension", kSequence, configurations()[0]);
        write("batches of two", kPairs, configurations()[0]);
        write("mixed batches of two", kMixed, configurations()[0]);
        write("a pool before the layer that quantizes its input", kPoolFirst, configurations()[0]);
        write("a pool before that layer, operators \"layers\"", kPoolFirst, {"default", "default", {}});
        write("opset 9", kOld, configurations()[0]);
        write("opset 9", kOld, {"16 bits", "default", {"quantization.activation.bits=16"}});
        write("operators of com.microsoft", kOptimized, configurations()[1]);
        // Scales per channel need opset 13, and quantize_static does not raise it.
        std::string old = kConvolutions;
        old.replace(old.find("\"\" : 13"), 7, "\"\" : 11");
        QCOMPARE(configurations()[1].name, "s8s8 per channel");
        write("opset 11", old, configurations()[1]);
        for (const Export& made : m_exports) arguments << QString::fromStdString(made.folder.string());
        QVERIFY(test::runsInPython(arguments));
        int wrong = 0;
        for (const Export& made : m_exports) {
            const fs::path failure = made.folder / "error.txt";
            if (fs::exists(failure)) {
                ++wrong;
                qWarning("%s: %s", qPrintable(made.what), readFile(failure).c_str());
                continue;
            }
            const ConstantPtr theirs = loadNpz(made.folder / "y.npz").at("y");
            QCOMPARE(theirs->floats().size(), made.preview->floats().size());
            const int differing = differingSamples(made.preview->floats(), theirs->floats());
            if (differing == 0) continue;
            const std::string notices = test::joined(made.notices);
            qInfo("%d of %d samples differ: %s\n%s", differing, kSamples, qPrintable(made.what),
                  notices.c_str());
            if (differing > kSamples * 9 / 10 && !made.averages &&
                notices.find("other conversions are left out") == std::string::npos &&
                notices.find("others are left in float") == std::string::npos)
                ++wrong;
        }
        QCOMPARE(wrong, 0);
    }

    /// Letterboxed images of both orientations, cropped and in the other channel order.
    void theScriptPreparesImagesAsThePreview() {
        QUANTLOUPE_NEEDS_ONNXRUNTIME;
        const fs::path folder = fs::path(m_folder.path().toStdString()) / "images", images = folder / "data";
        fs::create_directories(images);
        for (const auto& [width, height] : {std::pair(50, 30), std::pair(20, 47), std::pair(16, 16)}) {
            QImage image(width, height, QImage::Format_RGB32);
            for (int y = 0; y < height; ++y)
                for (int x = 0; x < width; ++x) image.setPixel(x, y, qRgb(5 * x, 5 * y, (7 * x * y) % 256));
            QVERIFY(image.save(QString::fromStdString((images / std::to_string(width)).string() + ".png")));
        }
        const GraphPtr graph = test::textModel(R"(
            <ir_version: 8, opset_import: ["" : 13]> net (float[N,3,14,16] X) => (float[N,3,14,16] Y) { Y = Relu(X) })")
                                   .graph;
        ExportSource source = test::exportSource(graph, {}, (folder / "net.py").string());
        source.preprocess = preprocessFromJson(
            R"({"resize": [16, 16], "fit": "letterbox", "center_crop": [14, 16], "color": "BGR", "mean": [0.1, 0.2, 0.3]})");
        writeExport(exportTo(formatNamed("onnxruntime", false), source), source.output);
        const QString script = QString::fromStdString(source.output.string()),
                      arrays = QString::fromStdString((folder / "x.npz").string());
        QVERIFY(test::runsInPython(
            {"-c",
             "import runpy, sys, numpy as np\n"
             "script = runpy.run_path(sys.argv[1])\n"
             "samples = script['samples'](script['MODEL'], sys.argv[2], 100)\n"
             "np.savez(sys.argv[3], x=np.concatenate([sample['X'] for sample in samples]))",
             script, QString::fromStdString(images.string()), arrays}));
        const ConstantPtr theirs = loadNpz(arrays.toStdString()).at("x");
        const DatasetPtr ours = openDataset(images, inputSpecsOf(*graph), source.preprocess);
        QCOMPARE(theirs->dims(), (Dims{3, 3, 14, 16}));
        for (std::size_t i = 0; i < ours->size(); ++i) {
            const SampleTensor sample = ours->sample(i).at(0);
            QVERIFY(std::ranges::equal(
                sample.bytes, theirs->bytes().subspan(i * sample.bytes.size(), sample.bytes.size())));
        }
    }
};

QTEST_GUILESS_MAIN(OnnxRuntimeScriptTest)
#include "onnxruntime_script_test.moc"
