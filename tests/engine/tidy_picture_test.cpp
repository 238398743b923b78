// SPDX-License-Identifier: Apache-2.0
// Features that keep large graphs readable: shape arithmetic as one box, references to tensors with many
// consumers, columns.
#include <QTest>
#include <algorithm>
#include <random>
#include <set>

#include "picture/picture.h"
#include "picture/shape_groups.h"
#include "support/graph_sketch.h"
#include "support/text_model.h"

using namespace quantloupe;
using test::GraphSketch;

namespace {

GraphPtr masked(std::size_t layers) {
    GraphSketch sketch;
    sketch.input("mask");
    const std::string mask = sketch.add("Cast", {"mask"});
    std::string at = "x";
    for (std::size_t layer = 0; layer < layers; ++layer) {
        const std::string left = sketch.add("MatMul", {at}), right = sketch.add("MatMul", {at});
        const std::string scores =
            sketch.add("Softmax", {sketch.add("Add", {sketch.add("Mul", {left, right}), mask})});
        at = sketch.add("Add", {at, sketch.add("Gelu", {sketch.add("Gemm", {scores})})});
    }
    return sketch.build({at});
}

GraphPtr nestedSkips(std::size_t depth, std::size_t layers) {
    GraphSketch sketch;
    std::string at = "x";
    std::vector<std::string> skips;
    for (std::size_t level = 0; level < depth; ++level) {
        for (std::size_t i = 0; i < layers; ++i) at = sketch.add("Conv", {at});
        skips.push_back(at);
    }
    for (std::size_t level = depth; level-- > 0;) {
        at = sketch.add("Concat", {at, skips[level]});
        for (std::size_t i = 0; i < layers; ++i) at = sketch.add("Conv", {at});
    }
    return sketch.build({at});
}

/// A dense block. `running`: each Concat joins the one before and one more result, as Keras writes it;
/// otherwise all results again, as PyTorch does.
GraphPtr dense(std::size_t layers, bool running) {
    GraphSketch sketch;
    std::vector<std::string> results{sketch.add("Conv", {"x"})};
    std::string at = results.front();
    for (std::size_t layer = 0; layer < layers; ++layer) {
        results.push_back(sketch.add("Conv", {sketch.add("Relu", {at})}));
        at = sketch.add("Concat", running && layer > 0 ? std::vector{at, results.back()} : results);
    }
    return sketch.build({sketch.add("Relu", {at})});
}

GraphPtr branched(unsigned seed, std::size_t layers) {
    std::mt19937 random(seed);
    GraphSketch sketch;
    std::string at = "x";
    for (std::size_t made = 0; made < layers; made += 4) {
        const std::string one = sketch.add("Conv", {at});
        at = random() % 2 ? sketch.add("Add", {one, sketch.add("Relu", {at})}) : sketch.add("Relu", {one});
    }
    return sketch.build({at});
}

/// Boxes do not overlap, and edges run from border to border without crossing boxes, in any direction.
QString flaw(const Picture& picture) {
    for (std::size_t a = 0; a < picture.nodes.size(); ++a) {
        const Rect& r = picture.nodes[a].box;
        if (r.x < 0 || r.y < 0 || r.right() > picture.width || r.bottom() > picture.height)
            return QString("box %1 is outside").arg(a);
        for (std::size_t b = a + 1; b < picture.nodes.size(); ++b) {
            const Rect& s = picture.nodes[b].box;
            if (r.x < s.right() && s.x < r.right() && r.y < s.bottom() && s.y < r.bottom())
                return QString("boxes %1 and %2 overlap").arg(a).arg(b);
        }
    }
    for (std::size_t e = 0; e < picture.edges.size(); ++e) {
        const PictureEdge& edge = picture.edges[e];
        const Rect &from = picture.nodes[edge.from].box, &to = picture.nodes[edge.to].box;
        if (edge.points.size() < 2) return QString("edge %1 has no line").arg(e);
        const Point &first = edge.points.front(), &last = edge.points.back();
        if (!edge.reference &&
            (std::abs(first.y - from.bottom()) > 0.01 || first.x < from.x || first.x > from.right()))
            return QString("edge %1 does not begin at its box").arg(e);
        if (std::abs(last.y - to.y) > 0.01 || last.x < to.x || last.x > to.right())
            return QString("edge %1 does not end at its box").arg(e);
        if (edge.hidden) continue;
        for (std::size_t p = 1; p < edge.points.size(); ++p) {
            const Point &a = edge.points[p - 1], &b = edge.points[p];
            if (a.x < 0 || a.y < 0 || a.x > picture.width || a.y > picture.height)
                return QString("edge %1 leaves the drawing").arg(e);
            for (std::size_t i = 0; i < picture.nodes.size(); ++i) {
                const Rect& box = picture.nodes[i].box;
                if (std::min(a.x, b.x) >= box.right() - 1 || std::max(a.x, b.x) <= box.x + 1 ||
                    std::min(a.y, b.y) >= box.bottom() - 1 || std::max(a.y, b.y) <= box.y + 1)
                    continue;
                // Bounding boxes of diagonal lines are too coarse: check points along the lines.
                for (int k = 0; k <= 50; ++k) {
                    const double x = a.x + (b.x - a.x) * k / 50, y = a.y + (b.y - a.y) * k / 50;
                    if (x > box.x + 1 && x < box.right() - 1 && y > box.y + 1 && y < box.bottom() - 1)
                        return QString("edge %1 runs through box %2").arg(e).arg(i);
                }
            }
        }
    }
    return {};
}

}  // namespace

