// SPDX-License-Identifier: Apache-2.0
// The drawn graph: boxes do not overlap, and edges run from border to border without crossing other boxes.
#include "picture/picture.h"

#include <QTest>
#include <algorithm>
#include <clocale>
#include <ctime>
#include <map>
#include <random>

#include "picture/dot_layout.h"
#include "picture/layered_layout.h"
#include "picture/ranks.h"
#include "picture/waists.h"
#include "picture/write_picture.h"
#include "support/graph_sketch.h"
#include "support/text_model.h"

using namespace quantloupe;
using test::GraphSketch;

namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSanitized = true;  // without time limits
#else
constexpr bool kSanitized = false;
#endif
constexpr const char* kHead = "<ir_version: 8, opset_import: [\"\" : 13]> ";

GraphPtr fromText(const std::string& text) { return test::textModel(kHead + text).graph; }

GraphPtr chainWithBranches(std::size_t layers) {
    std::mt19937 random(7);
    GraphSketch sketch;
    std::string at = "x";
    while (sketch.size() + 10 < layers) {
        const std::size_t length = 1 + random() % 4;
        std::string branch = at, other = at;
        for (std::size_t i = 0; i < length; ++i) branch = sketch.add("Conv", {branch});
        for (std::size_t i = random() % 3; i > 0; --i) other = sketch.add("Relu", {other});
        at = random() % 3 == 0 ? branch
                               : sketch.add("Add", {branch, other == at || other != branch ? other : at});
    }
    while (sketch.size() < layers) at = sketch.add("Relu", {at});
    return sketch.build({at});
}

GraphPtr nestedSkips(std::size_t depth, std::size_t layersALevel) {
    GraphSketch sketch;
    sketch.input("time");
    const std::string time = sketch.add("Gemm", {"time"});
    std::string at = "x";
    std::vector<std::string> skips;
    for (std::size_t level = 0; level < depth; ++level) {
        for (std::size_t i = 0; i < layersALevel; ++i) at = sketch.add("Conv", {at});
        at = sketch.add("Add", {at, sketch.add("Gemm", {time})});
        skips.push_back(at);
    }
    for (std::size_t level = depth; level-- > 0;) {
        at = sketch.add("Concat", {at, skips[level]});
        for (std::size_t i = 0; i < layersALevel; ++i) at = sketch.add("Conv", {at});
    }
    return sketch.build({at});
}

GraphPtr maskedTransformer(std::size_t layers) {
    GraphSketch sketch;
    sketch.input("mask");
    const std::string mask = sketch.add("Mul", {sketch.add("Cast", {sketch.add("Unsqueeze", {"mask"})})});
    std::string at = "x";
    for (std::size_t layer = 0; layer < layers; ++layer) {
        const std::string norm = sketch.add("LayerNormalization", {at});
        std::vector<std::string> qkv;
        for (int i = 0; i < 3; ++i)
            qkv.push_back(sketch.add("Transpose", {sketch.add("Reshape", {sketch.add("MatMul", {norm})})}));
        const std::string scores = sketch.add("Add", {sketch.add("MatMul", {qkv[0], qkv[1]}), mask});
        std::string out = sketch.add("MatMul", {sketch.add("Softmax", {scores}), qkv[2]});
        at = sketch.add("Add", {at, sketch.add("Gemm", {out})});
        out = sketch.add("Gelu", {sketch.add("Gemm", {sketch.add("LayerNormalization", {at})})});
        at = sketch.add("Add", {at, sketch.add("Gemm", {out})});
    }
    return sketch.build({at});
}

GraphPtr denselyConnected(std::size_t blocks, std::size_t layers) {
    GraphSketch sketch;
    std::string at = "x";
    for (std::size_t block = 0; block < blocks; ++block) {
        std::vector<std::string> features{sketch.add("Conv", {at})};
        for (std::size_t layer = 0; layer < layers; ++layer) {
            std::string out = sketch.add("Concat", features);
            for (const char* op :
                 {"BatchNormalization", "Relu", "Conv", "BatchNormalization", "Relu", "Conv"})
                out = sketch.add(op, {out});
            features.push_back(out);
        }
        at = sketch.add("AveragePool", {sketch.add("Concat", features)});
    }
    return sketch.build({at});
}

GraphPtr randomGraph(unsigned seed, std::size_t layers, std::size_t reach) {
    std::mt19937 random(seed);
    GraphSketch sketch;
    std::vector<std::string> made{"x"};
    for (std::size_t i = 0; i < layers; ++i) {
        std::vector<std::string> inputs;
        for (std::size_t k = random() % 3 + 1; k > 0; --k)
            inputs.push_back(made[made.size() - 1 - random() % std::min(reach, made.size())]);
        made.push_back(sketch.add("Op", inputs));
    }
    return sketch.build({made.back(), made[made.size() / 2]});
}

