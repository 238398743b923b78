// SPDX-License-Identifier: Apache-2.0
// Batch norms and activations as compact rows of their layer, in every arrangement.
#include <QTest>
#include <algorithm>
#include <cmath>
#include <set>

#include "picture/place_picture.h"
#include "picture/write_picture.h"
#include "support/text_model.h"

using namespace quantloupe;

namespace {

constexpr const char* kModel =
    "<ir_version: 8, opset_import: [\"\" : 13]> g (float[1,2,4,4] x) => (float[1,2,4,4] y, float[1,2,4,4] z) "
    "<float[2,2,1,1] w = {1, 2, 3, 4}, float[2] s = {1, 1}, float[2] b = {0, 0}, float[2] m = {0, 0}, "
    "float[2] v = {1, 1}, float low = {0}, float high = {6}> { "
    "c1 = Conv(x, w) n1 = BatchNormalization(c1, s, b, m, v) a1 = Clip(n1, low, high) "  // a stack of three
    "c2 = Conv(a1, w) a2 = Relu(c2) "                                                    // of two
    "c3 = Conv(a2, w) n3 = BatchNormalization(c3, s, b, m, v) "                          // c3 is read twice
    "d = Add(c3, n3) r = Relu(d) "                                                       // of two
    "p = MaxPool<kernel_shape = [1, 1]>(r) q = Relu(p) "  // not fused after a pool
    "z = Conv(q, w) k = Relu(z) y = Neg(k) }";            // z is an output of the graph

LayoutOptions compact(Arrangement arrangement) {
    LayoutOptions options;
    options.nodeHeight = 34, options.rowHeight = 13;
    options.compact = true;
    options.arrangement = arrangement;
    return options;
}

std::size_t boxOf(const Picture& picture, std::size_t node) { return picture.indexOf(NodeId(node)); }

bool within(double value, double low, double high) { return value > low - 0.01 && value < high + 0.01; }

/// Returns a description of an error; empty if there is none.
QString flaw(const Graph& graph, const Picture& picture) {
    const auto& nodes = picture.nodes;
    for (std::size_t n = 0; n < graph.nodeCount(); ++n)
        if (nodes[picture.indexOf(NodeId(n))].kind == PictureNode::Kind::Layer &&
            nodes[picture.indexOf(NodeId(n))].layer != NodeId(n))
            return QString("layer %1 has no box").arg(n);
    for (std::size_t a = 0; a < nodes.size(); ++a) {
        const Rect& r = nodes[a].box;
        if (!(r.x >= 0 && r.y >= 0 && r.right() <= picture.width && r.bottom() <= picture.height))
            return QString("box %1 is outside").arg(a);
        for (std::size_t b = a + 1; b < nodes.size(); ++b) {
            const Rect& s = nodes[b].box;
            if (r.x < s.right() - 0.01 && s.x < r.right() - 0.01 && r.y < s.bottom() - 0.01 &&
                s.y < r.bottom() - 0.01)
                return QString("boxes %1 and %2 overlap").arg(a).arg(b);
        }
    }
    const auto stack = [&](std::size_t i) {
        return nodes[i].isRow() ? nodes[nodes[i].host].stack() : nodes[i].stack();
    };
    for (std::size_t e = 0; e < picture.edges.size(); ++e) {
        const PictureEdge& edge = picture.edges[e];
        if (edge.points.size() < 2) return QString("edge %1 has no line").arg(e);
        if (edge.inside != nodes[edge.to].isRow()) return QString("edge %1 does not enter a row").arg(e);
        if (!edge.laidOut()) continue;
        const Rect from = stack(edge.from), to = stack(edge.to);
        const Point &first = edge.points.front(), &last = edge.points.back();
        const bool right = picture.arrangement == Arrangement::Right;
        const bool begins =
            right ? within(first.x, from.right(), from.right()) && within(first.y, from.y, from.bottom())
                  : within(first.y, from.bottom(), from.bottom()) && within(first.x, from.x, from.right());
        const bool ends = right ? within(last.x, to.x, to.x) && within(last.y, to.y, to.bottom())
                                : within(last.y, to.y, to.y) && within(last.x, to.x, to.right());
        if (!begins || !ends) return QString("edge %1 does not join its boxes").arg(e);
        for (std::size_t p = 1; p < edge.points.size(); ++p)
            for (int k = 0; k <= 50; ++k) {
                const Point &a = edge.points[p - 1], &b = edge.points[p];
                const double x = a.x + (b.x - a.x) * k / 50, y = a.y + (b.y - a.y) * k / 50;
                for (std::size_t i = 0; i < nodes.size(); ++i) {
                    const Rect& box = nodes[i].box;
                    if (x > box.x + 1 && x < box.right() - 1 && y > box.y + 1 && y < box.bottom() - 1)
                        return QString("edge %1 runs through box %2").arg(e).arg(i);
                }
            }
    }
    return {};
}

}  // namespace

