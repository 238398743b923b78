// SPDX-License-Identifier: Apache-2.0
// Classes, confusion, detection and segmentation on the command line.
#include <QDir>
#include <QFile>
#include <QImage>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QTemporaryDir>
#include <QtTest>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/atomic_file.h"
#include "data/labeled_dataset.h"
#include "data/numpy_file.h"
#include "session/stages/sample_divergence.h"
#include "session/studies/task_predictions.h"
#include "support/python.h"
#include "support/run_cli.h"
#include "support/text_model.h"

using namespace quantloupe;
using namespace quantloupe::test;

namespace {

std::string numbers(int count, int seed) {
    std::string text = "{";
    for (int i = 0; i < count; ++i)
        text += (i == 0 ? "" : ",") + std::to_string(std::sin(1.7 * (i + 1) * seed) * 1.5);
    return text + "}";
}

/// RT-DETR of Ultralytics on images of 10 × 10 pixels.
std::string detector() {
    return textModelBytes(
        "<ir_version: 8, opset_import: [\"\" : 13]> net (float[N,3,10,10] X) => (float[N,100,7] y) "
        "<float[4,3,3,3] A = " +
        numbers(108, 3) + ", float[7,4,3,3] B = " + numbers(252, 5) +
        R"(, int64[3] rows = {0, 7, 100}> {
        a = Conv<pads = [1, 1, 1, 1]>(X, A)
        b = Relu(a)
        c = Conv<pads = [1, 1, 1, 1]>(b, B)
        d = Reshape(c, rows)
        e = Transpose<perm = [0, 2, 1]>(d)
        y = Sigmoid(e)
    })");
}

}  // namespace

class CliTaskTest : public QObject {
    Q_OBJECT

    QTemporaryDir m_folder;

    QString path(const QString& name) const { return m_folder.filePath(name); }

