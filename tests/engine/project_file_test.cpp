// SPDX-License-Identifier: Apache-2.0
// Project files: everything is restored, relative paths move with the folder, and errors name their cause.
#include "session/project/project_file.h"

#include <QTemporaryDir>
#include <QtTest>
#include <limits>
#include <nlohmann/json.hpp>

#include "base/atomic_file.h"
#include "support/errors.h"
#include "support/text_model.h"

using namespace quantloupe;
using test::errorOf;
namespace fs = std::filesystem;

namespace {

MeasuredConfig measured(const std::string& version, int bits) {
    MeasuredConfig entry;
    entry.version = version;
    entry.config.quantization.weight.bits = bits;
    entry.change = "Weights of \xe2\x9c\x93 " + std::to_string(bits);
    entry.measuredAt = "2024-05-01T12:00:00Z";
    entry.seconds = 1.25;
    entry.floating.samples = entry.quantized.samples = 10;
    entry.floating.top1 = 0.9;
    entry.quantized.top1 = 0.7;
    entry.quantized.top1Interval = RateInterval{0.4, 0.9};
    entry.quantized.sqnrDb = std::numeric_limits<double>::infinity();
    entry.quantized.psnrDb = -std::numeric_limits<double>::infinity();
    entry.counts = {1, 2, 3, 4, 5};
    return entry;
}

Project project(const fs::path& folder) {
    const GraphPtr graph = test::textModel(R"(<ir_version: 8, opset_import: ["" : 13]>
        net (float[1,2] X) => (float[1,2] Y) { A = Relu(X) Y = Sigmoid(A) })")
                               .graph;
    Project result;
    result.model = folder / "models" / "net.onnx";
    result.modelVersion = graph->version();
    result.layers = layerSignatures(*graph);
    result.data = folder / "data";
    result.preprocess = Preprocess{};
    result.preprocess->mean = {0.5f, 0.25f, 0.125f};
    result.config.layers["Relu_0"].comment = "keep";
    result.history = {measured(std::string(32, 'a'), 8), measured(std::string(32, 'b'), 4)};
    result.history[0].otherModel = true;
    result.baseline = result.history[1].version;
    LatencyFile layers;
    layers.rows = {{"Relu_0", Precision::integer(4, 8), 0.5}, {"Cast_9", std::nullopt, 0.25}};
    LatencyFile whole{"Hailo", {}, 3.5, 100};
    result.latency = {{layers, std::nullopt, "a.csv"}, {whole, Precision::float16(), "b.csv"}};
    result.view = R"({"anything":[1,{"deep":true}]})";
    return result;
}

}  // namespace

class ProjectFileTest : public QObject {
    Q_OBJECT

  private:
    QTemporaryDir m_folder;
    fs::path folder() const { return m_folder.path().toStdString(); }

  private Q_SLOTS:
    void everythingRoundTrips() {
        const fs::path file = folder() / "work" / "a.quantloupe";
        fs::create_directories(file.parent_path());
        const Project saved = project(folder());
        saveProject(saved, file);
        const Project read = loadProject(file);
        QCOMPARE(read.model, saved.model);
        QCOMPARE(read.data, saved.data);
        QVERIFY(read.calibration.empty());
        QVERIFY(read.modelVersion == saved.modelVersion);
        QVERIFY(read.layers == saved.layers);
        QVERIFY(read.preprocess == saved.preprocess);
        QVERIFY(read.config == saved.config);
        QVERIFY(read.history[1].config == saved.history[1].config);
        QCOMPARE(read.latency[0].file.rows[1].ms, 0.25);
        QVERIFY(read.latency[0].file.rows[0].precision == Precision::integer(4, 8));
        QVERIFY(!read.latency[0].file.rows[1].precision);
        QCOMPARE(read.latency[1].file.networkMs, std::optional(3.5));
        QVERIFY(read.latency[1].precision == Precision::float16());
        QCOMPARE(read.history[1].quantized.sqnrDb.value(), std::numeric_limits<double>::infinity());
        QCOMPARE(read.history[1].quantized.psnrDb.value(), -std::numeric_limits<double>::infinity());
        QVERIFY(!read.history[1].quantized.top5);
        QCOMPARE(projectToJson(read, file), projectToJson(saved, file));
    }

    void pathsMoveWithTheFolder() {
        const std::string text = projectToJson(project("/home/ann/net"), "/home/ann/net/work/a.quantloupe");
        const Project moved = projectFromJson(text, "/mnt/disk/work/a.quantloupe");
        QCOMPARE(moved.model, fs::path("/mnt/disk/models/net.onnx"));
        QCOMPARE(moved.data, fs::path("/mnt/disk/data"));
        // Nothing in common but the root: the whole path.
        const std::string far = projectToJson(project("/home/ann/net"), "/mnt/a.quantloupe");
        QCOMPARE(projectFromJson(far, "/elsewhere/a.quantloupe").model,
                 fs::path("/home/ann/net/models/net.onnx"));
    }

