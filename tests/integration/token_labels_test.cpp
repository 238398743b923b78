// SPDX-License-Identifier: Apache-2.0
// Labels of tokens on the command line: which labels are used, and all commands that show their metrics.
#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QTemporaryDir>
#include <QtTest>
#include <cmath>

#include "base/atomic_file.h"
#include "data/numpy_file.h"
#include "support/python.h"
#include "support/run_cli.h"
#include "support/text_model.h"

using namespace quantloupe;
using namespace quantloupe::test;

namespace {

constexpr std::int64_t kSamples = 40, kTokens = 6, kSymbols = 5;

/// Scores of five symbols for each of six tokens: a table, of which the network takes a row for each token.
/// With 2 bits, only the weights of 4 remain, and all scores are equal.
const char* const kNetwork =
    R"(<ir_version: 8, opset_import: ["" : 17]> net (int64[N,T] ids) => (float[N,T,5] y)
    <float[5,8] E = {1,0,0,0,0,0.5,0.2,0.1, 0,1,0,0,0,0.1,0.5,0.2, 0,0,1,0,0,0.2,0.1,0.5, 0,0,0,1,0,0.4,0.3,0.2,
                     0,0,0,0,1,0.3,0.4,0.1},
     float[8,5] W = {0.9,1.2,0.9,0.9,0.9, 0.9,0.9,1.2,0.9,0.9, 1.2,0.9,0.9,0.9,0.9, 0.9,0.9,0.9,1.2,0.9,
                     0.9,0.9,0.9,0.9,1.2, 4,4,4,4,4, 0.1,0.1,0.1,0.1,0.1, 0.1,0.1,0.1,0.1,0.1}> {
        e = Gather(E, ids)
        y = MatMul(e, W)
    })";

}  // namespace

class TokenLabelsTest : public QObject {
    Q_OBJECT

    QTemporaryDir m_folder;
    std::vector<std::int64_t> m_ids, m_labels;

    QString path(const QString& name) const { return m_folder.filePath(name); }

    QString data(const QString& name, const std::vector<std::int64_t>& labels, const Dims& dims) const {
        saveNpz({{"ids", Constant::fromInt64s({kSamples, kTokens}, m_ids)},
                 {"labels", Constant::fromInt64s(dims, labels)}},
                path(name).toStdString());
        return path(name);
    }

    QStringList command(const QString& name, const QString& file) const {
        return {name, path("net.onnx"), "--data", file, "--no-skip-tail", "--weight-bits", "2"};
    }

  private Q_SLOTS:
    void initTestCase() {
        writeFileAtomically(path("net.onnx").toStdString(), textModelBytes(kNetwork));
        // The network's best symbols are 1, 2, 0, 3, 4 for the symbols 0 to 4; every seventh label differs.
        constexpr std::int64_t kBest[] = {1, 2, 0, 3, 4};
        for (std::int64_t i = 0; i < kSamples * kTokens; ++i) {
            m_ids.push_back((i * i + i / 3) % kSymbols);
            m_labels.push_back(i % 7 == 0 ? 4 - kBest[m_ids.back()] : kBest[m_ids.back()]);
        }
    }

