// SPDX-License-Identifier: Apache-2.0
// Every scheme written as an ONNX file: the ONNX checker accepts it, and ONNX Runtime without optimizations
// computes the same as the simulation. Needs Python with onnx, onnxruntime, numpy and Pillow; skipped without
// it.
#include <QTemporaryDir>
#include <QtTest>

#include "base/error.h"
#include "config/config_json.h"
#include "config/presets.h"
#include "data/numpy_file.h"
#include "support/demo.h"
#include "support/python.h"
#include "support/signal_to_noise.h"
#include "support/text_model.h"

using namespace quantloupe;
namespace fs = std::filesystem;

class SchemeExportTest : public QObject {
    Q_OBJECT

    QTemporaryDir m_folder;
    fs::path m_images;

  private Q_SLOTS:
    void initTestCase() {
        if (!test::runsInPython({"-c", "import onnx, onnxruntime, numpy, PIL"}))
            QSKIP("Python with onnx, onnxruntime, numpy and Pillow is not available (QUANTLOUPE_PYTHON)");
        m_images =
            test::fewImages(test::demoFolder() / "val", fs::path(m_folder.path().toStdString()) / "val", 15);
    }

    /// When opened again, the file is evaluated unchanged and not quantized a second time.
    void readBack(const fs::path& file, const fs::path& model, const fs::path& demo, const Constant& theirs) {
        fs::copy_file(*preprocessBeside(model), fs::path(file).replace_extension("preprocess.json"),
                      fs::copy_options::overwrite_existing);
        const auto session = test::openSession(file, m_images, demo / "calibration");
        const ConstantPtr ours = session->outputs({}).at(0);
        QVERIFY(test::sqnrDb(theirs.floats(), ours->floats()) >= 30);
        const EvaluationPtr states = session->evaluate({}, Depth::States);
        QVERIFY(states->counts.quantized > 0);
        QCOMPARE(states->counts.skipped, std::size_t(0));
        QVERIFY_EXCEPTION_THROWN(session->quantizedModel({}), Error);
    }

