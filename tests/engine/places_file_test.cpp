// SPDX-License-Identifier: Apache-2.0
// Saved layouts: round trips, and damaged files are ignored.
#include <QTest>
#include <random>

#include "picture/place_picture.h"
#include "support/text_model.h"

using namespace quantloupe;

class PlacesFileTest : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void initTestCase() {
        m_graph = test::textModel(
                      "<ir_version: 8, opset_import: [\"\" : 13]> g (float[2] x) => (float[2] y) "
                      "{ a = Relu(x) b = Abs(a) c = Neg(b) d = Add(a, c) e = Abs(d) y = Add(d, e) }")
                      .graph;
        m_placed = layoutPicture(*m_graph);
    }

    void placesRoundTrip() {
        Picture picture = describePicture(*m_graph);
        QVERIFY(readPlaces(writePlaces(m_placed), picture));
        QCOMPARE(picture.width, m_placed.width);
        QCOMPARE(picture.height, m_placed.height);
        for (std::size_t i = 0; i < picture.nodes.size(); ++i) {
            QVERIFY(picture.nodes[i].box == m_placed.nodes[i].box);
            QCOMPARE(picture.nodes[i].title, m_placed.nodes[i].title);
        }
        for (std::size_t e = 0; e < picture.edges.size(); ++e)
            QVERIFY(picture.edges[e].points == m_placed.edges[e].points);
        QCOMPARE(picture.frames.size(), m_placed.frames.size());
    }

    void damageIsDetected() {
        const std::string good = writePlaces(m_placed);
        const unsigned seed = 20261121;
        std::mt19937 random(seed);
        for (int round = 0; round < 200; ++round) {
            std::string bad = good;
            if (round % 2)
                bad.resize(random() % good.size());
            else
                bad[random() % bad.size()] ^= static_cast<char>(1 << random() % 8);
            Picture picture = describePicture(*m_graph);
            QVERIFY2(!readPlaces(bad, picture),
                     qPrintable(QString("seed %1, round %2").arg(seed).arg(round)));
            QVERIFY(picture.edges[0].points.empty());
        }
    }

    void placesOfAnotherGraphAreRejected() {
        const GraphPtr other =
            test::textModel(
                "<ir_version: 8, opset_import: [\"\" : 13]> g (float[2] x) => (float[2] y) { y = Relu(x) }")
                .graph;
        Picture picture = describePicture(*other);
        QVERIFY(!readPlaces(writePlaces(m_placed), picture));
    }

    void theKeyDistinguishesStructures() {
        const Picture one = describePicture(*m_graph);
        LayoutOptions wide, wrapped;
        wide.nodeWidth = 300;
        wrapped.arrangement = Arrangement::Columns;
        QVERIFY(placesKey(one, {}) == placesKey(describePicture(*m_graph), {}));
        QVERIFY(placesKey(one, {}) != placesKey(one, wide));
        QVERIFY(placesKey(one, {}) != placesKey(one, wrapped));
        Picture cut = one;
        cut.edges.pop_back();
        QVERIFY(placesKey(one, {}) != placesKey(cut, {}));
    }

  private:
    GraphPtr m_graph;
    Picture m_placed;
};

QTEST_GUILESS_MAIN(PlacesFileTest)
#include "places_file_test.moc"
