// SPDX-License-Identifier: Apache-2.0
// Labels that do not fit the network or its task: what is used of them, and what the command line says.
#include <QDir>
#include <QImage>
#include <QJsonObject>
#include <QTemporaryDir>
#include <QtTest>

#include "base/atomic_file.h"
#include "data/numpy_file.h"
#include "support/run_cli.h"
#include "support/text_model.h"

using namespace quantloupe;
using namespace quantloupe::test;

class UnusedLabelsTest : public QObject {
    Q_OBJECT

    QTemporaryDir m_folder;

    QString path(const QString& name) const { return m_folder.filePath(name); }

    QString model(const QString& name, const std::string& body) const {
        writeFileAtomically(path(name).toStdString(),
                            textModelBytes("<ir_version: 8, opset_import: [\"\" : 17]> g " + body));
        return path(name);
    }

    /// Two images that are bright on the right, and their masks with this value there.
    void writeMasks(const QString& folder, int value) const {
        QVERIFY(QDir(m_folder.path()).mkpath(folder));
        for (const int i : {0, 1}) {
            QImage mask(4, 4, QImage::Format_Grayscale8);
            for (int y = 0; y < 4; ++y)
                for (int x = 0; x < 4; ++x) mask.scanLine(y)[x] = static_cast<uchar>(x >= 2 ? value : 0);
            QVERIFY(mask.save(path(QStringLiteral("%1/%2.png").arg(folder).arg(i))));
        }
    }

    Outcome analyze(const QStringList& arguments) const {
        return runCli(QStringList{"analyze", "--no-skip-tail"} + arguments);
    }

  private Q_SLOTS:
    /// All pixels were foreground, because a probability is always above 0.
    void binarySegmentation() {
        const std::string weight = "<float[1,1,1,1] W = {8}, float[1] B = {-4}>";
        const QString logits = model("logits.onnx", "(float[N,1,4,4] X) => (float[N,1,4,4] y) " + weight +
                                                        " { y = Conv(X, W, B) }"),
                      rates = model("rates.onnx", "(float[N,1,4,4] X) => (float[N,1,4,4] y) " + weight +
                                                      " { c = Conv(X, W, B) y = Sigmoid(c) }");
        std::vector<float> values;
        for (int i = 0; i < 2 * 16; ++i) values.push_back(i % 4 >= 2 ? 0.9f : 0.2f);
        saveNpz({{"X", Constant::fromFloats({2, 1, 4, 4}, values)}}, path("images.npz").toStdString());
        writeMasks("masks", 1);
        writeMasks("masks255", 255);
        const QStringList data = {"--data", path("images.npz"), "--calibration-data", path("images.npz"),
                                  "--json"};
        for (const auto& [network, says] :
             {std::pair(logits, "is above 0 (logits)"), std::pair(rates, "is above 0.5 (probabilities)")}) {
            const Outcome outcome = analyze(QStringList{network, "--labels", path("masks")} + data);
            QVERIFY2(outcome.code == 0, outcome.text());
            QVERIFY2(outcome.err.contains(QLatin1String(says)), outcome.text());
            QCOMPARE(outcome.document()["float"].toObject()["miou"].toDouble(), 1.0);
            QVERIFY(!outcome.err.contains("only class 0"));
        }
        const Outcome masks = analyze(QStringList{logits, "--labels", path("masks255")} + data);
        QVERIFY2(masks.err.contains("only class 0 and 255"), masks.text());
    }

