// SPDX-License-Identifier: Apache-2.0
// Runs the exports in the tools that they are for. Each tool is large and needs specific package versions, so
// each has its own Python environment; the files of requirements explain the installation. Without an
// environment the test is skipped.
#include <QProcess>
#include <QTemporaryDir>
#include <QtTest>
#include <nlohmann/json.hpp>

#include "base/input_file.h"
#include "data/numpy_file.h"
#include "support/demo.h"
#include "support/export_support.h"
#include "support/run_cli.h"

using namespace quantloupe;
using namespace quantloupe::test;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

constexpr const char* kSkipped = "/features/features.0/features.0.0/Conv";

struct Tool {
    const char* variable;
    const char* module;
    const char* requirements;
};
constexpr Tool kAimet = {"QUANTLOUPE_AIMET_PYTHON", "aimet_onnx", "packaging/foreign-tools/aimet.txt"};
constexpr Tool kQuark = {"QUANTLOUPE_QUARK_PYTHON", "quark", "packaging/foreign-tools/quark.txt"};
constexpr Tool kNncf = {"QUANTLOUPE_NNCF_PYTHON", "nncf", "packaging/foreign-tools/nncf.txt"};
constexpr Tool kTpuMlir = {"QUANTLOUPE_TPU_MLIR_PYTHON", "tpu_mlir", "packaging/foreign-tools/tpu_mlir.txt"};
constexpr Tool kRknn = {"QUANTLOUPE_RKNN_PYTHON", "rknn", "packaging/foreign-tools/rknn.txt"};

Outcome runTool(const QString& program, const QStringList& arguments, const QString& folder = {}) {
    return runProgram(program, arguments, folder, {}, 1500);
}

/// Returns the Python set for the tool, else the general one if it has the tool, else an empty string.
QString pythonWith(const Tool& tool) {
    if (qEnvironmentVariableIsSet(tool.variable)) return qEnvironmentVariable(tool.variable);
    const QString general = qEnvironmentVariable("QUANTLOUPE_PYTHON", QStringLiteral("python3"));
    const QString look =
        QStringLiteral("import importlib.util, sys; sys.exit(importlib.util.find_spec('%1') is None)")
            .arg(tool.module);
    return runTool(general, {"-c", look}).code == 0 ? general : QString();
}

QByteArray howToGet(const Tool& tool) {
    return QStringLiteral("no Python with %1: see %2, then set %3")
        .arg(tool.module, tool.requirements, tool.variable)
        .toUtf8();
}

QString script(const char* name) {
    return QStringLiteral(QUANTLOUPE_SOURCE_DIR "/tests/integration/foreign_tools/") + name;
}
QString text(const fs::path& path) { return QString::fromStdString(path.string()); }

std::vector<int> classesOf(const Constant& values) {
    const std::size_t rows = static_cast<std::size_t>(values.dims()[0]),
                      width = values.floats().size() / rows;
    std::vector<int> classes;
    for (std::size_t r = 0; r < rows; ++r) {
        const auto row = values.floats().subspan(r * width, width);
        classes.push_back(static_cast<int>(std::max_element(row.begin(), row.end()) - row.begin()));
    }
    return classes;
}

}  // namespace

class ForeignToolsTest : public QObject {
    Q_OBJECT

  private:
    QTemporaryDir m_folder;
    fs::path m_model = demoFolder() / "mobilenetv2_cifar10.onnx";
    /// A thousand images: half a point of the demo's five hundred is only two images.
    fs::path m_images = assets() / "data/cifar10";

    QString file(const QString& name) const { return m_folder.filePath(name); }
    fs::path evaluation() const { return m_images / "val"; }
    fs::path calibration() const { return m_images / "calibration"; }
    QStringList data() const {
        return {"--data", text(evaluation()), "--calibration-data", text(calibration())};
    }

