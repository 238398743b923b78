// SPDX-License-Identifier: Apache-2.0
// Structures that PyTorch's exporters write: shared and transposed weights, recurrent layers. They are
// quantized here and must give the same results in ONNX Runtime. The comparisons need Python with onnxruntime
// and are skipped without it.
#include <QTemporaryDir>
#include <QtTest>
#include <random>
#include <set>

#include "config/presets.h"
#include "data/random_dataset.h"
#include "interchange/onnxruntime/verify.h"
#include "support/demo.h"
#include "support/python.h"
#include "support/text_model.h"

using namespace quantloupe;

namespace {

std::string floats(std::mt19937& random, int count) {
    std::normal_distribution<float> normal(0, 0.5f);
    std::string text;
    for (int i = 0; i < count; ++i) text += fmt::format("{}{:.5f}", i == 0 ? "" : ", ", normal(random));
    return "{" + text + "}";
}

/// As TorchScript exports GPT-2: equal parameters are one initializer, read through Identity, and the head's
/// weight is the embedding's, transposed at run time.
std::string sharedWeights() {
    std::mt19937 random(17);
    return "<ir_version: 8, opset_import: [\"\" : 17]> g (float[N,12] x) => (float[N,10] y) <float[12,12] w "
           "= " +
           floats(random, 144) + ", float[12] b = " + floats(random, 12) +
           ", float[12] gain = " + floats(random, 12) + ", float[10,12] table = " + floats(random, 120) +
           R"(> {
            b_1 = Identity(b)
            w_1 = Identity(w)
            bias_2 = Identity(b)
            gain_1 = Identity(gain)
            n0 = LayerNormalization(x, gain, b)
            a = Gemm(n0, w, b)
            r = Relu(a)
            c = Gemm(r, w_1, b_1)
            n1 = LayerNormalization(c, gain_1, bias_2)
            t = Transpose<perm = [1, 0]>(table)
            y = MatMul(n1, t)
        })";
}

std::string recurrent(const char* op, int gates, const char* attributes) {
    std::mt19937 random(18);
    return fmt::format(R"(<ir_version: 8, opset_import: ["" : 14]> g (float[N,5,6] x) => (float[N,4] y)
        <float[2,{0},6] w = {1}, float[2,{0},8] r = {2}, float[2,{3}] b = {4}, float[16,4] f = {5}, int64[1] zero = {{0}}, int64[2] rows = {{-1, 16}}> {{
            s = Transpose<perm = [1, 0, 2]>(x)
            all, last = {6}<hidden_size = 8, direction = "bidirectional"{7}>(s, w, r, b)
            n = Transpose<perm = [1, 0, 2]>(last)
            v = Reshape(n, rows)
            y = MatMul(v, f)
        }})",
                       gates * 8, floats(random, 2 * gates * 48), floats(random, 2 * gates * 64), gates * 16,
                       floats(random, 2 * gates * 16), floats(random, 64), op, attributes);
}

std::unique_ptr<Session> sessionOn(const std::string& text) {
    SessionOptions options;
    options.threads = 2;
    auto session = std::make_unique<Session>(test::textModel(text), options);
    session->setData(randomDataset(session->graph(), 64, 3), randomDataset(session->graph(), 64, 4));
    return session;
}

QuantizationConfig preset(const char* name) {
    QuantizationConfig config = presetConfig(name);
    config.skipTail = false;
    return config;
}

std::string statesOf(const Evaluation& evaluation) {
    std::string text;
    for (const LayerResult& layer : evaluation.layers)
        text += fmt::format("{}{} {}", text.empty() ? "" : ", ", layer.op, layerStateName(layer.state));
    return text;
}

}  // namespace

