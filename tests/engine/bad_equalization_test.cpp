// SPDX-License-Identifier: Apache-2.0
// Models that should not be equalized: each gives a notice, and finite weights stay finite.
#include <QtTest/QtTest>
#include <cmath>

#include "base/error.h"
#include "model/graph_builder.h"
#include "support/small_graph.h"
#include "transform/prepare.h"

using namespace quantloupe;
using test::graph;
using test::lines;

namespace {

/// Replaces values of a constant, because the text form has no infinity.
GraphPtr withValues(const GraphPtr& source, const char* name, std::vector<float> values) {
    GraphBuilder builder(*source);
    const TensorId id = *source->findTensor(name);
    builder.setConstant(id, Constant::fromFloats(source->constantOf(id)->dims(), std::move(values)));
    return builder.build();
}

QString everythingSaid(const Prepared& p) {
    QString text = lines(p.notices);
    for (const LayerMapping& mapping : p.layerMappings) text += "\n" + QString::fromStdString(mapping.note);
    return text;
}

std::size_t notFinite(const Graph& g) {
    std::size_t count = 0;
    for (const TensorInfo& tensor : g.tensors())
        if (tensor.constant && tensor.constant->type() == DataType::Float32)
            for (const float v : tensor.constant->floats())
                if (!std::isfinite(v)) ++count;
    return count;
}

}  // namespace