class CompactPictureTest : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void foldableAndFusableNodesBecomeRows() {
        const GraphPtr graph = test::textModel(kModel).graph;
        const Picture picture = layoutPicture(*graph, compact(Arrangement::Down));
        std::set<std::string> rows;
        for (const PictureNode& node : picture.nodes)
            if (node.isRow()) rows.insert(graph->tensor(graph->node(node.layer).output()).name);
        QCOMPARE(rows, (std::set<std::string>{"n1", "a1", "a2", "r"}));
        QCOMPARE(flaw(*graph, picture), QString());
    }

    void stackOfThreeIsSixtyPointsHigh() {
        const GraphPtr graph = test::textModel(kModel).graph;
        const Picture picture = layoutPicture(*graph, compact(Arrangement::Down));
        const PictureNode& conv = picture.nodes[boxOf(picture, 0)];
        const PictureNode& norm = picture.nodes[boxOf(picture, 1)];
        const PictureNode& clip = picture.nodes[boxOf(picture, 2)];
        QCOMPARE(conv.stack().height, 60.0);
        QCOMPARE(norm.box.y, conv.box.bottom());
        QCOMPARE(clip.box.y, norm.box.bottom());
        QCOMPARE(clip.box.bottom(), conv.stack().bottom());
        QCOMPARE(norm.box.x, conv.box.x);
    }

    void everyArrangementIsValid_data() {
        QTest::addColumn<QString>("file");
        QTest::addColumn<Arrangement>("arrangement");
        for (const char* file : {"", "mobilenetv2_cifar10", "vit_2_blocks", "mlperf_tiny_resnet8"})
            for (const Arrangement arrangement :
                 {Arrangement::Down, Arrangement::Columns, Arrangement::Right, Arrangement::Largest})
                QTest::addRow("%s %d", file, static_cast<int>(arrangement)) << QString(file) << arrangement;
    }
    void everyArrangementIsValid() {
        QFETCH(const QString, file);
        QFETCH(const Arrangement, arrangement);
        const GraphPtr graph = file.isEmpty()
                                   ? test::textModel(kModel).graph
                                   : loadModel(test::asset("models/" + file.toStdString() + ".onnx")).graph;
        const LayoutOptions options = compact(arrangement);
        const Picture picture = layoutPicture(*graph, options);
        QCOMPARE(flaw(*graph, picture), QString());
        QVERIFY(picture.arrangement != Arrangement::Largest);
        Picture restored = describePicture(*graph, options);
        QVERIFY(readPlaces(writePlaces(picture), restored));
        QVERIFY(restored.arrangement == picture.arrangement);
        for (std::size_t i = 0; i < picture.nodes.size(); ++i)
            QVERIFY(restored.nodes[i].box == picture.nodes[i].box);
    }

    /// A view that is wide gets columns; one in which the network fits at its actual size gets one column.
    void theLargestArrangementDependsOnTheView() {
        const GraphPtr graph = test::textModel(kModel).graph;
        LayoutOptions options = compact(Arrangement::Largest);
        options.viewWidth = 1000, options.viewHeight = 300;
        const Picture wide = layoutPicture(*graph, options);
        options.viewWidth = 400, options.viewHeight = 2000;
        const Picture high = layoutPicture(*graph, options);
        QVERIFY(high.arrangement == Arrangement::Down);
        const auto zoom = [](const Picture& picture) {
            return std::min({1000 / picture.width, 300 / picture.height, 1.0});
        };
        QVERIFY(wide.arrangement == Arrangement::Columns);
        QVERIFY(zoom(wide) > zoom(high));
    }

    void theExportedPictureShowsTheRows() {
        const GraphPtr graph = test::textModel(kModel).graph;
        const std::string svg = graphToSvg(*graph, {}, {}, compact(Arrangement::Columns));
        std::size_t rows = 0;
        for (std::size_t at = svg.find("class=\"node row\""); at != std::string::npos;
             at = svg.find("class=\"node row\"", at + 1))
            ++rows;
        QCOMPARE(rows, std::size_t(4));
        QVERIFY(svg.find("BatchNormalization") != std::string::npos);
    }
};

QTEST_GUILESS_MAIN(CompactPictureTest)
#include "compact_picture_test.moc"