    void accuracyPerplexityAndAgreement() {
        std::vector<std::int64_t> labels = m_labels;
        for (std::size_t i = 0; i < labels.size(); i += 5) labels[i] = -100;
        const QString file = data("tokens.npz", labels, {kSamples, kTokens});
        const Outcome outcome = runCli(command("analyze", file) + QStringList{"--json", "--classes"});
        QVERIFY2(outcome.code == 0, outcome.text());
        QVERIFY2(outcome.err.contains("the class of each token is the largest of 5 scores in 'y' 6×5"),
                 outcome.text());
        const QJsonObject json = outcome.document();
        // Every second sample is evaluated.
        std::size_t counted = 0, right = 0;
        for (std::size_t i = 0; i < labels.size(); ++i) {
            if (i / kTokens % 2 != 0 || labels[i] < 0) continue;
            ++counted;
            right += i % 7 != 0 || m_labels[i] == 4 - m_labels[i];
        }
        const QJsonObject floating = json["float"].toObject(), quantized = json["quantized"].toObject();
        QCOMPARE(floating["token_accuracy"].toDouble(),
                 static_cast<double>(right) / static_cast<double>(counted));
        QVERIFY(floating["perplexity"].toDouble() > 1 && floating["perplexity"].toDouble() < 5);
        QVERIFY(floating["top1"].isNull() && quantized["top1"].isNull());
        QVERIFY(quantized["token_accuracy"].isDouble() && quantized["perplexity"].isDouble());
        QVERIFY(quantized["agreement"].toDouble() > 0 && quantized["agreement"].toDouble() < 1);
        QCOMPARE(json["class_metric"].toString(), QStringLiteral("accuracy"));
        double classTokens = 0;
        for (const QJsonValue& one : json["classes"].toArray()) classTokens += one["labels"].toDouble();
        QCOMPARE(classTokens, static_cast<double>(counted));

        const Outcome text = runCli(command("analyze", file));
        QVERIFY2(text.out.contains("float      token accuracy ") && text.out.contains(", perplexity ") &&
                     text.out.contains("; agreement ") && !text.out.contains("no labels"),
                 text.text());
    }

    void allCommandsUseTheTokenAccuracy() {
        const QString file = data("tokens.npz", m_labels, {kSamples, kTokens});
        const Outcome check = runCli(command("check", file) + QStringList{"--json", "--max-drop", "0.1",
                                                                          "--markdown", path("check.md")});
        QVERIFY2(check.code == 3, check.text());
        QCOMPARE(check.document()["metric"].toString(), QStringLiteral("token_accuracy"));
        QVERIFY(check.document()["text"].toString().contains("token accuracy is "));
        QFile markdown(path("check.md"));
        QVERIFY(markdown.open(QFile::ReadOnly));
        const QByteArray summary = markdown.readAll();
        QVERIFY2(
            summary.contains("| perplexity | ") && summary.contains("| class | tokens | accuracy, float | "),
            summary);
        const Outcome tune = runCli(command("tune", file) + QStringList{"--json", "--max-drop", "0.1"});
        QVERIFY2(tune.code == 0, tune.text());
        QCOMPARE(tune.document()["metric"].toString(), QStringLiteral("token_accuracy"));
        QVERIFY(tune.document()["reached"].toBool());
        const Outcome each = runCli(command("leave-one-out", file) + QStringList{"--json"});
        QCOMPARE(each.document()["metric"].toString(), QStringLiteral("token_accuracy"));
        double gain = 0;
        for (const QJsonValue& layer : each.document()["layers"].toArray())
            gain = std::max(gain, layer["gain"].toDouble());
        QVERIFY2(gain > 0.5, each.text());
        const Outcome images = runCli(command("analyze", file) + QStringList{"--json", "--images"});
        QVERIFY2(images.code == 0, images.text());
        QVERIFY(runCli(command("export", file) + QStringList{"--to", "html", "-o", path("r.html")}).code ==
                0);
        QFile report(path("r.html"));
        QVERIFY(report.open(QFile::ReadOnly));
        const QByteArray html = report.readAll();
        QVERIFY(html.contains("<th>token accuracy</th><th>perplexity</th>"));
        QVERIFY(html.contains("<th>class</th><th>tokens</th><th>accuracy, float</th>"));
    }

    void verifyComparesTheTokenAccuracy() {
        QUANTLOUPE_NEEDS_ONNXRUNTIME;
        QStringList arguments = command("analyze", data("tokens.npz", m_labels, {kSamples, kTokens}));
        arguments.last() = QStringLiteral("3");  // bits: the accuracy falls, but not because of ties
        const Outcome preview = runCli(arguments + QStringList{"--json"});
        arguments[0] = QStringLiteral("verify");
        const Outcome verified = runCli(arguments + QStringList{"--json", "-o", path("quantized.onnx")});
        QVERIFY2(verified.code == 0, verified.text());
        const QJsonObject json = verified.document();
        QCOMPARE(json["here"]["token_accuracy"],
                 preview.document()["quantized"].toObject()["token_accuracy"]);
        QCOMPARE(json["there"]["token_accuracy"], json["here"]["token_accuracy"]);
        QVERIFY(json["here"]["token_accuracy"].toDouble() > 0);
    }