class BadEqualizationTest : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void networks_data() {
        QTest::addColumn<QString>("body");
        QTest::addColumn<QString>("constant");
        QTest::addColumn<QList<float>>("values");
        QTest::addColumn<QString>("said");
        const QString pair =
            "(float[1,1,4,4] x) => (float[1,1,4,4] y) <float[2,1,1,1] w1 = {4, 1}, float[2] b1 = {1, 2}, "
            "float[1,2,1,1] w2 = {1, 4}> { a = Conv(x, w1, b1)\n r = Relu(a)\n y = Conv(r, w2) }";
        QTest::newRow("no weights at all in an output channel") << pair << "w1" << QList<float>{0, 4} << "";
        QTest::newRow("no weights at all") << pair << "w1" << QList<float>{0, 0} << "";
        QTest::newRow("a channel without consumers") << pair << "w2" << QList<float>{0, 1} << "";
        QTest::newRow("neither made nor read")
            << QString(pair).replace("{1, 4}>", "{0, 4}>") << "w1" << QList<float>{0, 4} << "";
        QTest::newRow("an infinite weight") << pair << "w1" << QList<float>{INFINITY, 4} << "";
        QTest::newRow("an infinite weight in the next layer")
            << pair << "w2" << QList<float>{-INFINITY, 4} << "";
        QTest::newRow("NaN") << pair << "w1" << QList<float>{NAN, 4} << "";
        QTest::newRow("an infinite bias") << pair << "b1" << QList<float>{INFINITY, 4} << "";
        QTest::newRow("subnormal weights") << pair << "w1" << QList<float>{1e-44f, 4} << "";
        QTest::newRow("the largest weights") << pair << "w1" << QList<float>{3e38f, 1e-38f} << "";
        QTest::newRow("a bias of another length")
            << "(float[1,1,4,4] x) => (float[1,1,4,4] y) <float[2,1,1,1] w1 = {4, 1}, float[3] b1 = {1, 2, "
               "3}, float[1,2,1,1] w2 = {1, 4}> "
               "{ a = Conv(x, w1, b1)\n y = Conv(a, w2) }"
            << "" << QList<float>{} << "equalized";
        QTest::newRow("channels that do not match")
            << "(float[1,1,4,4] x) => (float[1,1,4,4] y) <float[2,1,1,1] w1 = {4, 1}, float[1,3,1,1] w2 = "
               "{1, 4, 2}> "
               "{ a = Conv(x, w1)\n y = Conv(a, w2) }"
            << "" << QList<float>{} << "equalized";
        QTest::newRow("groups that do not divide")
            << "(float[1,3,4,4] x) => (float[1,1,4,4] y) <float[3,1,1,1] w1 = {4, 1, 2}, float[1,3,1,1] w2 = "
               "{1, 4, 2}> "
               "{ a = Conv<group = 2>(x, w1)\n y = Conv(a, w2) }"
            << "" << QList<float>{} << "nothing";
        QTest::newRow("no groups") << "(float[1,2,4,4] x) => (float[1,1,4,4] y) <float[2,2,1,1] w1 = {4, 1, "
                                      "2, 3}, float[1,2,1,1] w2 = {1, 4}> "
                                      "{ a = Conv<group = 0>(x, w1)\n y = Conv(a, w2) }"
                                   << "" << QList<float>{} << "nothing";
        QTest::newRow("Clip with min above max")
            << "(float[1,1,4,4] x) => (float[1,1,4,4] y) <float[2,1,1,1] w1 = {4, 1}, float[1,2,1,1] w2 = "
               "{1, 4}, float six = {6}, float zero = {0}> "
               "{ a = Conv(x, w1)\n c = Clip(a, six, zero)\n y = Conv(c, w2) }"
            << "" << QList<float>{} << "stays a Clip: its bounds are 6 and 0";
        const QString norm =
            "(float[1,1,4,4] x) => (float[1,2,4,4] y) <float[2,1,1,1] w1 = {4, 1}, float[2] g = {1, 2}, "
            "float[2] b = {1, 2}, "
            "float[2] m = {1, 2}, float[2] v = {%1}> { a = Conv(x, w1)\n y = BatchNormalization<epsilon = "
            "0.0>(a, g, b, m, v) }";
        QTest::newRow("batch norm without variance or epsilon")
            << norm.arg("1, 0") << "" << QList<float>{} << "infinite or undefined in 1 of 2 channels";
        QTest::newRow("batch norm with negative variance")
            << norm.arg("-1, 4") << "" << QList<float>{} << "infinite or undefined in 1 of 2 channels";
        QTest::newRow("batch norm with an infinite scale")
            << norm.arg("1, 4") << "g" << QList<float>{INFINITY, 1}
            << "infinite or undefined in 1 of 2 channels";
        QTest::newRow("batch norm with an infinite mean")
            << norm.arg("1, 4") << "m" << QList<float>{INFINITY, 1}
            << "its shift is infinite or undefined in 1 of 2 channels";
        QTest::newRow("batch norm with too many numbers")
            << "(float[1,1,4,4] x) => (float[1,2,4,4] y) <float[2,1,1,1] w1 = {4, 1}, float[3] g = {1, 2, "
               "3}> "
               "{ a = Conv(x, w1)\n y = BatchNormalization(a, g, g, g, g) }"
            << "" << QList<float>{} << "has 2 channels, but it has 3";
        QTest::newRow("nothing to equalize")
            << "(float[1,1,4,4] x) => (float[1,1,4,4] y) { y = Relu(x) }"
            << "" << QList<float>{}
            << "nothing can be equalized: no layer with constant weights follows another";
        QTest::newRow("something in the way")
            << "(float[1,1,4,4] x) => (float[1,1,4,4] y, float[1,2,4,4] a) <float[2,1,1,1] w1 = {4, 1}, "
               "float[1,2,1,1] w2 = {1, 4}> "
               "{ a = Conv(x, w1)\n y = Conv(a, w2) }"
            << "" << QList<float>{} << "reasons: 'Conv_0' before 'Conv_1': 'a' is a graph output";
    }
    void networks() {
        QFETCH(QString, body);
        QFETCH(QString, constant);
        QFETCH(QList<float>, values);
        QFETCH(QString, said);
        GraphPtr source;
        try {
            source = graph(body);
        } catch (const Error& error) {  // rejected on opening, with a message
            QVERIFY(!said.isEmpty());
            QVERIFY(!QString::fromUtf8(error.what()).isEmpty());
            return;
        }
        if (!constant.isEmpty())
            source = withValues(source, constant.toUtf8().constData(), {values.begin(), values.end()});
        for (const EqualizationProfile profile :
             {EqualizationProfile::Aimet, EqualizationProfile::Quark, EqualizationProfile::Quantloupe})
            for (const int steps : {1, -1})
                for (const bool bias : {false, true}) {
                    TransformOptions options;
                    options.replaceRelu6 = ReplaceRelu6::All;
                    options.equalization.profile = profile;
                    options.equalization.steps = steps;
                    options.equalization.appendBias = bias;
                    options.highBiasFold = true;
                    const auto p = prepare(source, options);
                    QVERIFY2(
                        notFinite(*p.graph) <= notFinite(*source),
                        qPrintable(QString("profile %1, steps %2, bias %3: %4 more values are not finite\n%5")
                                       .arg(int(profile))
                                       .arg(steps)
                                       .arg(bias)
                                       .arg(notFinite(*p.graph) - notFinite(*source))
                                       .arg(everythingSaid(p))));
                    QVERIFY2(everythingSaid(p).contains(said),
                             qPrintable(QString("profile %1 does not say: %2\n%3")
                                            .arg(int(profile))
                                            .arg(said, everythingSaid(p))));
                }
    }
};

QTEST_GUILESS_MAIN(BadEqualizationTest)
#include "bad_equalization_test.moc"