/// Processor time: the layout is serial, and other load on the machine does not affect it.
double cpuMilliseconds() { return 1e3 * static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

bool same(const Picture& a, const Picture& b) {
    const auto box = [](const PictureNode& x, const PictureNode& y) { return x.box == y.box; };
    const auto line = [](const PictureEdge& x, const PictureEdge& y) { return x.points == y.points; };
    return std::equal(a.nodes.begin(), a.nodes.end(), b.nodes.begin(), b.nodes.end(), box) &&
           std::equal(a.edges.begin(), a.edges.end(), b.edges.begin(), b.edges.end(), line);
}

/// Returns a description of an error in the picture; empty if there is none.
QString flaw(const Graph& graph, const Picture& picture) {
    const auto& nodes = picture.nodes;
    if (nodes.size() != graph.inputs().size() + graph.nodeCount() + graph.outputs().size())
        return "boxes are missing";
    std::vector<std::size_t> byTop(nodes.size());
    double tallest = 0;
    for (std::size_t i = 0; i < byTop.size(); ++i) {
        byTop[i] = i;
        const Rect& box = nodes[i].box;
        tallest = std::max(tallest, box.height);
        if (!(box.x >= 0 && box.y >= 0 && box.right() <= picture.width && box.bottom() <= picture.height))
            return QString("box %1 is outside").arg(i);
    }
    std::sort(byTop.begin(), byTop.end(), [&](auto a, auto b) { return nodes[a].box.y < nodes[b].box.y; });
    const auto firstFrom = [&](double y) {
        return std::lower_bound(byTop.begin(), byTop.end(), y,
                                [&](auto i, double v) { return nodes[i].box.y < v; });
    };
    for (auto i = byTop.begin(); i != byTop.end(); ++i) {
        const Rect& a = nodes[*i].box;
        for (auto k = i + 1; k != byTop.end() && nodes[*k].box.y < a.bottom(); ++k) {
            const Rect& b = nodes[*k].box;
            if (a.x < b.right() && b.x < a.right()) return QString("boxes %1 and %2 overlap").arg(*i).arg(*k);
        }
    }
    std::map<std::pair<std::size_t, TensorId>, int> wanted;  // reader and tensor
    for (std::size_t t = 0; t < graph.tensorCount(); ++t) {
        const TensorInfo& tensor = graph.tensors()[t];
        if (tensor.constant) continue;
        for (const NodeId reader : tensor.consumers) ++wanted[{picture.indexOf(reader), TensorId(t)}];
    }
    for (std::size_t k = 0; k < graph.outputs().size(); ++k)
        ++wanted[{nodes.size() - graph.outputs().size() + k, graph.outputs()[k]}];
    if (wanted.size() != picture.edges.size()) return "edges are missing or too many";
    for (std::size_t e = 0; e < picture.edges.size(); ++e) {
        const PictureEdge& edge = picture.edges[e];
        if (!wanted.contains({edge.to, edge.tensor})) return QString("edge %1 is not in the graph").arg(e);
        if (edge.points.size() < 2) return QString("edge %1 has no line").arg(e);
        const Rect &from = nodes[edge.from].box, &to = nodes[edge.to].box;
        const Point &first = edge.points.front(), &last = edge.points.back();
        if (std::abs(first.y - from.bottom()) > 0.01 || first.x < from.x || first.x > from.right())
            return QString("edge %1 does not start at the lower rim of its box").arg(e);
        if (std::abs(last.y - to.y) > 0.01 || last.x < to.x || last.x > to.right())
            return QString("edge %1 does not end at the upper rim of its box").arg(e);
        for (std::size_t p = 1; p < edge.points.size(); ++p) {
            const Point &a = edge.points[p - 1], &b = edge.points[p];
            if (b.y < a.y - 0.01) return QString("edge %1 runs upwards").arg(e);
            for (auto i = firstFrom(a.y - tallest); i != byTop.end() && nodes[*i].box.y < b.y; ++i) {
                const Rect& box = nodes[*i].box;
                const double top = std::max(a.y, box.y + 1), bottom = std::min(b.y, box.bottom() - 1);
                if (top > bottom) continue;
                const auto at = [&](double y) {
                    return b.y > a.y ? a.x + (b.x - a.x) * (y - a.y) / (b.y - a.y) : a.x;
                };
                const double left = std::min(at(top), at(bottom)), right = std::max(at(top), at(bottom));
                if (left < box.right() - 1 && right > box.x + 1)
                    return QString("edge %1 runs through box %2").arg(e).arg(*i);
            }
        }
    }
    return {};
}

}  // namespace