class TidyPictureTest : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void shapeArithmeticIsOneBox() {
        const GraphPtr graph = test::textModel(
                                   "<ir_version: 8, opset_import: [\"\" : 13]> g (float[2,3,4] x) => "
                                   "(float[M,N] y) <int64 i = {0}, int64[1] m = {-1}, int64[1] a = {0}> "
                                   "{ r = Relu(x) s = Shape(r) n = Gather(s, i) u = Unsqueeze(n, a) c = "
                                   "Concat<axis = 0>(u, m) y = Reshape(r, c) }")
                                   .graph;
        const std::vector<Group> found = findShapeGroups(*graph);
        QCOMPARE(found.size(), 1u);
        QCOMPARE(found[0].nodes.size(), 4u);
        LayoutOptions options;
        options.tidy = true;
        const Picture tidy = layoutPicture(*graph, options);
        QCOMPARE(tidy.nodes.size(), 5u);  // x, Relu, shape arithmetic, Reshape, y
        QCOMPARE(flaw(tidy), QString());
        QVERIFY(tidy.nodes[tidy.indexOf(*graph->findNode("Gather_2"))].kind == PictureNode::Kind::Group);
        options.opened = {found[0].name};
        QCOMPARE(layoutPicture(*graph, options).nodes.size(), 8u);
    }

    void shapeArithmeticOfLaterLayersIsSeparate() {
        // The second Shape is downstream of the first Reshape: one box for both would create a cycle.
        const GraphPtr graph =
            test::textModel(
                "<ir_version: 8, opset_import: [\"\" : 13]> g (float[2,3] x) => (float[M,N] y) "
                "{ s = Shape(x) t = Neg(s) u = Abs(t) r = Reshape(x, u) v = Shape(r) w = Add(v, t) q = "
                "Abs(w) y = Reshape(r, q) }")
                .graph;
        const std::vector<Group> found = findShapeGroups(*graph);
        QCOMPARE(found.size(), 2u);
        LayoutOptions options;
        options.tidy = true;
        const Picture tidy = layoutPicture(*graph, options);
        QCOMPARE(tidy.nodes.size(), 2u + 4u);
        QCOMPARE(flaw(tidy), QString());
    }

    void masksBecomeReferences() {
        const GraphPtr graph = masked(24);
        LayoutOptions options;
        const Picture plain = layoutPicture(*graph, options);
        options.tidy = true;
        const Picture tidy = layoutPicture(*graph, options);
        QCOMPARE(tidy.edges.size(), plain.edges.size());
        const auto references =
            std::ranges::count_if(tidy.edges, [](const PictureEdge& e) { return e.reference; });
        // the near ones are drawn
        QVERIFY2(references > 10 && references < 24, qPrintable(QString::number(references)));
        for (const PictureEdge& edge : tidy.edges)
            if (edge.reference) QCOMPARE(tidy.nodes[edge.from].title, std::string("Cast"));
        QCOMPARE(flaw(tidy), QString());
        QVERIFY(tidy.width < plain.width);
    }

    void concatsOfAllResultsAreDrawnLikeRunningConcats() {
        LayoutOptions options;
        options.tidy = true;
        const GraphPtr graph = dense(60, false);
        const Picture plain = layoutPicture(*graph), anew = layoutPicture(*graph, options),
                      running = layoutPicture(*dense(60, true), options);
        QCOMPARE(flaw(anew), QString());
        const auto visible = [](const Picture& picture) {
            std::multiset<std::pair<std::size_t, std::size_t>> edges;
            for (const PictureEdge& edge : picture.edges)
                if (!edge.hidden) edges.emplace(edge.from, edge.to);
            return edges;
        };
        QVERIFY(visible(anew) == visible(running));
        for (std::size_t i = 0; i < anew.nodes.size(); ++i)
            QVERIFY(anew.nodes[i].box == running.nodes[i].box);
        QVERIFY2(anew.width < plain.width / 4,
                 qPrintable(QString("%1 and %2 wide").arg(anew.width).arg(plain.width)));
        // Nothing is lost: every tensor's edge is still there to be shown.
        const auto carrying = std::ranges::count_if(anew.edges, &PictureEdge::carries);
        QCOMPARE(anew.edges.size() - static_cast<std::size_t>(carrying), plain.edges.size());
        QCOMPARE(carrying, 59);
    }

    /// A prefix of another list is not enough: all inputs of the earlier Concat must come first.
    void otherConcatsAreUnchanged() {
        GraphSketch sketch;
        const std::string a = sketch.add("Conv", {"x"}), b = sketch.add("Conv", {"x"}),
                          c = sketch.add("Conv", {"x"});
        const std::string first = sketch.add("Concat", {a, b}), same = sketch.add("Concat", {a, b}),
                          turned = sketch.add("Concat", {b, a, c});
        LayoutOptions options;
        options.tidy = true;
        const Picture picture =
            layoutPicture(*sketch.build({sketch.add("Sum", {first, same, turned})}), options);
        QVERIFY(std::ranges::none_of(picture.edges,
                                     [](const PictureEdge& edge) { return edge.hidden || edge.carries; }));
    }

    void columns_data() {
        QTest::addColumn<GraphPtr>("graph");
        QTest::newRow("chain with branches") << branched(20261121, 900);
        QTest::newRow("skips across columns") << nestedSkips(12, 14);
        QTest::newRow("masked") << masked(24);
    }
    void columns() {
        QFETCH(const GraphPtr, graph);
        LayoutOptions options;
        const Picture strip = layoutPicture(*graph, options);
        options.arrangement = Arrangement::Columns;
        const Picture wrapped = layoutPicture(*graph, options);
        QCOMPARE(flaw(wrapped), QString());
        QVERIFY(wrapped.height < strip.height / 3);
        const double aspect = wrapped.width / wrapped.height;
        QVERIFY2(aspect > 0.7 && aspect < 4, qPrintable(QString::number(aspect)));
        const Picture again = layoutPicture(*graph, options);
        for (std::size_t e = 0; e < wrapped.edges.size(); ++e)
            QVERIFY(wrapped.edges[e].points == again.edges[e].points);
    }

    void shortGraphsStayInOneColumn() {
        const GraphPtr graph = branched(3, 12);
        LayoutOptions options;
        const Picture strip = layoutPicture(*graph, options);
        options.arrangement = Arrangement::Columns;
        QCOMPARE(layoutPicture(*graph, options).height, strip.height);
    }

    void realModelsSimplifiedAndWrapped_data() {
        QTest::addColumn<QString>("file");
        for (const char* name : {"mobilenetv2_cifar10", "vit_2_blocks", "vit_2_blocks_opset20", "vit_cifar10",
                                 "vit_cifar10_opset20", "mlperf_tiny_resnet8"})
            QTest::newRow(name) << QString(name);
    }
    void realModelsSimplifiedAndWrapped() {
        QFETCH(const QString, file);
        QUANTLOUPE_ASSET(path, "models/" + file.toStdString() + ".onnx");
        const GraphPtr graph = loadModel(path).graph;
        LayoutOptions options;
        options.tidy = true;
        QCOMPARE(flaw(layoutPicture(*graph, options)), QString());
        options.arrangement = Arrangement::Columns;
        QCOMPARE(flaw(layoutPicture(*graph, options)), QString());
    }
};

QTEST_GUILESS_MAIN(TidyPictureTest)
#include "tidy_picture_test.moc"