    DatasetPtr images(std::size_t count) const {
        const DatasetPtr all = openDataset(evaluation(), inputSpecsOf(*loadModel(m_model).graph),
                                           loadPreprocess(*preprocessBeside(m_model)));
        return subset(all, spreadEvenly(all->size(), count));
    }
    /// Inputs as arrays for the other program, which does not preprocess images.
    QString inputsOf(const Dataset& samples) const {
        std::vector<std::byte> bytes;
        SampleTensor one;
        for (std::size_t i = 0; i < samples.size(); ++i) {
            one = samples.sample(i).at(0);
            bytes.insert(bytes.end(), one.bytes.begin(), one.bytes.end());
        }
        Dims dims = one.dims;
        dims.insert(dims.begin(), static_cast<std::int64_t>(samples.size()));
        const QString path = file("inputs.npz");
        saveNpz({{inputSpecsOf(*loadModel(m_model).graph).at(0).name,
                  Constant::fromBytes(one.type, dims, std::move(bytes))}},
                path.toStdString());
        return path;
    }
    static double top1(const std::vector<int>& classes, const Dataset& samples) {
        std::size_t right = 0;
        for (std::size_t i = 0; i < classes.size(); ++i) right += classes[i] == samples.label(i);
        return double(right) / double(classes.size());
    }
    static double agreement(const std::vector<int>& a, const std::vector<int>& b) {
        std::size_t same = 0;
        for (std::size_t i = 0; i < a.size(); ++i) same += a[i] == b.at(i);
        return double(same) / double(a.size());
    }
    /// Returns an empty result and reports the failure if it fails.
    std::vector<int> classesOfFile(const QString& path, const char* array = "outputs") const {
        const auto arrays = loadNpz(path.toStdString());
        return classesOf(*(array == nullptr ? arrays.begin()->second : arrays.at(array)));
    }
    /// Returns the preview's outputs for the samples.
    std::vector<int> preview(const QStringList& how, std::size_t samples) {
        const Outcome run = runCli(QStringList{"run", text(m_model), "--quantized", "--samples",
                                               QString::number(samples), "-o", file("preview.npz")} +
                                   data() + how);
        if (run.code != 0) qWarning("%s", run.text().constData());
        return run.code == 0 ? classesOfFile(file("preview.npz"), nullptr) : std::vector<int>{};
    }