class PictureTest : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void smallGraphs_data();
    void smallGraphs();
    void realModels_data();
    void realModels();
    void largeGraphs_data();
    void largeGraphs();
    void randomGraphs();
    void layeredLayoutIsValid();
    void waistsOfADiamond();
    void nodesMoveDownToTheirFirstConsumer();
    void trunkIsStraight();
    void cancels();
    void localeDoesNotMatter();
};

void PictureTest::smallGraphs_data() {
    QTest::addColumn<std::string>("text");
    QTest::newRow("chain") << std::string(
        "g (float[2] x) => (float[2] y) { a = Relu(x) b = Abs(a) y = Neg(b) }");
    QTest::newRow("residual") << std::string(
        "g (float[2] x) => (float[2] y) { a = Relu(x) b = Abs(a) c = Neg(b) y = Add(a, c) }");
    QTest::newRow("diamond") << std::string(
        "g (float[2] x) => (float[2] y) { a = Relu(x) b = Abs(a) c = Neg(a) y = Add(b, c) }");
    QTest::newRow("many ends") << std::string(
        "g (float[2] x, float[2] z, float[2] w) => (float[2] y, float[2] v, float[2] a) "
        "{ a = Add(x, z) b = Add(a, w) y = Neg(b) v = Abs(a) }");
    QTest::newRow("unconnected") << std::string(
        "g (float[2] x, float[2] unused) => (float[2] y, float[2] u) <float[2] k = {1, 2}> { y = Relu(x) u = "
        "Neg(k) }");
    QTest::newRow("same tensor twice") << std::string("g (float[2] x) => (float[2] y) { y = Mul(x, x) }");
    QTest::newRow("two tensors between two layers")
        << std::string("g (float[2] x) => (float[1] y) { a, b = Split(x) y = Add(a, b) }");
    QTest::newRow("input is output") << std::string(
        "g (float[2] x) => (float[2] x, float[2] y) { y = Relu(x) }");
}

void PictureTest::smallGraphs() {
    QFETCH(const std::string, text);
    const GraphPtr graph = fromText(text);
    const Picture picture = layoutPicture(*graph);
    QCOMPARE(flaw(*graph, picture), QString());
    QVERIFY(same(picture, layoutPicture(*graph)));
}

void PictureTest::realModels_data() {
    QTest::addColumn<QString>("file");
    for (const char* name : {"mobilenetv2_cifar10", "vit_2_blocks", "vit_cifar10", "mlperf_tiny_resnet8",
                             "vww_mobilenet_unequalized"})
        QTest::newRow(name) << QString("models/%1.onnx").arg(name);
}

void PictureTest::realModels() {
    QFETCH(const QString, file);
    QUANTLOUPE_ASSET(path, file.toStdString());
    const GraphPtr graph = loadModel(path).graph;
    const Picture first = layoutPicture(*graph);  // also loads Graphviz's plugins
    const double begin = cpuMilliseconds();
    const Picture picture = layoutPicture(*graph);
    const double ms = cpuMilliseconds() - begin;
    qInfo("%zu boxes, %.0f x %.0f points, %.1f ms", picture.nodes.size(), picture.width, picture.height, ms);
    QCOMPARE(flaw(*graph, picture), QString());
    QVERIFY(same(picture, first));
    QVERIFY2(ms < 500 || kSanitized, "ten times what it should be");
}