    /// A network with one score per sample had no accuracy, because a single value is no vector of classes.
    void binaryClassifier() {
        const std::string weight = "<float[2,1] W = {1, -1}, int64[1] flat = {-1}>";
        const QString logit =
            model("logit.onnx", "(float[N,2] X) => (float[N,1] y) " + weight + " { y = MatMul(X, W) }");
        const QString rate =
            model("rate.onnx", "(float[N,2] X) => (float[N] y) " + weight +
                                   " { m = MatMul(X, W) s = Sigmoid(m) y = Reshape(s, flat) }");
        // Always predicting class 1, or class 0, gives 0.6 or 0.4.
        saveNpz({{"X", Constant::fromFloats({5, 2}, {2, 1, 1, 2, 3, 1, 0.5f, 2, 1, 3})},
                 {"labels", Constant::fromFloats({5, 1}, {1, 0, 1, 1, 0})}},  // as for binary cross entropy
                path("two.npz").toStdString());
        for (const auto& [network, says] :
             {std::pair(logit, "the class of a sample is 1 if 'y' is above 0 (taken for a logit"),
              std::pair(rate, "is above 0.5 (a probability), otherwise 0")}) {
            const QStringList data{network,         "--data", path("two.npz"), "--calibration-data",
                                   path("two.npz"), "--json"};
            const Outcome outcome = analyze(data);
            QVERIFY2(outcome.code == 0, outcome.text());
            QVERIFY2(outcome.err.contains(QLatin1String(says)), outcome.text());
            const QJsonObject json = outcome.document();
            QCOMPARE(json["float"].toObject()["top1"].toDouble(), 0.8);
            QCOMPARE(json["quantized"].toObject()["agreement"].toDouble(), 1.0);
            // The Sigmoid becomes other operators, but the decision stays the same.
            const Outcome npu = analyze(data + QStringList{"--set", "transforms.npu_operators.sigmoid=true"});
            QVERIFY2(npu.document()["quantized"].toObject()["top1"].toDouble() == 0.8, npu.text());
            const Outcome regression = analyze(data + QStringList{"--task", "regression"});
            QVERIFY2(regression.document()["float"].toObject()["top1"].isNull(), regression.text());
        }
    }

    void labelsWithoutScores() {
        const QString network = model("map.onnx", "(float[N,2,2] X) => (float[N,2,2] y) { y = Relu(X) }");
        saveNpz({{"X", Constant::fromFloats({4, 2, 2}, std::vector<float>(16, 0.5f))},
                 {"labels", Constant::fromInt64s({4}, {0, 1, 0, 1})}},
                path("map.npz").toStdString());
        const Outcome outcome = analyze({network, "--data", path("map.npz")});
        QVERIFY2(outcome.err.contains("the labels are not used: the first output is not a vector"),
                 outcome.text());
        QVERIFY2(outcome.out.contains("(no labels were compared"), outcome.text());
        const Outcome regression = analyze({network, "--data", path("map.npz"), "--task", "regression"});
        QVERIFY2(!regression.err.contains("labels are not used"), regression.text());
    }

    /// The batch size is unknown, but an unknown first dimension is not that of the tokens.
    void labelsOfOtherLists() {
        const QString network = model("list.onnx", "(float[N,2,3] X) => (float[N,2,3] y) { y = Relu(X) }");
        saveNpz({{"X", Constant::fromFloats({4, 2, 3}, std::vector<float>(24, 0.5f))},
                 {"labels", Constant::fromInt64s({4, 5}, std::vector<std::int64_t>(20, 1))}},
                path("list.npz").toStdString());
        const Outcome outcome = analyze({network, "--data", path("list.npz")});
        QVERIFY2(outcome.code == 0, outcome.text());
        QVERIFY2(outcome.err.contains("'labels' is ignored: it contains 5 numbers"), outcome.text());
    }

    /// Targets of a regression made every command fail, and then a metric program did not get them.
    void targetsAreForMetricsOnly() {
        const QString network = model("line.onnx",
                                      "(float[N,2] X) => (float[N,1] y) <float[2,1] W = {1, 2}> "
                                      "{ y = MatMul(X, W) }");
        saveNpz({{"X", Constant::fromFloats({4, 2}, {0, 1, 2, 3, 4, 5, 6, 7})},
                 {"labels", Constant::fromFloats({4}, {0.5f, 1, 2, 3})}},
                path("line.npz").toStdString());
        const Outcome outcome = analyze({network, "--data", path("line.npz")});
        QVERIFY2(outcome.code == 0, outcome.text());
        QVERIFY2(outcome.err.contains("'labels' is float32 and not used as classes"), outcome.text());
    }
};

QTEST_GUILESS_MAIN(UnusedLabelsTest)
#include "unused_labels_test.moc"
