// SPDX-License-Identifier: Apache-2.0
// sampleAxes(): the dimension of each graph input that contains the samples.
#include "model/sample_axes.h"

#include <QtTest>

#include "support/small_graph.h"

using namespace quantloupe;

class SampleAxesTest : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void axes_data() {
        QTest::addColumn<QString>("inputs");
        QTest::addColumn<QString>("expected");
        const auto row = [](const char* name, const char* inputs, const char* expected) {
            QTest::newRow(name) << QString(inputs) << QString(expected);
        };
        row("images", "float[N,3,8,8] x", "0");
        row("a fixed batch", "float[4,3,8,8] x", "0");
        row("an unknown shape", "float[] x", "0");
        row("tokens and mask", "int64[batch,T] x, int64[batch,T] m", "0 0");
        row("a sequence first", "float[T,batch,64] x", "1");
        row("a state", "float[N,400] x, float[2,N,16] h", "0 1");
        row("a state with a named batch", "float[batch,400] x, float[2,batch,16] h", "0 1");
        row("a state of one sample", "float[1,512] x, float[2,1,128] h", "0 1");
        row("the state of many layers", "int64[1,T] x, float[12,2,1,8,T,64] h", "0 2");
        row("a state of one sample next to a dynamic batch", "float[N,512] x, float[2,1,128] h", "0 1");
        row("a sampling rate", "float[N,512] x, int64 rate", "0 -");
        row("parameters of a single sample", "float[1,3,8,8] x, float[4] scale", "0 -");
        row("parameters of a fixed batch", "float[N,3,8,8] x, float[4] scale", "0 0");
        row("one image", "float[3,320,320] x", "-");
        row("two images of any size", "float[3,height,width] x, float[3,height2,width2] y", "- -");
        row("a batch of three short sequences", "float[3,8,16] x", "0");
        row("three rows of a batch", "float[3,batch,64] x", "1");
        row("a graph without features of edges", "float[nodes,9] x, int64[2,edges] e", "- -");
        row("a graph of fixed size", "float[7,9] x, int64[2,12] e, float[12,1] w", "- - -");
        row("a mask", "float[batch,S,16] x, float[S,S] mask", "0 -");
        row("a mask without names", "float[n,S,16] x, float[S,S] mask", "0 0");
        row("positions", "float[batch,6,16] x, float[6,16] positions", "0 -");
        row("positions of a fixed number", "float[batch,6,16] x, int64[2] positions", "0 -");
        row("a position, which may also be one of each sample", "float[batch,6,16] x, int64[1] position",
            "0 0");
        row("a part with a fixed batch", "float[batch,8] x, float[4,8] y", "0 0");
        row("a graph", "float[nodes,9] x, int64[2,edges] e, float[edges,3] w", "- - -");
    }
    void axes() {
        QFETCH(QString, inputs);
        const GraphPtr graph = test::graph("(" + inputs + ") => (float out) { out = Identity(x) }");
        QStringList found;
        for (const auto& axis : sampleAxes(*graph)) found << (axis ? QString::number(*axis) : "-");
        QTEST(found.join(' '), "expected");
    }

    /// CLIP compares a batch of images with a batch of texts.
    void samplesOfTwoBatches() {
        const auto axesOf = [](const char* outputs, const char* texts = "texts_batch",
                               const char* images = "images_batch") {
            const GraphPtr graph =
                test::graph(QString("(float[%2,8] t, float[%3,8] i) => (%1) "
                                    "{ c = Transpose(t) a = MatMul(i, c) d = Transpose(i) b = MatMul(t, d) }")
                                .arg(outputs, texts, images));
            QStringList found;
            for (const auto& axis : sampleAxes(*graph)) found << (axis ? QString::number(*axis) : "-");
            return found.join(' ');
        };
        const char* const perImage = "float[images_batch,texts_batch] a";
        const char* const perText = "float[texts_batch,images_batch] b";
        QCOMPARE(axesOf(perImage), "- 0");
        QCOMPARE(axesOf(perText), "0 -");
        QCOMPARE(axesOf((QString(perImage) + ", " + perText).toUtf8()), "- 0");
        QCOMPARE(axesOf("float[images_batch,8] a"), "0 0");
        QCOMPARE(axesOf("float[batch_of_pictures,texts_batch] a"), "- 0");  // the inputs use another name
        QCOMPARE(axesOf("float[rows,texts_batch] a"), "0 0");
        QCOMPARE(axesOf("float[s2,s1] a, float[s1,s2] b", "s1", "s2"), "- 0");
        QCOMPARE(axesOf("float[s2,s1,8] a", "s1", "s2"), "0 0");  // not a matrix
        QCOMPARE(axesOf("float[s1,s1] a", "s1", "s1"), "0 0");
        const GraphPtr masked = test::graph(
            "(int64[s10,4] ids, int64[s4,4] mask, float[s86,8] i) => (float[s86,s10] a) "
            "{ t = Mul(ids, mask) f = Cast<to = 1>(t) c = Transpose(f) a = MatMul(i, c) }");
        QVERIFY(sampleAxes(*masked) == (SampleAxes{std::nullopt, std::nullopt, 0}));
        const GraphPtr towers = test::graph(
            "(float[s0,7] q, float[s1,7] qm, float[s2,7] p, float[s3,7] pm) => (float[s0,s2] a) "
            "{ m = Mul(q, qm) t = Mul(p, pm) c = Transpose(t) a = MatMul(m, c) }");
        QVERIFY(sampleAxes(*towers) == (SampleAxes{0, 0, std::nullopt, 0}));  // of equal numbers of rows
        QCOMPARE(axesOf("float[first_batch,texts_batch] a, float[images_batch,texts_batch] b"), "0 0");
    }

    /// PyTorch's default layout was taken for a batch of steps, and every step was evaluated alone.
    void stepsOfRecurrentNetworks() {
        const auto axisOf = [](const char* input, const char* before, const char* layout = "0") {
            const auto zeros = [](int count) { return QStringList(count, "0").join(", "); };
            const GraphPtr graph = test::graph(
                QString(
                    "(%1 x) => (float y) <float[1,8,4] W = {%4}, float[1,8,2] R = {%5}, float[9,4] E = {%6}> "
                    "{ %2 y = LSTM<hidden_size = 2, layout = %3>(z, W, R) }")
                    .arg(input, before, layout, zeros(32), zeros(16), zeros(36)));
            return sampleAxes(*graph).at(0);
        };
        QVERIFY(axisOf("float[steps,n,4]", "z = Tanh(x)") == 1);
        QVERIFY(axisOf("float[steps,1,4]", "z = Identity(x)") == 1);
        QVERIFY(axisOf("int64[steps,n]", "z = Gather(E, x)") == 1);
        QVERIFY(axisOf("float[11,n,4]", "z = Identity(x)") == 1);
        QVERIFY(axisOf("float[11,1,4]", "z = Tanh(x)") == 1);
        QVERIFY(axisOf("float[1,n,4]", "z = Tanh(x)") == 0);  // one step, or one sample
        QVERIFY(axisOf("float[11,n,4]", "z = Transpose<perm = [1, 0, 2]>(x)") == 0);
        QVERIFY(axisOf("float[steps,n,4]", "z = Identity(x)", "1") == 0);
        QVERIFY(axisOf("float[n,steps,4]", "z = Transpose<perm = [1, 0, 2]>(x)") == 0);
        QVERIFY(axisOf("float[batch,n,4]", "z = Identity(x)") == 0);
    }

    void statesOfRecurrentNetworks() {
        const auto axesOf = [](const char* x, const char* h) {
            const GraphPtr graph =
                test::graph(QString("(%1 x, %2 h) => (float y) <float[1,6,4] W = {%3}, "
                                    "float[1,6,2] R = {%4}> "
                                    "{ y = GRU<hidden_size = 2>(x, W, R, , , h) }")
                                .arg(x, h, QStringList(24, "0").join(", "), QStringList(12, "0").join(", ")));
            const SampleAxes axes = sampleAxes(*graph);
            return QStringLiteral("%1 %2").arg(axes.at(0).value_or(9)).arg(axes.at(1).value_or(9));
        };
        QCOMPARE(axesOf("float[11,n,4]", "float[1,n,2]"), "1 1");
        QCOMPARE(axesOf("float[11,1,4]", "float[1,1,2]"), "1 1");
        QCOMPARE(axesOf("float[steps,n,4]", "float[1,n,2]"), "1 1");
    }
};

QTEST_GUILESS_MAIN(SampleAxesTest)
#include "sample_axes_test.moc"
