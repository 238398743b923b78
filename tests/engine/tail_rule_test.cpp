// SPDX-License-Identifier: Apache-2.0
// By default the tail is skipped only if it is small; CLIKA skips any tail.
#include "config/tail_rule.h"

#include <QtTest/QtTest>

#include "config/presets.h"
#include "config/skip_rules.h"
#include "support/small_graph.h"

using namespace quantloupe;
using test::graph;

namespace {

QString repeated(const char* value, int times) { return QStringList(QList<QString>(times, value)).join(","); }

/// A Conv of 16 · 9 · 64 products, then `head`, which maps p: [N,4] to [N,2].
GraphPtr classifier(const QString& head, const QString& outputs = "float[N,2] y") {
    return graph("(float[N,4,8,8] x) => (" + outputs + ") <float[4,4,3,3] w = {" + repeated("1", 144) +
                 "}, float[2,4] f = {" + repeated("1", 8) +
                 "}> { "
                 "a = Conv<kernel_shape = [3, 3], pads = [1, 1, 1, 1]>(x, w)\n g = GlobalAveragePool(a)\n p "
                 "= Flatten(g)\n " +
                 head + " }");
}

std::size_t skipped(const GraphPtr& g, const QuantizationConfig& config) {
    const SkipDecisions decisions = resolveSkips(*g, config);
    return static_cast<std::size_t>(
        std::ranges::count_if(decisions.reasons, [](const auto& reason) { return !reason.empty(); }));
}

}  // namespace

class TailRuleTest : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void theLastLayerOfAClassifierIsSkipped() {
        const GraphPtr g = classifier("l = Gemm<transB = 1>(p, f)\n y = Softmax(l)");
        QCOMPARE(skipped(g, {}), std::size_t(2));
        const Tail tail = tailToSkip(*g, false);
        QCOMPARE(tail.layers, std::size_t(2));
        QCOMPARE(*tail.share, 8.0 / (4 * 64 * 36 + 8));
        QVERIFY(tail.whyNot.empty());
    }

    void severalHeadsAreNotSkipped() {
        QString head, outputs;
        for (int i = 0; i < 4; ++i) {
            head += QString("y%1 = Gemm<transB = 1>(p, f)\n ").arg(i);
            outputs += QString("%1float[N,2] y%2").arg(i == 0 ? "" : ", ").arg(i);
        }
        const GraphPtr g = classifier(head, outputs);
        QCOMPARE(skipped(g, {}), std::size_t(0));
        const SkipDecisions decisions = resolveSkips(*g, {});
        QVERIFY(decisions.covered.empty());
        QCOMPARE(QString::fromStdString(decisions.tailNotice),
                 QString("the tail is quantized: skipping it would keep 4 of 7 layers with 0.346 % of the "
                         "MACs in float, and only tails of up to 3 layers and 2 % of the "
                         "MACs are skipped by default; set skip.whole_tail to true to skip it"));
        QCOMPARE(skipped(g, presetConfig("clika")), std::size_t(4));
    }

    void largeLayerIsNotSkipped() {
        const GraphPtr g = graph("(float[N,4,8,8] x) => (float[N,4,8,8] y) <float[4,4,1,1] w = {" +
                                 repeated("1", 16) + "}> { a = Conv(x, w)\n y = Conv(a, w) }");
        QCOMPARE(skipped(g, {}), std::size_t(0));
        QuantizationConfig whole;
        whole.wholeTail = true;
        QCOMPARE(skipped(g, whole), std::size_t(1));
    }

    void shapeArithmeticAndMovesDoNotCount() {
        QCOMPARE(skipped(classifier("l = Gemm<transB = 1>(p, f)\n s = Shape(x)\n i = Identity(l)\n t = "
                                    "Transpose<perm = [0, 1]>(i)\n u = Identity(t)\n y = Identity(u)"),
                         {}),
                 std::size_t(5));
    }

    /// Like a tied embedding that the head of a language model reads.
    void transposedWeightCountsAsWeight() {
        QCOMPARE(skipped(classifier("t = Transpose<perm = [1, 0]>(f)\n y = MatMul(p, t)"), {}),
                 std::size_t(1));
    }

    void dynamicSizesOfConvolutionsAreAssumed() {
        const GraphPtr g = graph("(float[N,4,H,W] x) => (float[N,4,H,W] y) <float[4,4,1,1] w = {" +
                                 repeated("1", 16) + "}> { a = Conv(x, w)\n y = Conv(a, w) }");
        QCOMPARE(*tailToSkip(*g, false).share, 0.5);
        QCOMPARE(skipped(g, {}), std::size_t(0));
    }

    /// The head is a large part of a language model for any number of tokens.
    void unknownShapesOfProductsCountWeights() {
        const GraphPtr g =
            graph("(float[N,S,4] x) => (float[N,S,2] y) <float[4,4] w = {" + repeated("1", 16) +
                  "}, float[4,2] f = {" + repeated("1", 8) + "}> { a = MatMul(x, w)\n y = MatMul(a, f) }");
        QCOMPARE(*tailToSkip(*g, false).share, 8.0 / 24);
        QCOMPARE(skipped(g, {}), std::size_t(0));
    }
};

QTEST_GUILESS_MAIN(TailRuleTest)
#include "tail_rule_test.moc"