    void schemes_data() {
        QTest::addColumn<QStringList>("keys");
        QTest::addColumn<int>("opset");
        const auto row = [](const char* name, const QStringList& keys, int opset) {
            QTest::newRow(name) << keys << opset;
        };
        row("activations of 16 bits", {"quantization.activation.bits=16"}, 21);
        row("activations of 6 bits",
            {"quantization.activation.bits=6", "quantization.weight.per_channel=true"}, 13);
        row("unsigned activations of 12 bits",
            {"quantization.activation.bits=12", "quantization.activation.signed=false"}, 21);
        row("symmetric unsigned activations",
            {"quantization.activation.symmetric=true", "quantization.activation.signed=false"}, 13);
        row("affine weights", {"quantization.weight.symmetric=false"}, 13);
        row("affine unsigned weights of 4 bits per channel",
            {"quantization.weight.symmetric=false", "quantization.weight.signed=false",
             "quantization.weight.bits=4", "quantization.weight.per_channel=true"},
            21);
        row("weights of 4 bits", {"quantization.weight.bits=4"}, 21);
        row("weights of 3 bits, all codes, in 8",
            {"quantization.weight.bits=3", "quantization.weight.method=full_span",
             "quantization.weight.per_channel=true", "export.four_bit_types=false"},
            13);
        row("float weights", {"export.float_weights=true"}, 13);
        row("float weights of 4 bits, clipped, one layer of 16",
            {"export.float_weights=true", "quantization.weight.bits=4", "quantization.weight.method=mse",
             "quantization.weight.per_channel=true",
             "layers./features/features.17/conv/conv.2/Conv.weight.bits=16",
             "layers./features/features.4/conv/conv.2/Conv.bias_bits=8"},
            21);
        row("unsigned activations of 4 and 3 bits",
            {"quantization.activation.signed=false", "layers./features/features.3/Add.activation.bits=4",
             "layers./features/features.5/Add.activation.bits=3"},
            13);
        row("Quark's NPU, unequalized",
            {"quantization.operators=quark", "transforms.npu_operators.average_pool=true",
             "quantization.activation.symmetric=true", "quantization.activation.signed=false",
             "quantization.weight.power_of_two=true", "quantization.bias_bits=8",
             "calibration.method=power_of_two_non_overflow", "quantization.npu_positions.align_pool=true",
             "quantization.npu_positions.adjust_shift_cut=true",
             "quantization.npu_positions.adjust_shift_bias=true"},
            13);
        row("weights of 16 bits", {"quantization.weight.bits=16"}, 21);
        row("full range", {"quantization.weight.restricted=false", "quantization.weight.per_channel=true"},
            13);
        row("ARQ",
            {"quantization.weight.method=arq", "quantization.weight.per_channel=true",
             "calibration.method=ifmr"},
            13);
        row("powers of two, bias of 8 bits",
            {"quantization.weight.power_of_two=true", "quantization.weight.method=mse",
             "quantization.activation.symmetric=true", "quantization.activation.signed=false",
             "calibration.method=power_of_two_min_mse", "quantization.bias_bits=8"},
            13);
        row("most common power of two, bias of 16 bits",
            {"quantization.weight.power_of_two=true", "quantization.activation.symmetric=true",
             "calibration.method=power_of_two_min_mse", "calibration.parameters.mode=most_common",
             "quantization.bias_bits=16"},
            13);
        row("float bias", {"quantization.bias_bits=float", "calibration.method=mse"}, 13);
        row("powers of two from HFMG",
            {"quantization.activation.power_of_two=true", "calibration.method=hfmg"}, 13);
        row("biases corrected without data",
            {"refine.bias_correction=analytic", "quantization.weight.bits=5"}, 13);
        row("learned rounding and corrected biases",
            {"refine.rounding=adaround", "refine.bias_correction=empirical", "quantization.weight.bits=5",
             "calibration.samples=8"},
            13);
        row("inputs of layers with weights alone, as AMCT",
            {"quantization.placement=weighted_inputs", "quantization.weight.method=arq",
             "quantization.weight.restricted=false", "quantization.weight.per_channel=true",
             "quantization.weight.per_channel_products=false", "calibration.method=ifmr"},
            13);
        row("inputs alone, some in float and of 4 bits",
            {"quantization.placement=weighted_inputs",
             "layers./features/features.3/conv/conv.2/Conv.quantize=false",
             "layers./features/features.4/conv/conv.0/conv.0.0/Conv.activation.bits=4"},
            13);
        row("simplified", {"transforms.simplify=true"}, 13);
        row("mixed",
            {"layers./features/features.17/conv/conv.2/Conv.weight.bits=16",
             "layers./features/features.3/Add.activation.bits=4",
             "layers./features/features.0/features.0.0/Conv.calibration.method=tf_enhanced",
             "layers./features/features.2/conv/conv.2/Conv.bias_bits=8",
             "layers./features/features.4/conv/conv.2/Conv.weight.symmetric=false"},
            21);
    }
    void schemes() {
        QFETCH(QStringList, keys);
        QFETCH(int, opset);
        QuantizationConfig config = presetConfig("w4a8");
        config.quantization.weight.bits = 8;
        config.calibration.samples = 16;
        for (const QString& key : keys)
            setConfigKey(config, key.section('=', 0, 0).toStdString(), key.section('=', 1).toStdString());
        const auto demo = test::demoFolder();
        const auto model = demo / "mobilenetv2_cifar10.onnx";
        const auto session = test::openSession(model, m_images, demo / "calibration");
        const fs::path file = m_folder.path().toStdString() + "/quantized.onnx";
        const GraphPtr written = session->quantizedModel(config);
        QCOMPARE(written->opset(), std::int64_t(opset));
        saveModel(*written, file);
        const QString path = QString::fromStdString(file.string());
        const fs::path output = m_folder.path().toStdString() + "/outputs.npz";
        QVERIFY(test::runsInPython(
            {"-c",
             "import onnx, runpy, sys\n"
             "onnx.checker.check_model(sys.argv[2], full_check=True)\n"
             "del sys.argv[0]\n"
             "runpy.run_path(sys.argv[0], run_name='__main__')\n",
             QStringLiteral(QUANTLOUPE_SOURCE_DIR "/tests/integration/run_onnxruntime.py"), path,
             QString::fromStdString(preprocessBeside(model)->string()),
             QString::fromStdString(m_images.string()), QString::fromStdString(output.string())}));
        const ConstantPtr theirs = loadNpz(output).at("outputs"), ours = session->outputs(config).at(0);
        QCOMPARE(toString(ours->dims()), toString(theirs->dims()));
        const double sqnr = test::sqnrDb(theirs->floats(), ours->floats());
        const auto width = static_cast<std::size_t>(ours->dims()[1]),
                   rows = static_cast<std::size_t>(ours->dims()[0]);
        std::size_t same = 0;
        for (std::size_t r = 0; r < rows; ++r) {
            const auto best = [&](const Constant& values) {
                const auto row = values.floats().subspan(r * width, width);
                return std::ranges::max_element(row) - row.begin();
            };
            same += best(*ours) == best(*theirs);
        }
        qInfo("ONNX Runtime agrees on %zu of %zu images, %.1f dB", same, rows, sqnr);
        QVERIFY(same + 3 >= rows);
        QVERIFY(sqnr >= 30);
        // One with every type, one with an axis, one with scales of powers of two, one with int4, one with
        // float weights: reading back takes as long as all the rest.
        if (const QByteArray tag = QTest::currentDataTag();
            tag == "mixed" || tag == "full range" || tag.startsWith("powers of two, bias") ||
            tag == "weights of 4 bits" || tag.startsWith("float weights of 4 bits"))
            readBack(file, model, demo, *theirs);
    }
};

QTEST_GUILESS_MAIN(SchemeExportTest)
#include "scheme_export_test.moc"