void PictureTest::largeGraphs_data() {
    QTest::addColumn<GraphPtr>("graph");
    QTest::addColumn<double>("widest");
    QTest::newRow("chain of 10,003 with branches") << chainWithBranches(10'003) << 3000.0;
    QTest::newRow("one mask for 24 layers") << maskedTransformer(24) << 2500.0;
    QTest::newRow("nested long skips") << nestedSkips(40, 12) << 3000.0;
    QTest::newRow("nested long skips, 10,000 layers") << nestedSkips(200, 23) << 10'000.0;
    QTest::newRow("concat of all features") << denselyConnected(4, 24) << 8000.0;
    QTest::newRow("10,000 layers, criss-cross") << randomGraph(5, 10'000, 40) << 1e6;
}

void PictureTest::largeGraphs() {
    QFETCH(const GraphPtr, graph);
    QFETCH(const double, widest);
    const double begin = cpuMilliseconds();
    const Picture picture = layoutPicture(*graph);
    const double ms = cpuMilliseconds() - begin;
    qInfo("%zu boxes, %zu edges, %.0f x %.0f points, %.1f ms", picture.nodes.size(), picture.edges.size(),
          picture.width, picture.height, ms);
    QCOMPARE(flaw(*graph, picture), QString());
    QVERIFY2(picture.width < widest, "the drawing is absurdly wide");
    QVERIFY2(ms < 2000 || kSanitized, "too slow");
    QVERIFY(same(picture, layoutPicture(*graph)));
}

void PictureTest::randomGraphs() {
    for (unsigned seed = 1; seed <= 60; ++seed) {
        std::mt19937 random(seed);
        const std::size_t layers = 1 + random() % 120, reach = 1 + random() % 60;
        const GraphPtr graph = randomGraph(seed, layers, reach);
        const QString wrong = flaw(*graph, layoutPicture(*graph));
        QVERIFY2(wrong.isEmpty(), qPrintable(QString("seed %1: %2").arg(seed).arg(wrong)));
    }
}

void PictureTest::layeredLayoutIsValid() {
    for (unsigned seed = 1; seed <= 20; ++seed) {
        std::mt19937 random(seed);
        const auto count = static_cast<std::uint32_t>(2 + random() % 60);
        std::vector<PieceEdge> edges;
        for (std::uint32_t i = 1; i < count; ++i)
            for (std::uint32_t k = 1 + random() % 2; k > 0; --k)
                edges.push_back({static_cast<std::uint32_t>(random() % i), i});
        std::sort(edges.begin(), edges.end());
        edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
        Piece piece;
        piece.edges = edges;
        piece.ranks = computeRanks(count, edges);
        QVERIFY2(dotLayout(piece, 100, 40), "dot left our rows");
        const PieceLayout layout = layeredLayout(piece, 100, 40, {});
        for (std::size_t a = 0; a < count; ++a)
            for (std::size_t b = 0; b < a; ++b)
                QVERIFY2(std::abs(layout.centers[a].x - layout.centers[b].x) > 100 + kBoxGap - 0.01 ||
                             std::abs(layout.centers[a].y - layout.centers[b].y) > 40,
                         qPrintable(QString("seed %1: boxes %2 and %3 overlap").arg(seed).arg(a).arg(b)));
        for (std::size_t e = 0; e < edges.size(); ++e) {
            QCOMPARE(layout.lines[e].front().y, layout.centers[edges[e].from].y + 20);
            QCOMPARE(layout.lines[e].back().y, layout.centers[edges[e].to].y - 20);
        }
    }
}

void PictureTest::waistsOfADiamond() {
    // 0 → 1 → {2, 3} → 4 → 5, with 4 → 5 parallel to 4 → 6 → 5
    const std::vector<PieceEdge> edges{{0, 1}, {1, 2}, {1, 3}, {2, 4}, {3, 4},
                                       {4, 5}, {4, 6}, {5, 7}, {6, 7}, {7, 8}};
    const std::vector<int> ranks = computeRanks(9, edges);
    QCOMPARE(ranks, (std::vector<int>{0, 1, 2, 2, 3, 4, 4, 5, 6}));
    QCOMPARE(findWaists(ranks, edges), (std::vector<int>{0, 1, 3, 5, 6}));
    // A skip from 1 to 7 closes the waist in between.
    std::vector<PieceEdge> skipped = edges;
    skipped.push_back({1, 7});
    QCOMPARE(findWaists(ranks, skipped), (std::vector<int>{0, 1, 5, 6}));
}

void PictureTest::nodesMoveDownToTheirFirstConsumer() {
    // 0 → 1 → 2 → 3 and 4 → 5 → 3: the second chain ends at its consumer.
    const std::vector<PieceEdge> edges{{0, 1}, {1, 2}, {2, 5}, {3, 4}, {4, 5}};
    QCOMPARE(computeRanks(6, edges), (std::vector<int>{0, 1, 2, 1, 2, 3}));
}

void PictureTest::trunkIsStraight() {
    const GraphPtr graph = fromText(
        "g (float[2] x) => (float[2] y) { a = Relu(x) b = Abs(a) c = Neg(b) d = Add(a, c) e = Abs(d) f = "
        "Neg(e) y = Add(d, f) }");
    const Picture picture = layoutPicture(*graph);
    for (const PictureNode& node : picture.nodes) QCOMPARE(node.box.x, picture.nodes.front().box.x);
    // room for the skip connections next to it
    QVERIFY(picture.width > picture.nodes.front().box.width + 32);
}

void PictureTest::cancels() {
    const GraphPtr graph = maskedTransformer(2);
    const CancelToken token;
    token.cancel();
    QVERIFY_EXCEPTION_THROWN(layoutPicture(*graph, {}, token), Cancelled);
}

void PictureTest::localeDoesNotMatter() {
    const GraphPtr graph = maskedTransformer(2);
    const Picture picture = layoutPicture(*graph);
    if (std::setlocale(LC_NUMERIC, "de_DE.UTF-8") == nullptr)
        QSKIP("no locale with a decimal comma installed");
    const Picture there = layoutPicture(*graph);
    const std::string svg = pictureToSvg(*graph, there, {});
    std::setlocale(LC_NUMERIC, "C");
    QVERIFY(same(picture, there));
    QCOMPARE(svg, pictureToSvg(*graph, picture, {}));
}

QTEST_GUILESS_MAIN(PictureTest)
#include "picture_test.moc"