    /// Embeddings of four values, then the scores of three classes, which are the input.
    QStringList twoVectors() const {
        writeFileAtomically(path("two.onnx").toStdString(),
                            textModelBytes(R"(<ir_version: 8, opset_import: ["" : 17]>
                g (float[N,3] X) => (float[N,4] emb, float[N,3] prob) <float[3,4] W = {0,0,0,1, 0,0,0,1,
                0,0,0,1}, float[3,3] V = {1,0,0, 0,1,0, 0,0,1}> { emb = MatMul(X, W) prob = MatMul(X, V) })"));
        saveNpz({{"X", Constant::fromFloats({4, 3}, {1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 1, 0})},
                 {"labels", Constant::fromInt64s({4}, {0, 1, 2, 1})}},
                path("two.npz").toStdString());
        return {"analyze", path("two.onnx"), "--data", path("two.npz"), "--no-skip-tail", "--json"};
    }

    /// Twelve images of 20 × 10 pixels, which are letterboxed, a model, and labels that are what its float
    /// network finds.
    void makeDetection() const {
        QDir().mkpath(path("images"));
        for (int i = 0; i < 12; ++i) {
            QImage image(20, 10, QImage::Format_RGB888);
            for (int y = 0; y < 10; ++y)
                for (int x = 0; x < 20; ++x)
                    image.setPixelColor(
                        x, y, QColor((x * 31 * (i + 1)) % 256, (y * 57 + i * 13) % 256, (x * y * 7) % 256));
            QVERIFY(image.save(path(QStringLiteral("images/%1.png").arg(i, 2, 10, QLatin1Char('0')))));
        }
        writeFileAtomically(path("net.onnx").toStdString(), detector());
        writeFileAtomically(path("net.preprocess.json").toStdString(),
                            R"({"resize":[10,10],"fit":"letterbox"})");
        Session session(loadModel(path("net.onnx").toStdString()));
        const Preprocess preprocess = loadPreprocess(path("net.preprocess.json").toStdString());
        const DatasetPtr images =
            openDataset(path("images").toStdString(), inputSpecsOf(session.graph()), preprocess);
        TaskSettings settings;
        settings.task = Task::Detection;
        session.setData(withTask(images, settings, preprocess), images);
        nlohmann::json json = {
            {"images", nlohmann::json::array()},
            {"annotations", nlohmann::json::array()},
            {"categories",
             {{{"id", 1}, {"name", "cat"}}, {{"id", 2}, {"name", "dog"}}, {{"id", 3}, {"name", "owl"}}}}};
        for (int i = 11; i >= 0; --i) {  // the order of the file is not that of the data
            const std::string name = images->sampleName(static_cast<std::size_t>(i));
            json["images"].push_back({{"id", i + 1}, {"file_name", name}, {"width", 20}, {"height", 10}});
            for (const Detection& d :
                 taskPredictions(session, {}, findSample(session, name), 20, 10).floating)
                json["annotations"].push_back({{"image_id", i + 1},
                                               {"category_id", d.category + 1},
                                               {"bbox", {d.x, d.y, d.width, d.height}}});
        }
        writeFileAtomically(path("labels.json").toStdString(), json.dump());
    }

  private Q_SLOTS:
    /// Top-1 was always computed on the first output.
    void theOutputWithTheClasses() {
        const auto top1 = [&](const QStringList& more) {
            const Outcome outcome = runCli(twoVectors() + more);
            const QJsonObject json = QJsonDocument::fromJson(outcome.out.toUtf8()).object();
            if (outcome.code != 0) qWarning("%s", outcome.text().constData());
            const QJsonArray outputs = json["quantized"].toObject()["outputs"].toArray();
            if (outputs.size() != 2 || outputs[1].toObject()["name"].toString() != "prob")
                return std::pair(-2.0, outcome.err);
            return std::pair(json["quantized"].toObject()["top1"].toDouble(-1), outcome.err);
        };
        const auto automatic = top1({});
        QCOMPARE(automatic.first, 1.0);
        QVERIFY2(automatic.second.contains("the output 'prob'; 'emb' could contain classes"),
                 qPrintable(automatic.second));
        const auto chosen = top1({"--class-output", "emb"});
        QVERIFY(chosen.first < 0.5);
        QVERIFY(!chosen.second.contains("could contain classes"));
        verifyFailure(runCli(twoVectors() + QStringList{"--class-output", "nothing"}), 1, "'emb', 'prob'");
    }

    /// The large values of one output hid the errors of another one.
    void outputsWithSmallValuesAreJudgedAlone() {
        writeFileAtomically(path("scales.onnx").toStdString(),
                            textModelBytes(R"(<ir_version: 8, opset_import: ["" : 17]>
                g (float[N,3] X) => (float[N,3] large, float[N,3] small) <float[3,3] W = {100,0,0, 0,100,0,
                0,0,100}, float[3,3] V = {0.011,0.013,0.017, 0.019,0.023,0.029, 0.031,0.037,0.041}> {
                large = MatMul(X, W) s = MatMul(X, V) small = Sigmoid(s) })"));
        saveNpz({{"X", Constant::fromFloats({4, 3}, {1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 1, 0})}},
                path("scales.npz").toStdString());
        const Outcome outcome = runCli({"analyze", path("scales.onnx"), "--data", path("scales.npz"),
                                        "--no-skip-tail", "--weight-bits", "2"});
        QVERIFY2(outcome.code == 0, outcome.text().constData());
        QVERIFY2(outcome.err.contains("that of the output 'small' alone is"), outcome.text().constData());
        QVERIFY2(outcome.out.contains("\n  output small: SQNR "), outcome.text().constData());
    }

    void initTestCase() { makeDetection(); }

    /// The format needs no data, so it is not opened, and neither are its labels.
    void exportsIgnoreTheLabelsOfUnneededData() {
        QFile names(path("names.txt"));
        QVERIFY(names.open(QFile::WriteOnly));
        names.write("plane\ncar\n");
        names.close();
        const Outcome outcome =
            runCli(demoCommand("export MODEL --data VAL --to clika") +
                   QStringList{"--class-names", path("names.txt"), "-o", path("clika.json")});
        QVERIFY2(outcome.code == 0, outcome.text());
    }

    /// The confusion matrix contains every sample once, and its diagonal is the top-1 accuracy.
    void confusionAddsUp() {
        QFile names(path("names.txt"));
        QVERIFY(names.open(QFile::WriteOnly));
        names.write("plane\ncar\nbird\ncat\ndeer\ndog\nfrog\nhorse\nship\ntruck\n");
        names.close();
        const Outcome outcome = runCli(
            demoCommand("analyze MODEL --data VAL --calibration-data CALIBRATION --samples 200 --json") +
            QStringList{"--class-names", path("names.txt")});
        QVERIFY2(outcome.code == 0, outcome.text());
        const QJsonObject json = outcome.document();
        QCOMPARE(json["class_metric"].toString(), QStringLiteral("accuracy"));
        const QJsonArray classes = json["classes"].toArray();
        QCOMPARE(classes.size(), 10);
        QCOMPARE(classes[9].toObject()["name"].toString(), QStringLiteral("truck"));
        double samples = 0, rightFloat = 0, rightQuantized = 0;
        for (const QJsonValue& one : classes) {
            const double labels = one["labels"].toDouble();
            samples += labels;
            rightFloat += labels * one["float"].toDouble();
            rightQuantized += labels * one["quantized"].toDouble();
        }
        QCOMPARE(samples, 200.0);
        double all = 0, diagonal = 0, diagonalFloat = 0;
        for (const QJsonValue& cell : json["confusion"].toArray()) {
            all += cell["quantized"].toDouble();
            if (cell["label"] != cell["predicted"]) continue;
            diagonal += cell["quantized"].toDouble();
            diagonalFloat += cell["float"].toDouble();
        }
        QCOMPARE(all, 200.0);
        QVERIFY(std::abs(diagonal - rightQuantized) < 1e-9 && std::abs(diagonalFloat - rightFloat) < 1e-9);
        QVERIFY(std::abs(diagonal / 200 - json["quantized"]["top1"].toDouble()) < 1e-12);
        QVERIFY(std::abs(diagonalFloat / 200 - json["float"]["top1"].toDouble()) < 1e-12);
    }

    void detectionThroughTheCommandLine() {
        const QStringList data = {"--data",
                                  path("images"),
                                  "--calibration-data",
                                  path("images"),
                                  "--labels",
                                  path("labels.json"),
                                  "--set",
                                  "quantization.weight.bits=4"};
        const Outcome outcome = runCli(QStringList{"analyze", path("net.onnx"), "--json"} + data);
        QVERIFY2(outcome.code == 0, outcome.text());
        const QJsonObject json = outcome.document();
        QCOMPARE(json["float"]["map"].toDouble(), 1.0);
        QCOMPARE(json["float"]["map50"].toDouble(), 1.0);
        const double map = json["quantized"]["map"].toDouble();
        QVERIFY(map > 0.02 && map < 0.999);
        QCOMPARE(json["class_metric"].toString(), QStringLiteral("ap"));
        QCOMPARE(json["classes"][0]["name"].toString(), QStringLiteral("cat"));
        QVERIFY(!json.contains("confusion"));
        QVERIFY(outcome.err.contains("as rt-detr"));

        const Outcome text = runCli(QStringList{"analyze", path("net.onnx"), "--classes", "--images"} + data);
        QVERIFY2(text.code == 0, text.text());
        QVERIFY(text.out.contains("mAP@50:95 100.00 %, mAP@50 100.00 %"));
        QVERIFY(text.out.contains("owl"));
        QVERIFY(text.out.contains("samples changed, largest loss first"));

        const Outcome check = runCli(
            QStringList{"check", path("net.onnx"), "--max-drop", "0.5", "--markdown", path("check.md")} +
            data);
        QCOMPARE(check.code, 3);
        QFile markdown(path("check.md"));
        QVERIFY(markdown.open(QFile::ReadOnly));
        const QString summary = QString::fromUtf8(markdown.readAll());
        QVERIFY2(summary.contains("| mAP@50:95 | 100.00 % |"), qPrintable(summary));
        QVERIFY2(summary.contains("| class | boxes | AP@50:95, float |"), qPrintable(summary));

        const Outcome report =
            runCli(QStringList{"export", path("net.onnx"), "--to", "html", "-o", path("report.html")} + data);
        QVERIFY2(report.code == 0, report.text());
        QFile html(path("report.html"));
        QVERIFY(html.open(QFile::ReadOnly));
        QVERIFY(QString::fromUtf8(html.readAll()).contains("<th>mAP@50:95</th>"));
    }

    /// The preview's mAP is the one of analyze, and ONNX Runtime's is almost equal.
    void verifyComparesTheTasksMetric() {
        QUANTLOUPE_NEEDS_ONNXRUNTIME;
        const QStringList data = {"--data",   path("images"),      "--calibration-data", path("images"),
                                  "--labels", path("labels.json"), "--weight-bits",      "5"};
        const Outcome preview = runCli(QStringList{"analyze", path("net.onnx"), "--json"} + data);
        const QStringList verify =
            QStringList{"verify", path("net.onnx"), "-o", path("quantized.onnx")} + data;
        const Outcome outcome = runCli(verify + QStringList{"--json"});
        QVERIFY2(outcome.code == 0, outcome.text());
        const QJsonObject json = outcome.document();
        const double here = json["here"]["map"].toDouble();
        QCOMPARE(here, preview.document()["quantized"].toObject()["map"].toDouble());
        QVERIFY2(here > 0.02 && here < 0.999, outcome.text());
        QVERIFY2(std::abs(json["there"]["map"].toDouble() - here) < 0.02, outcome.text());
        QVERIFY(json["agreement"].isNull());
        const Outcome text = runCli(verify);
        QVERIFY2(text.out.startsWith("mAP on 12 samples: ") && !text.err.contains("labels"), text.text());
        const Outcome misfit = runCli(verify + QStringList{"--decoder", "yolov8"});
        QVERIFY2(misfit.err.contains("the labels are not used, and only the values are compared: ") &&
                     misfit.err.contains("do not fit the decoder yolov8"),
                 misfit.text());
    }

    /// The categories' ids instead of their positions: class 0 has no category, so it never counts.
    void decoderAndCategoriesCanBeChosen() {
        const QStringList data = {"analyze",      path("net.onnx"), "--json",
                                  "--data",       path("images"),   "--calibration-data",
                                  path("images"), "--labels",       path("labels.json")};
        const Outcome byId = runCli(data + QStringList{"--category-index", "id"});
        QVERIFY2(byId.code == 0, byId.text());
        QVERIFY(byId.document()["float"].toObject()["map"].toDouble() < 0.5);
        QVERIFY(byId.err.contains("class k is the category with the id k"));
        const Outcome misfit = runCli(data + QStringList{"--decoder", "yolov8"});
        QCOMPARE(misfit.code, 1);
        QVERIFY2(misfit.err.contains("do not fit the decoder yolov8"), misfit.text());
        const Outcome unknown = runCli(data + QStringList{"--decoder", "yolo"});
        QCOMPARE(unknown.code, 2);
        QVERIFY(unknown.err.contains("rt-detr-logits"));
    }

    /// Neither entries nor images may share labels by accident; labels without boxes cannot be a target.
    void labelsThatCannotBeUsed() {
        QFile file(path("labels.json"));
        QVERIFY(file.open(QFile::ReadOnly));
        const auto labels = nlohmann::json::parse(file.readAll().toStdString());
        const auto outcome = [&](const nlohmann::json& changed, const QString& images,
                                 const QStringList& command) {
            writeFileAtomically(path("changed.json").toStdString(), changed.dump());
            return runCli(QStringList{command[0], path("net.onnx"), "--data", images, "--calibration-data",
                                      path("images"), "--labels", path("changed.json")} +
                          command.mid(1));
        };
        nlohmann::json changed = labels;
        changed["annotations"] = nlohmann::json::array();
        for (const QStringList& command :
             {QStringList{"check", "--max-drop", "5"}, QStringList{"tune", "--max-drop", "5"}}) {
            const Outcome empty = outcome(changed, path("images"), command);
            QCOMPARE(empty.code, 1);
            QVERIFY2(empty.err.contains("changed.json': there are no boxes that count"), empty.text());
        }
        const Outcome analyzed = outcome(changed, path("images"), {"analyze"});
        QCOMPARE(analyzed.code, 0);
        QVERIFY2(analyzed.err.contains("changed.json' have no boxes that count"), analyzed.text());

        changed = labels;
        changed["images"][3]["file_name"] = changed["images"][2]["file_name"];
        const Outcome twice = outcome(changed, path("images"), {"analyze"});
        QCOMPARE(twice.code, 1);
        QVERIFY2(twice.err.contains("have the same file_name '09.png'"), twice.text());

        for (const char* folder : {"both/a", "both/b"}) {
            QDir().mkpath(path(folder));
            QVERIFY(QFile::copy(path("images/00.png"), path(folder) + "/00.png"));
        }
        const Outcome shared = outcome(labels, path("both"), {"analyze"});
        QCOMPARE(shared.code, 1);
        QVERIFY2(shared.err.contains("'a/00.png' and 'b/00.png' both belong to the entry"), shared.text());
    }

    void labelsNeedData() {
        const Outcome outcome = runCli({"analyze", path("net.onnx"), "--labels", path("labels.json")});
        QCOMPARE(outcome.code, 2);
        QVERIFY2(outcome.err.contains("--data"), outcome.text());
        const Outcome overwriting =
            runCli({"export", path("net.onnx"), "--to", "html", "--data", path("images"), "--labels",
                    path("labels.json"), "-o", path("labels.json")});
        QCOMPARE(overwriting.code, 1);
    }
};

QTEST_MAIN(CliTaskTest)
#include "cli_task_test.moc"