  private Q_SLOTS:
    // QConfig.from_dict came with Quark 0.12; the pinned version quantizes by the script.
    void quarkReadsTheJson() {
        const QString python = pythonWith(kQuark);
        if (python.isEmpty()) QSKIP(howToGet(kQuark).constData());
        const QString place = file("json.quark.py"), settings = file("json.quark.qconfig.json");
        const Outcome exported = runCli({"export", text(m_model), "--preset", "quark-seed", "--skip",
                                         kSkipped, "--to", "quark", "-o", place});
        QVERIFY2(exported.code == 0, exported.text());
        const Outcome read = runTool(python,
                                     {"-c", R"(
import json, sys
from quark.onnx import QConfig
if not hasattr(QConfig, "from_dict"): sys.exit(7)
print("READ", json.dumps(QConfig.from_dict(json.load(open(sys.argv[1]))).to_dict()))
)",
                                      settings},
                                     m_folder.path());
        if (read.code == 7) QSKIP("this Quark is older than 0.12 and has no QConfig.from_dict");
        QVERIFY2(read.code == 0, read.text());
        const auto config = nlohmann::json::parse(read.out.mid(read.out.indexOf("READ ") + 5).toStdString());
        QVERIFY(config["global_config"]["input_tensors"]["scale_type"] == "ScaleType.PowerOf2");
        QVERIFY(config["exclude"].dump().find(kSkipped) != std::string::npos);
        QVERIFY(config["algo_config"][0]["name"] == "cle");
    }

    void aimetLoadsTheEncodings_data() {
        QTest::addColumn<QString>("ending");
        QTest::addColumn<QStringList>("how");
        const QStringList one = {"--preset", "aimet-default", "--skip", kSkipped};
        QTest::newRow("1.0.0, a layer in float") << QString(".encodings") << one;
        QTest::newRow("0.6.1, a layer in float") << QString(".0.6.1.encodings") << one;
        QTest::newRow("2.0.0, a layer in float") << QString(".2.0.0.encodings") << one;
        QTest::newRow("1.0.0, a stretch in float")
            << QString(".encodings")
            << QStringList{"--preset",     "aimet-default",
                           "--skip-until", "/features/features.2/conv/conv.0/conv.0.0/Conv",
                           "--to",         "/features/features.3/Add"};
        QTest::newRow("equalized, tail in float")
            << QString(".encodings")
            << QStringList{"--preset", "aimet-tf-enhanced", "--cle", "aimet", "--replace-relu6",
                           "all",      "--skip-tail"};
    }
    void aimetLoadsTheEncodings() {
        const QString python = pythonWith(kAimet);
        if (python.isEmpty()) QSKIP(howToGet(kAimet).constData());
        QFETCH(QString, ending);
        QFETCH(QStringList, how);
        constexpr std::size_t kSamples = 200;
        const Outcome written =
            runCli(QStringList{"export", text(m_model), "--to", "aimet", "-o", file("tuned.encodings")} +
                   data() + how);
        QVERIFY2(written.code == 0, written.text());
        const DatasetPtr samples = images(kSamples);
        const Outcome run = runTool(python, {script("run_aimet.py"), file("tuned.load.py"),
                                             file("tuned" + ending), inputsOf(*samples), file("aimet.npz")});
        QVERIFY2(run.code == 0, run.text());
        // Exactly the tensors with an entry, and those tied to one, have an enabled quantizer.
        const json said = json::parse(run.out.mid(run.out.lastIndexOf("{\"enabled\"")).toStdString());
        const json entries = json::parse(readFile(file("tuned.encodings").toStdString()));
        std::set<std::string> wanted;
        for (const char* key : {"activation_encodings", "param_encodings"})
            for (const json& entry : entries[key]) wanted.insert(entry["name"].get<std::string>());
        std::set<std::string> enabled;
        for (const auto& item : said["enabled"].items()) {
            enabled.insert(item.key());
            const bool known = std::any_of(item.value().begin(), item.value().end(),
                                           [&](const json& name) { return wanted.contains(name); });
            QVERIFY2(known, item.key().c_str());
        }
        std::vector<std::string> unused;
        for (const std::string& name : wanted)
            // AIMET does not quantize Flatten: the entry for it in 2.0.0 is ignored, because its input has
            // the same scale.
            if (!enabled.contains(name) && !(ending == ".2.0.0.encodings" && name == "/Flatten_output_0"))
                unused.push_back(name);
        QVERIFY2(unused.empty(), joined(unused).c_str());

        const std::vector<int> theirs = classesOfFile(file("aimet.npz")), ours = preview(how, kSamples);
        QCOMPARE(ours.size(), kSamples);
        const double same = agreement(ours, theirs);
        qInfo("AIMET: %.2f %% of %zu images get the same class; top-1 %.4f here, %.4f there", 100 * same,
              kSamples, top1(ours, *samples), top1(theirs, *samples));
        QCOMPARE(same, 1.0);
    }

    void quarksScriptRuns_data() {
        QTest::addColumn<QStringList>("how");
        QTest::newRow("XINT8") << QStringList{"--preset", "quark-xint8"};
        QTest::newRow("its example of equalization") << QStringList{"--preset", "quark-seed"};
        QTest::newRow("A8W8") << QStringList{"--preset", "quark-a8w8"};
        QTest::newRow("A8W8, a layer in float") << QStringList{"--preset", "quark-a8w8", "--skip", kSkipped};
        QTest::newRow("A8W8, equalized here")
            << QStringList{"--preset", "quark-a8w8", "--cle", "aimet", "--replace-relu6", "all"};
    }
    void quarksScriptRuns() {
        const QString python = pythonWith(kQuark);
        if (python.isEmpty()) QSKIP(howToGet(kQuark).constData());
        QFETCH(QStringList, how);
        runScript("quark", python, how, 0.01);
    }

    void nncfsScriptRuns() {
        const QString python = pythonWith(kNncf);
        if (python.isEmpty()) QSKIP(howToGet(kNncf).constData());
        // The tool chooses its own scales and quantizer positions: checks only that it runs and which layers
        // stay in float.
        runScript("nncf", python,
                  {"--preset", "onnxruntime-u8s8", "--skip", kSkipped, "--skip-until",
                   "/features/features.2/conv/conv.0/conv.0.0/Conv", "--to", "/features/features.3/Add"},
                  0.02);
    }

    void tpuMlirReadsTheTable() {
        const QString python = pythonWith(kTpuMlir);
        if (python.isEmpty()) QSKIP(howToGet(kTpuMlir).constData());
        const json types = mixedPrecisionIn("tpu-mlir", python, "run_tpu_mlir.py");
        if (QTest::currentTestFailed()) return;
        std::map<std::string, std::set<std::string>> byType;
        for (const auto& item : types.items()) byType[item.value()].insert(item.key());
        // A convolution has the name of the activation that is fused into it. The last convolution of block
        // 17 is merged into that of block 18.
        QCOMPARE(
            byType["f32"],
            (std::set<std::string>{"/features/features.0/features.0.2/Clip_output_0_Clip",
                                   "/features/features.18/features.18.2/Clip_output_0_Clip", "logits_Gemm"}));
        QCOMPARE(byType["f16"],
                 (std::set<std::string>{"/features/features.2/conv/conv.1/conv.1.2/Clip_output_0_Clip",
                                        "/features/features.3/Add_output_0_Add"}));
        QVERIFY2(byType["u8"].size() + byType["i8"].size() >= 50, types.dump().c_str());
    }

    void rknnReadsTheFile() {
        const QString python = pythonWith(kRknn);
        if (python.isEmpty()) QSKIP(howToGet(kRknn).constData());
        const json types = mixedPrecisionIn("rknn", python, "run_rknn.py");
        if (QTest::currentTestFailed()) return;
        std::map<std::string, std::set<std::string>> byType;
        for (const auto& item : types.items()) byType[item.value()].insert(item.key());
        QCOMPARE(byType["FLOAT16"],
                 (std::set<std::string>{"features.0.0.weight_folded", "features.2.conv.1.0.weight_folded",
                                        "features.17.conv.2.weight_folded", "classifier.1.weight"}));
        QVERIFY2(byType["INT8"].size() >= 45, types.dump().c_str());
    }

  private:
    /// Compiles the demo in W8A8 with five layers in float32 or float16 (one is the tail) and returns what
    /// the script prints.
    json mixedPrecisionIn(const char* format, const QString& python, const char* with) {
        const QString place = file(QStringLiteral("%1.list").arg(format));
        const Outcome written =
            runCli(QStringList{"export", text(m_model), "--to", format, "-o", place, "--precision",
                               QStringLiteral("%1=float32").arg(kSkipped), "--precision",
                               "/features/features.2/conv/conv.1/conv.1.0/Conv=float16", "--precision",
                               "/features/features.3/Add=float16", "--precision",
                               "/features/features.17/conv/conv.2/Conv=float32"} +
                   data());
        if (written.code != 0) {
            QTest::qFail(written.text(), __FILE__, __LINE__);
            return {};
        }
        const Outcome run =
            runTool(python, {script(with), file(QStringLiteral("%1.float.onnx").arg(format)), place,
                             inputsOf(*images(8)), file(QStringLiteral("%1.folder").arg(format))});
        if (run.code != 0) QTest::qFail(run.text(), __FILE__, __LINE__);
        return run.code == 0 ? json::parse(run.out.mid(run.out.lastIndexOf("\n{") + 1).toStdString())
                             : json();
    }

    void runScript(const char* format, const QString& python, const QStringList& how, double apart) {
        const Outcome written = runCli(
            QStringList{"export", text(m_model), "--to", format, "-o", file("tuned.py")} + data() + how);
        QVERIFY2(written.code == 0, written.text());
        const Outcome run =
            runTool(python, {file("tuned.py"), "--data", text(calibration())}, m_folder.path());
        QVERIFY2(run.code == 0, run.text());
        const DatasetPtr samples = images(0);
        const Outcome ran = runTool(python, {script("run_model.py"), file("tuned.quantized.onnx"),
                                             inputsOf(*samples), file("theirs.npz")});
        QVERIFY2(ran.code == 0, ran.text());
        const std::vector<int> theirs = classesOfFile(file("theirs.npz")),
                               ours = preview(how, samples->size());
        QCOMPARE(ours.size(), samples->size());
        const double here = top1(ours, *samples), there = top1(theirs, *samples);
        qInfo("%s: top-1 on %zu images %.4f here, %.4f by the script's model; the same class for %.2f %%",
              format, ours.size(), here, there, 100 * agreement(ours, theirs));
        QVERIFY(std::abs(here - there) <= apart + 1e-9);
        if (!how.contains("--skip")) return;
        // The excluded layer exists in float: its weight is not a dequantized constant.
        const GraphPtr quantized = loadModel(file("tuned.quantized.onnx").toStdString()).graph;
        std::size_t floating = 0;
        for (const Node& node : quantized->nodes()) {
            if (node.op != "Conv") continue;
            const NodeId before = quantized->tensor(node.inputs.at(1)).producer;
            floating +=
                !before.valid() || quantized->node(before).op.find("DequantizeLinear") == std::string::npos;
        }
        qInfo("%zu convolutions in float", floating);
        QVERIFY(floating >= 1);
        QVERIFY(floating <= (how.contains("--skip-until") ? 8u : 1u));
    }
};

QTEST_GUILESS_MAIN(ForeignToolsTest)
#include "foreign_tools_test.moc"