    /// An output with probabilities has no perplexity, one with the classes first is the same.
    void otherOutputs() {
        const QString file = data("tokens.npz", m_labels, {kSamples, kTokens});
        const auto floatOf = [&](const char* last) {
            QString network = QLatin1String(kNetwork);
            network.replace("y = MatMul(e, W)", QLatin1String(last));
            if (network.contains("Transpose")) network.replace("float[N,T,5] y", "float[N,5,T] y");
            writeFileAtomically(path("other.onnx").toStdString(), textModelBytes(network.toStdString()));
            QStringList arguments = command("analyze", file) + QStringList{"--json"};
            arguments[1] = path("other.onnx");
            const Outcome outcome = runCli(arguments);
            if (outcome.code != 0) qWarning("%s", outcome.text().constData());
            return outcome.document()["float"].toObject();
        };
        const QJsonObject scores = floatOf("y = MatMul(e, W)"),
                          first = floatOf("z = MatMul(e, W) y = Transpose<perm = [0, 2, 1]>(z)"),
                          rates = floatOf("z = MatMul(e, W) y = Softmax(z)"),
                          logarithms = floatOf("z = MatMul(e, W) y = LogSoftmax(z)");
        QVERIFY(scores["token_accuracy"].toDouble() > 0.8);
        for (const QJsonObject& other : {first, rates, logarithms})
            QCOMPARE(other["token_accuracy"], scores["token_accuracy"]);
        QCOMPARE(first["perplexity"], scores["perplexity"]);
        QVERIFY(std::abs(logarithms["perplexity"].toDouble() / scores["perplexity"].toDouble() - 1) < 1e-5);
        QVERIFY(rates["perplexity"].isNull());
    }

    void labelsThatAreSomethingElse() {
        // One-hot labels of a vector per sample.
        writeFileAtomically(path("vector.onnx").toStdString(),
                            textModelBytes(R"(<ir_version: 8, opset_import: ["" : 17]>
                g (float[N,3] X) => (float[N,3] y) <float[3,3] W = {1,0,0, 0,1,0, 0,0,1}> { y = MatMul(X, W) })"));
        saveNpz({{"X", Constant::fromFloats({3, 3}, {1, 0, 0, 0, 1, 0, 0, 0, 1})},
                 {"labels", Constant::fromInt64s({3, 3}, {1, 0, 0, 0, 1, 0, 0, 0, 1})}},
                path("vector.npz").toStdString());
        const QStringList analyze = {"analyze", path("vector.onnx"), "--data", path("vector.npz"), "--json"};
        const Outcome ignored = runCli(analyze);
        QVERIFY2(ignored.code == 0, ignored.text());
        QVERIFY2(ignored.err.contains("'labels' is ignored: it contains 3 numbers"), ignored.text());
        QVERIFY(ignored.document()["quantized"].toObject()["agreement"].isDouble());  // of the samples
        verifyFailure(runCli(analyze + QStringList{"--task", "tokens"}), 1,
                      "the network does not contain scores of classes for each of the 3 tokens");
        const QString file = data("one.npz", std::vector<std::int64_t>(kSamples, 1), {kSamples});
        verifyFailure(runCli(command("analyze", file) + QStringList{"--task", "tokens"}), 1,
                      "needs an array 'labels' in the data");
        const QString beyond =
            data("beyond.npz", std::vector<std::int64_t>(kSamples * kTokens, 7), {kSamples, kTokens});
        verifyFailure(runCli(command("analyze", beyond)), 1,
                      "the label 7 is not one of the network's 5 classes");
        const QString same = data("same.npz", m_ids, {kSamples, kTokens});
        QVERIFY(runCli(command("analyze", same)).err.contains("same values as the input 'ids'"));
        const QString tokens = data("tokens.npz", m_labels, {kSamples, kTokens});
        const Outcome regression =
            runCli(command("analyze", tokens) + QStringList{"--task", "regression", "--json"});
        QVERIFY2(regression.code == 0, regression.text());
        QVERIFY(!regression.document()["float"].toObject().contains("token_accuracy"));
    }
};

QTEST_GUILESS_MAIN(TokenLabelsTest)
#include "token_labels_test.moc"