class ExportedModelsTest : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void sharedWeightsAreQuantized() {
        const auto session = sessionOn(sharedWeights());
        QCOMPARE(statesOf(*session->evaluate(preset("onnxruntime-s8s8"), Depth::States)),
                 std::string("LayerNormalization quantized, Gemm quantized, Relu fused, Gemm quantized, "
                             "LayerNormalization quantized, Transpose folded, "
                             "MatMul quantized"));
        const EvaluationPtr result = session->evaluate(preset("default"), Depth::Metrics);
        for (const LayerResult& layer : result->layers)
            if (layer.state == LayerState::Quantized)
                QVERIFY2(layer.local && layer.cumulative && layer.local->qs > 0, layer.name.c_str());
        QVERIFY(*result->quantized->sqnrDb > 20);
    }

    /// The codes of a weight that two layers share are written once.
    void sharedCodesAreWrittenOnce() {
        const auto session = sessionOn(sharedWeights());
        const GraphPtr quantized = session->quantizedModel(preset("default"));
        std::set<TensorId> codes;
        std::size_t readers = 0;
        for (const Node& node : quantized->nodes()) {
            const Constant* constant =
                node.op == "DequantizeLinear" ? quantized->constantOf(node.input(0)) : nullptr;
            if (constant == nullptr || constant->dims() != Dims{12, 12}) continue;
            codes.insert(node.input(0));
            ++readers;
        }
        QCOMPARE(readers, std::size_t(2));
        QCOMPARE(codes.size(), std::size_t(1));
    }

    void recurrentLayersAreQuantized() {
        for (const auto& [op, gates] : {std::pair("LSTM", 4), {"GRU", 3}, {"RNN", 1}}) {
            const auto session = sessionOn(recurrent(op, gates, ""));
            const EvaluationPtr result = session->evaluate(preset("default"), Depth::Metrics);
            QCOMPARE(
                statesOf(*result),
                fmt::format("Transpose float, {} quantized, Transpose float, Reshape float, MatMul quantized",
                            op));
            QVERIFY(result->layers[1].local && result->layers[1].local->qs > 0);
            QVERIFY(*result->quantized->sqnrDb > 20 && *result->quantized->sqnrDb < 80);
            QVERIFY(result->layers[1].macs > 0);
            const EvaluationPtr imitated = session->evaluate(preset("onnxruntime-s8s8"), Depth::States);
            QCOMPARE(imitated->layers[1].state, LayerState::Float);
            QCOMPARE(imitated->layers[1].reason,
                     std::string("ONNX Runtime's quantize_static leaves recurrent layers in float"));
        }
    }

    void equalsOnnxRuntime_data() {
        QTest::addColumn<std::string>("model");
        QTest::addColumn<std::string>("preset");
        for (const char* name : {"default", "onnxruntime-s8s8", "w4a8", "aimet-default", "quark-a8w8"})
            QTest::addRow("shared weights, %s", name) << sharedWeights() << std::string(name);
        QTest::newRow("LSTM") << recurrent("LSTM", 4, "") << std::string("default");
        QTest::newRow("GRU") << recurrent("GRU", 3, ", linear_before_reset = 1") << std::string("default");
        QTest::newRow("RNN") << recurrent("RNN", 1, "") << std::string("default");
    }
    void equalsOnnxRuntime() {
        QUANTLOUPE_NEEDS_ONNXRUNTIME;
        QFETCH(std::string, model);
        QFETCH(std::string, preset);
        QTemporaryDir folder;
        const auto session = sessionOn(model);
        QuantizationConfig config = ::preset(preset.c_str());
        config.transforms.equalization.excludeSkipped = false;
        const VerifySource source =
            prepareVerification(*session, config, folder.path().toStdString() + "/quantized.onnx");
        const Verification result =
            verify(source, qEnvironmentVariable("QUANTLOUPE_PYTHON", "python3").toStdString());
        float largest = 0;
        for (const float value : source.outputs.at(0).ours->floats())
            largest = std::max(largest, std::fabs(value));
        qInfo("largest difference %g of %g; the same class in %g", result.plain.maxAbsDiff, double(largest),
              result.plain.agreement);
        // A value on the border between two codes can be rounded to either.
        QVERIFY(result.plain.maxAbsDiff <= 0.02 * double(largest));
        QVERIFY(result.plain.agreement >= 0.98);
        QVERIFY2(whyVerificationFailed(result).empty(), whyVerificationFailed(result).c_str());
    }

    void optimizedModelsAreTheSame_data() {
        QTest::addColumn<QString>("node");
        QTest::addColumn<int>("biasBits");
        QTest::newRow("biases with 16 bits")
            << "p = MaxPool<kernel_shape = [2, 2], strides = [2, 2]>(r)" << 16;
        QTest::newRow("Dropout before a pool")
            << "d, mask = Dropout(r) p = MaxPool<kernel_shape = [2, 2], strides = [2, 2]>(d)" << 32;
        QTest::newRow("AveragePool with dilations of 1")
            << "p = AveragePool<kernel_shape = [2, 2], strides = [2, 2], dilations = [1, 1]>(r)" << 32;
    }
    /// ONNX Runtime loads the model at its default level, and its optimizations change the outputs by much
    /// less than quantization does.
    void optimizedModelsAreTheSame() {
        QUANTLOUPE_NEEDS_ONNXRUNTIME;
        QFETCH(QString, node);
        QFETCH(int, biasBits);
        std::mt19937 random(14);
        const auto session = sessionOn(fmt::format(
            R"(<ir_version: 10, opset_import: ["" : 21]> g (float[N,3,8,8] x) => (float[N,5] y)
            <float[4,3,3,3] w = {}, float[4] b = {}, float[5,4,1,1] v = {}, float[5] c = {}> {{
                a = Conv<pads = [1, 1, 1, 1]>(x, w, b) r = Relu(a) {} z = Conv(p, v, c)
                m = GlobalAveragePool(z) y = Flatten(m) }})",
            floats(random, 108), floats(random, 4), floats(random, 20), floats(random, 5),
            node.toStdString()));
        QuantizationConfig config = preset("default");
        config.quantization.biasBits = biasBits;
        // Without VNNI, the sums of two products of 8 bits saturate in ONNX Runtime's optimized kernels.
        config.quantization.weight.bits = 7;
        QTemporaryDir folder;
        const VerifySource source =
            prepareVerification(*session, config, folder.path().toStdString() + "/quantized.onnx");
        const Verification result =
            verify(source, qEnvironmentVariable("QUANTLOUPE_PYTHON", "python3").toStdString());
        QVERIFY2(whyVerificationFailed(result).empty(), whyVerificationFailed(result).c_str());
        QVERIFY(result.optimized);
        QVERIFY2(result.optimized->maxAbsDiff < 0.05,
                 qPrintable(QString::number(result.optimized->maxAbsDiff)));
    }

    /// 64 samples do not fill batches of 5, and only the second output can be compared.
    void modelsWithFixedBatchesAreVerified() {
        QUANTLOUPE_NEEDS_ONNXRUNTIME;
        std::mt19937 random(11);
        const auto session = sessionOn(fmt::format(
            R"(<ir_version: 8, opset_import: ["" : 13]> g (float[5,8] x) => (int64[5,1] i, float[5,4] y)
            <float[8,4] w = {}> {{ y = MatMul(x, w) i = ArgMax<axis = 1>(y) }})",
            floats(random, 32)));
        QTemporaryDir folder;
        const VerifySource source =
            prepareVerification(*session, preset("default"), folder.path().toStdString() + "/quantized.onnx");
        QCOMPARE(source.outputs.size(), std::size_t{1});
        QCOMPARE(source.outputs.at(0).position, std::size_t{1});
        const Verification result =
            verify(source, qEnvironmentVariable("QUANTLOUPE_PYTHON", "python3").toStdString());
        QCOMPARE(result.samples, std::size_t{64});
        QVERIFY2(whyVerificationFailed(result).empty(), whyVerificationFailed(result).c_str());
        QVERIFY2(result.plain.maxAbsDiff < 1e-6, qPrintable(QString::number(result.plain.maxAbsDiff)));
    }

    /// Inputs and outputs whose samples are in the second dimension, and a number that all samples share.
    void samplesInOtherDimensionsAreVerified() {
        QUANTLOUPE_NEEDS_ONNXRUNTIME;
        std::mt19937 random(15);
        const auto session = sessionOn(fmt::format(
            R"(<ir_version: 8, opset_import: ["" : 13]> g (float[5,batch,3] x, float[1,batch,4] h, float gain) =>
            (float[5,batch,4] y)
            <float[3,4] w = {}> {{ m = MatMul(x, w) a = Mul(h, gain) y = Add(m, a) }})",
            floats(random, 12)));
        QTemporaryDir folder;
        const VerifySource source =
            prepareVerification(*session, preset("default"), folder.path().toStdString() + "/quantized.onnx");
        QCOMPARE(source.outputs.at(0).ours->dims(), (Dims{5, 64, 4}));
        const Verification result =
            verify(source, qEnvironmentVariable("QUANTLOUPE_PYTHON", "python3").toStdString());
        QVERIFY2(whyVerificationFailed(result).empty(), whyVerificationFailed(result).c_str());
        QVERIFY(result.notCompared.empty() && !result.classifies);
        QVERIFY2(result.plain.maxAbsDiff < 0.1, qPrintable(QString::number(result.plain.maxAbsDiff)));
    }

    /// A file with other weights: the only column of the first output has no classes, and the second output
    /// differs.
    void wrongFilesAreNotVerified() {
        QUANTLOUPE_NEEDS_ONNXRUNTIME;
        std::mt19937 random(12);
        const auto network = [&] {
            return fmt::format(
                R"(<ir_version: 8, opset_import: ["" : 13]> g (float[N,8] x) => (float[N,1] y, float[N,4] z)
                <float[8,1] v = {}, float[8,4] w = {}> {{ y = MatMul(x, v) z = MatMul(x, w) }})",
                floats(random, 8), floats(random, 32));
        };
        const auto right = sessionOn(network()), wrong = sessionOn(network());
        QTemporaryDir folder;
        const std::string path = folder.path().toStdString() + "/quantized.onnx";
        const VerifySource source = prepareVerification(*right, preset("default"), path);
        const std::string python = qEnvironmentVariable("QUANTLOUPE_PYTHON", "python3").toStdString();
        QCOMPARE(whyVerificationFailed(verify(source, python)), std::string());
        saveModel(*wrong->quantizedModel(preset("default")), path);
        const QString why = QString::fromStdString(whyVerificationFailed(verify(source, python)));
        QVERIFY2(why.contains("'y' by up to") && why.contains("'z' by up to"), qPrintable(why));
    }

    /// ONNX Runtime's optimizer must not build operators for which it has no kernel.
    void activationsOfFewBitsRunOptimized_data() {
        QTest::addColumn<int>("weights");
        QTest::addColumn<int>("activations");
        QTest::addColumn<bool>("isSigned");
        for (const int weights : {4, 8})
            for (const int activations : {2, 3, 4})
                for (const bool isSigned : {false, true})
                    QTest::addRow("w%da%d, %s", weights, activations, isSigned ? "signed" : "unsigned")
                        << weights << activations << isSigned;
    }
    void activationsOfFewBitsRunOptimized() {
        QUANTLOUPE_NEEDS_ONNXRUNTIME;
        QFETCH(int, weights);
        QFETCH(int, activations);
        QFETCH(bool, isSigned);
        std::mt19937 random(19);
        const auto session = sessionOn(fmt::format(
            R"(<ir_version: 8, opset_import: ["" : 13]> g (float[N,2,6,6] x) => (float[N,4] y)
            <float[4,2,3,3] w = {}, float[4,4,1,1] v = {}, float[36,4] f = {}> {{
                a = Conv<kernel_shape = [3, 3], pads = [1, 1, 1, 1]>(x, w)
                r = Relu(a)
                p = MaxPool<kernel_shape = [2, 2], strides = [2, 2]>(r)
                c = Conv(p, v)
                s = Add(c, p)
                n = Flatten(s)
                y = MatMul(n, f)
            }})",
            floats(random, 72), floats(random, 16), floats(random, 144)));
        QuantizationConfig config = preset("default");
        config.quantization.weight.bits = weights;
        config.quantization.activation.bits = activations;
        config.quantization.activation.isSigned = isSigned;
        QTemporaryDir folder;
        const VerifySource source =
            prepareVerification(*session, config, folder.path().toStdString() + "/quantized.onnx");
        const Verification result =
            verify(source, qEnvironmentVariable("QUANTLOUPE_PYTHON", "python3").toStdString());
        QVERIFY2(whyVerificationFailed(result).empty(), whyVerificationFailed(result).c_str());
        QVERIFY(result.optimized && result.optimized->agreement >= 0.9);
    }

    /// ONNX Runtime has kernels for codes only from opset 11 or 12 on.
    void operatorsOfEarlierOpsetsRunOptimized_data() {
        QTest::addColumn<QString>("node");
        QTest::addColumn<int>("channels");
        QTest::addColumn<QString>("scheme");
        QTest::newRow("DepthToSpace") << "DepthToSpace<blocksize = 2>(a)" << 2 << "default";
        QTest::newRow("ReduceMax") << "ReduceMax<axes = [2]>(a)" << 8 << "default";
        QTest::newRow("ReduceMin") << "ReduceMin<axes = [2]>(a)" << 8 << "quark-xint8";
    }
    void operatorsOfEarlierOpsetsRunOptimized() {
        QUANTLOUPE_NEEDS_ONNXRUNTIME;
        QFETCH(QString, node);
        QFETCH(int, channels);
        QFETCH(QString, scheme);
        for (const int opset : {7, 9, 10, 11, 12}) {
            std::mt19937 random(20);
            const auto session = sessionOn(fmt::format(
                R"(<ir_version: 4, opset_import: ["" : {}]> g (float[N,2,4,4] x) => (float[N,2,h,w] y)
                <float[8,2,1,1] w = {}, float[2,{},1,1] v = {}> {{
                    a = Conv(x, w)
                    d = {}
                    y = Conv(d, v)
                }})",
                opset, floats(random, 16), channels, floats(random, 2 * channels), node.toStdString()));
            QTemporaryDir folder;
            const VerifySource source = prepareVerification(*session, preset(scheme.toStdString().c_str()),
                                                            folder.path().toStdString() + "/quantized.onnx");
            const Verification result =
                verify(source, qEnvironmentVariable("QUANTLOUPE_PYTHON", "python3").toStdString());
            const std::string why = whyVerificationFailed(result);
            QVERIFY2(why.empty(), fmt::format("opset {}: {}", opset, why).c_str());
        }
    }

    void verificationFailsIfTheModelDoesNotLoad() {
        Verification result;
        result.runtime = "ONNX Runtime 1.0.0";
        result.samples = 10;
        result.plain.agreement = 1;
        QVERIFY(whyVerificationFailed(result).empty());
        result.optimizedFailure = "no kernel";
        QCOMPARE(whyVerificationFailed(result),
                 std::string("ONNX Runtime 1.0.0 cannot run the model at its default optimization level: no "
                             "kernel"));
    }
};

QTEST_GUILESS_MAIN(ExportedModelsTest)
#include "exported_models_test.moc"