    void errorsNameTheCause_data() {
        QTest::addColumn<QString>("pointer");
        QTest::addColumn<QString>("value");
        QTest::addColumn<QString>("mentions");
        const auto row = [](const char* pointer, const char* value, const char* mentions) {
            QTest::newRow(mentions) << pointer << value << mentions;
        };
        row("/quantloupe_project", "2", "the project has format 2");
        row("/quantloupe_project", "\"x\"", "must be the format version");
        row("/color", "1", "unknown key 'color'");
        row("/model/path", "\"\"", "model.path: is empty");
        row("/model/path", "7", "model.path: must be a string, not 7");
        row("/model/hash", "\"12\"", "model.hash: must be a hash");
        row("/model/layers/1", "[\"a\"]", "model.layers[1]: must be a list of four strings");
        row("/data", "[]", "data: must be an object, not a list");
        row("/data/preprocess/color", "\"CMYK\"", "data.preprocess: 'color' must be one of");
        row("/config/quantization/weight/bits", "99", "config: quantization.weight.bits: 99 is out of range");
        row("/history/1/config/skip", "1", "history[1].config: skip: must be an object");
        row("/history/0/version", "\"zz\"", "history[0].version: must be a hash");
        row("/history/0/version", "\"bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb\"",
            "history[1].version: duplicate version");
        row("/history/0/quantized/top1", "\"good\"", "history[0].quantized.top1: must be a number");
        row("/history", "{}", "history: must be a list");
        row("/baseline", "\"cccc\"", "no configuration of the history has the version 'cccc'");
        row("/latency/0/layers/1", "[\"a\", \"\", -1]", "latency[0].layers[1]: must be a list of a name");
        row("/latency/0/layers/0", "[\"a\", \"w99\", 1]", "latency[0].layers[0]");
        row("/latency/1/precision", "\"w99\"", "latency[1].precision");
        row("/view", "[]", "view: must be an object");
    }
    void errorsNameTheCause() {
        QFETCH(QString, pointer);
        QFETCH(QString, value);
        QFETCH(QString, mentions);
        auto json = nlohmann::json::parse(projectToJson(project("/a"), "/a/b.quantloupe"));
        json[nlohmann::json::json_pointer(pointer.toStdString())] =
            nlohmann::json::parse(value.toStdString());
        const fs::path file = folder() / "wrong.quantloupe";
        writeFileAtomically(file, json.dump());
        const QString error = errorOf([&] { loadProject(file); });
        QVERIFY2(error.startsWith("project 'wrong.quantloupe': ") && error.contains(mentions),
                 qPrintable(error));
    }

    void filesThatAreNotProjectsAreReported() {
        const auto message = [](const char* text) {
            return errorOf([&] { projectFromJson(text, "/a/b.quantloupe"); });
        };
        QVERIFY(message("").contains("not valid JSON"));
        QVERIFY(message("[]").contains("not a Quantloupe project"));
        QVERIFY(message("{\"quantloupe\": 1}").contains("not a Quantloupe project"));
        QVERIFY(message("{\"quantloupe_project\": 1}").contains("model: is missing"));
        const std::string whole = projectToJson(project("/a"), "/a/b.quantloupe");
        QVERIFY(message(whole.substr(0, whole.size() / 2).c_str()).contains("not valid JSON"));
    }

    void aFailedSaveLeavesTheOldFile() {
        const fs::path file = folder() / "kept.quantloupe";
        saveProject(project(folder()), file);
        const std::string before = readFile(file);
        Project bad = project(folder());
        bad.history[0].change = "\xff";
        QVERIFY_EXCEPTION_THROWN(saveProject(bad, file), Error);
        QCOMPARE(readFile(file), before);
        QVERIFY_EXCEPTION_THROWN(saveProject(bad, folder() / "nowhere" / "x.quantloupe"), Error);
    }

    void onlyFinalAccuraciesAreStored() {
        Evaluation evaluation;
        evaluation.floating = evaluation.quantized = Accuracy{};
        evaluation.rough = true;
        QVERIFY(!measuredConfig(evaluation, "x"));
        evaluation.rough = false;
        const auto entry = measuredConfig(evaluation, "x");
        QVERIFY(entry && entry->version.size() == 32 && entry->measuredAt.size() == 20);
        evaluation.quantized.reset();
        QVERIFY(!measuredConfig(evaluation, "x"));
    }
};

QTEST_GUILESS_MAIN(ProjectFileTest)
#include "project_file_test.moc"
