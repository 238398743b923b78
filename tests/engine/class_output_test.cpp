// SPDX-License-Identifier: Apache-2.0
// Which output top-1 and agreement are computed on.
#include "analysis/class_output.h"

#include <QtTest>
#include <vector>

#include "support/errors.h"
#include "support/text_model.h"

using namespace quantloupe;

class ClassOutputTest : public QObject {
    Q_OBJECT

    using Outputs = std::vector<OutputVector>;

  private Q_SLOTS:
    void theFirstVector() {
        QVERIFY(classOutput(Outputs{{"y", 10}}, "") == 0);
        QVERIFY(classOutput(Outputs{{"a", 10}, {"b", 5}}, "") == 0);
        QVERIFY(classOutput(Outputs{}, "") == std::nullopt);
        QVERIFY(classOutput(Outputs{{"value", 1}}, "") == std::nullopt);
        QVERIFY(classOutput(Outputs{{"loudness", 1}, {"word", 4}}, "") == 1);
        QVERIFY(classOutput(Outputs{{"loudness", 1}, {"map", 0}, {"word", 4}}, "") == std::nullopt);
        // Maps or sequences come first: a vector after them is something else.
        QVERIFY(classOutput(Outputs{{"hidden", 0}, {"pooled", 10}}, "") == std::nullopt);
        QVERIFY(classOutput(Outputs{{"boxes", 0}, {"scores", 100}}, "") == std::nullopt);
    }

    void theVectorThatIsNamedAfterClasses() {
        for (const char* name : {"prob", "logits", "class_scores", "Softmax_7", "y_Prob"})
            QVERIFY(classOutput(Outputs{{"emb", 64}, {"map", 0}, {name, 6}}, "") == 2);
        QVERIFY(classOutput(Outputs{{"emb", 64}, {"score", 1}}, "") == 0);  // one value is no class
    }

    void theChosenOutput() {
        const Outputs outputs{{"emb", 64}, {"prob", 6}, {"hidden", 0}};
        QVERIFY(classOutput(outputs, "emb") == 0);
        QVERIFY(classOutput(Outputs{{"hidden", 0}, {"pooled", 10}}, "pooled") == 1);
        const QString none = test::errorOf([&] { classOutput(outputs, "hidden"); });
        QVERIFY2(none.contains("available: 'emb', 'prob'"), qPrintable(none));
    }

    /// With labels of 0 and 1, one value per sample is the score of class 1.
    void binary() {
        QVERIFY(classOutput(Outputs{{"y", 1}}, "", true) == 0);
        QVERIFY(classOutput(Outputs{{"loudness", 1}, {"prob", 1}}, "", true) == 1);
        QVERIFY(classOutput(Outputs{{"emb", 64}, {"score", 1}}, "", true) == 1);
        QVERIFY(classOutput(Outputs{{"loudness", 1}, {"word", 4}}, "", true) == 1);
        QVERIFY(classOutput(Outputs{{"output", 2}, {"anomaly_score", 1}}, "", true) == 0);
        QVERIFY(classOutput(Outputs{{"logits", 10}, {"score", 1}}, "", true) == 0);
        QVERIFY(classOutput(Outputs{}, "", true) == std::nullopt);
        QVERIFY(classOutput(Outputs{{"hidden", 0}, {"pooled", 1}}, "", true) == std::nullopt);
        QVERIFY(classOutput(Outputs{{"hidden", 0}, {"pooled", 1}}, "pooled", true) == 1);
    }

    void binaryThresholds() {
        const LoadedModel model = test::textModel(
            "<ir_version: 8, opset_import: [\"\" : 17]> g (float[N,1] x) => "
            "(float[N,1] logit, float[N] rate, float[N,1] scaled) <int64[1] shape = {-1}, float two = {2}> "
            "{ logit = Relu(x) s = Sigmoid(logit) rate = Reshape(s, shape) scaled = Mul(s, two) }");
        const Graph& graph = *model.graph;
        QCOMPARE(binaryThreshold(graph, graph.outputs()[0]), 0.0f);
        QCOMPARE(binaryThreshold(graph, graph.outputs()[1]), 0.5f);
        QCOMPARE(binaryThreshold(graph, graph.outputs()[2]), 0.0f);
    }

    /// The first value is always the largest one.
    void sortedValuesAreNoClasses() {
        const LoadedModel model = test::textModel(
            "<ir_version: 8, opset_import: [\"\" : 17]> g (float[N,9] x) => (float[N,5] p, float[N,9] q) "
            "<int64[1] five = {5}> { v, i = TopK(x, five) p = Softmax(v) q = Softmax(x) }");
        const Graph& graph = *model.graph;
        QVERIFY(isRanked(graph, graph.outputs()[0]) && !isRanked(graph, graph.outputs()[1]));
        QCOMPARE(scoreCount(graph, graph.outputs()[0], Dims{4, 5}, 4), std::size_t(0));
        // The largest value among the patches, for each class.
        const LoadedModel pooled = test::textModel(
            "<ir_version: 8, opset_import: [\"\" : 13]> g (float[N,6,9] x) => (float[N,9] y) "
            "<int64[1] one = {1}> { v, i = TopK <axis = 1> (x, one) y = Squeeze(v, one) }");
        QVERIFY(!isRanked(*pooled.graph, pooled.graph->outputs()[0]));
        QCOMPARE(scoreCount(graph, graph.outputs()[1], Dims{4, 9}, 4), std::size_t(9));
    }

    void othersAreNamed() {
        QVERIFY(classOutputNotice(Outputs{{"y", 10}}, 0).empty());
        QVERIFY(classOutputNotice(Outputs{{"a", 1}, {"b", 1}}, 0, true).starts_with("'b' could contain"));
        const std::string notice = classOutputNotice(Outputs{{"emb", 64}, {"prob", 6}}, 1);
        QVERIFY(notice.find("'prob'; 'emb' could") != std::string::npos);
    }
};

QTEST_GUILESS_MAIN(ClassOutputTest)
#include "class_output_test.moc"
