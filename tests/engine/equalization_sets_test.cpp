// SPDX-License-Identifier: Apache-2.0
// The search for equalization groups on small graphs. A group is printed as "a>b" (">r>" with an activation
// in the junction).
#include "transform/equalization_sets.h"

#include <QtTest/QtTest>

#include "support/text_model.h"

using namespace quantloupe;

class EqualizationSetsTest : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void sets_data() {
        QTest::addColumn<QString>("nodes");
        QTest::addColumn<QString>("expected");
        QTest::newRow("C C") << "a = Conv(x, w1)\n y = Conv(a, w2)"
                             << "Conv_0>Conv_1";
        QTest::newRow("C Relu C") << "a = Conv(x, w1)\n b = Relu(a)\n y = Conv(b, w2)"
                                  << "Conv_0>r>Conv_2";
        QTest::newRow("C PRelu C") << "a = Conv(x, w1)\n b = PRelu(a, s)\n y = Conv(b, w2)"
                                   << "Conv_0>r>Conv_2";
        QTest::newRow("C Identity C") << "a = Conv(x, w1)\n b = Identity(a)\n y = Conv(b, w2)"
                                      << "Conv_0>Conv_2";
        QTest::newRow("C Dropout Relu Dropout C")
            << "a = Conv(x, w1)\n b = Dropout(a)\n c = Relu(b)\n d = Dropout(c)\n y = Conv(d, w2)"
            << "Conv_0>r>Conv_4";
        QTest::newRow("Dropout with an unread mask")
            << "a = Conv(x, w1)\n b, m = Dropout(a)\n y = Conv(b, w2)"
            << "Conv_0>Conv_2";
        QTest::newRow("Dropout that trains")
            << "yes = Cast<to = 9>(s)\n a = Conv(x, w1)\n b = Dropout(a, s, yes)\n y = Conv(b, w2)"
            << "";
        QTest::newRow("C C C overlap") << "a = Conv(x, w1)\n b = Conv(a, w2)\n y = Conv(b, w3)"
                                       << "Conv_0>Conv_1, Conv_1>Conv_2";
        QTest::newRow("C D C")
            << "a = Conv(x, w1)\n b = Relu(a)\n c = Conv<group = 2>(b, d1)\n y = Conv(c, w2)"
            << "Conv_0>r>Conv_2>Conv_3";
        QTest::newRow("C D C D C") << "a = Conv(x, w1)\n b = Conv<group = 2>(a, d1)\n c = Conv(b, w2)\n"
                                      "e = Conv<group = 2>(c, d2)\n y = Conv(e, w3)"
                                   << "Conv_0>Conv_1>Conv_2, Conv_2>Conv_3>Conv_4";
        QTest::newRow("D C") << "a = Conv<group = 2>(x, d1)\n y = Conv(a, w2)"
                             << "Conv_0>Conv_1";
        QTest::newRow("C D alone") << "a = Conv(x, w1)\n y = Conv<group = 2>(a, d1)"
                                   << "";
        QTest::newRow("C D D C")
            << "a = Conv(x, w1)\n b = Conv<group = 2>(a, d1)\n c = Conv<group = 2>(b, d2)\n"
               "y = Conv(c, w2)"
            << "Conv_2>Conv_3";
        QTest::newRow("C U C C")
            << "a = Conv(x, w1)\n b = Conv<group = 2>(a, u)\n c = Conv(b, v)\n y = Conv(c, w2)"
            << "Conv_2>Conv_3";
        QTest::newRow("ConvTranspose") << "a = ConvTranspose(x, w1)\n y = Conv(a, w2)"
                                       << "ConvTranspose_0>Conv_1";
        QTest::newRow("branch") << "a = Conv(x, w1)\n b = Conv(a, w2)\n y = Add(a, b)"
                                << "";
        QTest::newRow("Clip") << "a = Conv(x, w1)\n b = Clip(a, lo, hi)\n y = Conv(b, w2)"
                              << "";
        QTest::newRow("LeakyRelu") << "a = Conv(x, w1)\n b = LeakyRelu(a)\n y = Conv(b, w2)"
                                   << "";
        QTest::newRow("MaxPool") << "a = Conv(x, w1)\n b = MaxPool<kernel_shape = [1,1]>(a)\n y = Conv(b, w2)"
                                 << "";
        QTest::newRow("restart after an Add")
            << "a = Conv(x, w1)\n b = Add(a, x)\n c = Conv(b, w2)\n y = Conv(c, w3)"
            << "Conv_2>Conv_3";
        QTest::newRow("computed weight") << "v2 = Exp(w2)\n a = Conv(x, w1)\n y = Conv(a, v2)"
                                         << "";
        QTest::newRow("its own output as slope") << "a = Conv(x, w1)\n b = PRelu(a, a)\n y = Conv(b, w2)"
                                                 << "";
        QTest::newRow("shared weight") << "a = Conv(x, w1)\n b = Relu(a)\n y = Conv(b, w1)"
                                       << "";
    }
    void sets() {
        QFETCH(QString, nodes);
        QTEST(find("(float[N,2,4,4] x) => (float[N,2,4,4] y)", nodes), "expected");
    }

    void graphOutputInBetweenEndsTheChain() {
        const QString nodes = "a = Conv(x, w1)\n b = Relu(a)\n y = Conv(b, w2)";
        QCOMPARE(find("(float[N,2,4,4] x) => (float[N,2,4,4] y, float[N,2,4,4] a)", nodes), QString());
        QCOMPARE(find("(float[N,2,4,4] x) => (float[N,2,4,4] y, float[N,2,4,4] b)", nodes), QString());
    }

    void sharedWeightIsReported() {
        find("(float[N,2,4,4] x) => (float[N,2,4,4] y)", "a = Conv(x, w1)\n y = Conv(a, w1)");
        QCOMPARE(m_notices.size(), std::size_t(1));
        QCOMPARE(
            QString::fromStdString(m_notices[0]),
            QString("'Conv_0', 'Conv_1' are not equalized: 'w1' of 'Conv_0' is read by other layers, too"));
    }

  private:
    QString find(const QString& values, const QString& nodes) {
        const QString constants =
            "<float[2,2,1,1] w1 = {1,2,3,4}, float[2,2,1,1] w2 = {1,2,3,4}, "
            "float[2,2,1,1] w3 = {1,2,3,4}, float[2,1,1,1] d1 = {1,2}, float[2,1,1,1] d2 = {1,2}, "
            "float[4,1,1,1] u = {1,2,3,4}, float[2,4,1,1] v = {1,2,3,4,5,6,7,8}, "
            "float[1] s = {0.25}, float lo = {0}, float hi = {6}> ";
        const auto graph = test::textModel("<ir_version: 8, opset_import: [\"\" : 13]> net " +
                                           (values + constants + "{ " + nodes + " }").toStdString())
                               .graph;
        m_notices.clear();
        QStringList texts;
        for (const LayerSet& set : findEqualizationSets(*graph, m_notices)) {
            QString text;
            for (std::size_t i = 0; i < set.layers.size(); ++i) {
                if (i > 0) text += set.activationBetween[i - 1] ? ">r>" : ">";
                text += QString::fromStdString(graph->node(set.layers[i]).name);
            }
            texts << text;
        }
        return texts.join(", ");
    }

    std::vector<std::string> m_notices;
};

QTEST_GUILESS_MAIN(EqualizationSetsTest)
#include "equalization_sets_test.moc"
