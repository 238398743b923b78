// SPDX-License-Identifier: Apache-2.0
// AIMET's equalization on difficult cases: the numbers printed in its documentation, and small corner cases
// compared with AIMET's own results. transform_test covers whole networks.
#include <QtTest/QtTest>
#include <cmath>

#include "support/equalization.h"

using namespace quantloupe;
using test::constantOf;
using test::deviationFrom;
using test::graph;
using test::lines;
using test::oracleDocument;

namespace {

TransformOptions aimet(bool highBias = false) {
    TransformOptions options;
    options.replaceRelu6 = ReplaceRelu6::Between;
    options.equalization.profile = EqualizationProfile::Aimet;
    options.highBiasFold = highBias;
    return options;
}

QString floats(const std::vector<double>& values) {
    QStringList texts;
    for (const double v : values) texts << QString::number(v, 'e', 12);
    return texts.join(", ");
}

}  // namespace

class AimetEqualizationTest : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    /// The numbers in AIMET's documentation of equalization for MobileNetV2's features.1 project (first and
    /// last row) and features.2 expand (first and last columns), before and after. The largest weights are
    /// not printed; here they are chosen so that the pair rule r1 / sqrt(r1 r2) gives the factors by which
    /// the printed columns grow. The printed rows must shrink by the same factors.
    void printedNumbers() {
        const std::vector<double> columns{-8.41059163e-02, -1.12039044e-01, -2.72468403e-02,
                                          9.46642041e-01,  4.35139937e-03,  2.57021021e-02};
        const std::vector<double> columnsAfter{-2.4585028e-01, -3.5856506e-01, -3.3467390e-02,
                                               1.2930528e+00,  1.6213797e-02,  7.0406616e-02};
        const std::vector<double> first{1.83640555e-01, 6.34215236e-01, 8.44993666e-02},
            last{-6.70130579e-17, -1.37757687e-02, 9.16839484e-03};
        const std::vector<double> firstAfter{6.28238320e-02, 2.16966406e-01, 2.89074164e-02},
            lastAfter{-2.44632760e-17, -5.02887694e-03, 3.34694423e-03};
        std::vector<double> head, tail(18, 0.0);
        for (std::size_t c = 0; c < 6; ++c) {
            const double s = columnsAfter[c] / columns[c];
            for (std::size_t i = 0; i < 3; ++i) head.push_back(c == 0 ? first[i] : c == 5 ? last[i] : 0.0);
            head.push_back(s * s);
            tail[(c < 3 ? 0 : 6) + c] = columns[c];
            tail[12 + c] = 1;
        }
        const auto p = prepare(
            graph("(float[N,4,4,4] x) => (float[N,3,4,4] y) <float[6,4,1,1] w1 = {" + floats(head) +
                  "}, float[3,6,1,1] w2 = {" + floats(tail) + "}> { a = Conv(x, w1)\n y = Conv(a, w2) }"),
            aimet());
        const double factors[] = {2.92310, 3.20036, 1.22830, 1.36594, 3.72611, 2.73933};
        for (std::size_t c = 0; c < 6; ++c)
            QVERIFY(std::fabs(static_cast<double>(p.sets.at(0).factors[0][c]) - factors[c]) < 1e-5);
        const auto head2 = constantOf(*p.graph, NodeId(0), 1), tail2 = constantOf(*p.graph, NodeId(1), 1);
        const auto same = [](float found, double printed) {
            return std::fabs(static_cast<double>(found) / printed - 1) < 2e-7;
        };
        for (std::size_t i = 0; i < 3; ++i) {
            QVERIFY(same(head2[i], firstAfter[i]));
            QVERIFY(same(head2[20 + i], lastAfter[i]));
        }
        for (std::size_t c = 0; c < 6; ++c) QVERIFY(same(tail2[(c < 3 ? 0 : 6) + c], columnsAfter[c]));
    }

    /// MobileNetV2: two sets while ReLU6 stays, 19 without it, wherever the bounds are kept.
    void setsOfMobileNet_data() {
        QTest::addColumn<int>("replace");
        QTest::addColumn<int>("sets");
        for (const char* model : {"mobilenetv2_cifar10", "mobilenetv2_cifar10_opset20"}) {
            QTest::addRow("%s, Clip kept", model) << int(ReplaceRelu6::None) << 2;
            QTest::addRow("%s, Clip to Relu", model) << int(ReplaceRelu6::Between) << 19;
        }
    }
    void setsOfMobileNet() {
        QFETCH(int, replace);
        TransformOptions options = aimet();
        options.replaceRelu6 = static_cast<ReplaceRelu6>(replace);
        const std::string model = QByteArray(QTest::currentDataTag()).split(',').front().toStdString();
        QUANTLOUPE_ASSET(path, "models/" + model + ".onnx");
        const auto p = prepare(loadModel(path).graph, options);
        QTEST(int(p.sets.size()), "sets");
    }

    void cornerCases_data() {
        QTest::addColumn<bool>("equalized");  // whether Quantloupe equalizes it
        QTest::addColumn<bool>("same");       // the weights equal AIMET's
        QTest::addColumn<QString>("said");
        const auto row = [](const char* name, bool we, bool same, const char* said = "") {
            QTest::newRow(name) << we << same << said;
        };
        row("plain", true, true);
        row("no_group_attribute", true, false);  // defaults to 1, which AIMET does not handle
        row("conv_output_is_graph_output", false, false, "AIMET itself scales it");
        row("relu_output_is_graph_output", false, false, "AIMET itself scales it");
        row("shared_weight", false, true, "is read by other layers, too");
        row("leaky_relu", false, true, "the profile quantloupe could equalize");
        row("max_pool", false, true, "the profile quantloupe could equalize");
        // AIMET uses this batch norm as the statistics of the layer that it was folded into
        row("bn_before_unpadded_conv", true, false);
        row("channels_below_weight_threshold", true, true);
        row("dead_channel", true, true, "dead or nearly so");
        row("clip_0_6_constants", true, true);
        row("clip_0_6_initializers", true, false);  // AIMET does not see them
        // AIMET replaces them with Relu, which changes the network
        row("clip_0_1_constants", false, false, "clips at 0 and 1");
        row("clip_0_1_initializers", false, true, "clips at 0 and 1");
        row("clip_0_20_constants", false, false, "clips at 0 and 20");
        row("clip_0_20_initializers", false, true, "clips at 0 and 20");
    }
    void cornerCases() {
        QFETCH(bool, equalized);
        QFETCH(bool, same);
        QFETCH(QString, said);
        const auto name = std::string(QTest::currentDataTag());
        const auto p = prepare(loadModel(test::assets() / "oracles" / ("cle_corner_" + name + ".onnx")).graph,
                               aimet(true));
        QCOMPARE(p.sets.size(), std::size_t(equalized));
        QVERIFY2(said.isEmpty() || lines(p.notices).contains(said), qPrintable(lines(p.notices)));
        const QJsonObject theirs =
            oracleDocument("cle_aimet_corner_cases.json")["cases"].toObject()[name.c_str()].toObject();
        QVERIFY(!theirs.isEmpty());
        const auto [worst, layers] = deviationFrom(theirs, *p.graph);
        QVERIFY(layers >= 2);
        QVERIFY2((worst <= 1e-6) == same,
                 qPrintable(QString("worst %1\n%2").arg(worst).arg(lines(p.notices))));
    }
};

QTEST_GUILESS_MAIN(AimetEqualizationTest)
#include "aimet_equalization_test.moc"
