// SPDX-License-Identifier: Apache-2.0
// Groups of layers: by name, by the structure of the network, and the graph after groups are collapsed.
#include "picture/groups.h"

#include <QTest>
#include <algorithm>
#include <map>
#include <random>

#include "picture/picture.h"
#include "support/graph_sketch.h"
#include "support/text_model.h"

using namespace quantloupe;
using test::GraphSketch;

namespace {

/// stem, body/0, body/1, body/2 (each Conv, Relu, Add), head.
GraphPtr residual() {
    GraphSketch sketch;
    std::string at = sketch.addNamed("/stem/Conv", "Conv", {"x"});
    for (int k = 0; k < 3; ++k) {
        const std::string scope = "/body/" + std::to_string(k);
        const std::string inside = sketch.addNamed(scope + "/act/Relu", "Relu",
                                                   {sketch.addNamed(scope + "/conv/Conv", "Conv", {at})});
        at = sketch.addNamed(scope + "/Add", "Add", {at, inside});
    }
    return sketch.build({sketch.addNamed("/head/Conv", "Conv", {at})});
}

QStringList listed(const Graph& graph, const std::vector<Group>& groups) {
    QStringList lines;
    for (const Group& group : groups) {
        QStringList names;
        for (const NodeId node : group.nodes) names.append(QString::fromStdString(graph.node(node).name));
        lines.append(QString("%1 [%2]%3 %4")
                         .arg(QString::fromStdString(group.name), names.join(' '), group.block ? "*" : "")
                         .arg(group.alike));
    }
    return lines;
}

/// Returns a description of an error in a picture with collapsed groups.
QString flaw(const Graph& graph, const Picture& picture) {
    std::map<NodeId, int> shown;
    for (const PictureNode& node : picture.nodes) {
        if (node.kind == PictureNode::Kind::Layer) ++shown[node.layer];
        if (node.kind == PictureNode::Kind::Group)
            for (const NodeId layer : picture.groups[node.group].nodes) ++shown[layer];
    }
    for (std::size_t n = 0; n < graph.nodeCount(); ++n)
        if (shown[NodeId(n)] != 1) return QString("layer %1 is in %2 boxes").arg(n).arg(shown[NodeId(n)]);
    for (std::size_t a = 0; a < picture.nodes.size(); ++a)
        for (std::size_t b = a + 1; b < picture.nodes.size(); ++b) {
            const Rect &r = picture.nodes[a].box, &s = picture.nodes[b].box;
            if (r.x < s.right() && s.x < r.right() && r.y < s.bottom() && s.y < r.bottom())
                return QString("boxes %1 and %2 overlap").arg(a).arg(b);
        }
    // Every connection between layers in different boxes is drawn, once per tensor, and nothing else.
    std::map<std::tuple<std::size_t, std::size_t, TensorId>, int> wanted, drawn;
    for (std::size_t t = 0; t < graph.tensorCount(); ++t) {
        const TensorInfo& tensor = graph.tensors()[t];
        if (!tensor.producer.valid()) continue;
        const std::size_t from = picture.indexOf(tensor.producer);
        for (const NodeId reader : tensor.consumers)
            if (picture.indexOf(reader) != from) wanted[{from, picture.indexOf(reader), TensorId(t)}] = 1;
    }
    for (const PictureEdge& edge : picture.edges) {
        if (edge.points.size() < 2) return "an edge has no line";
        if (edge.points.front().y > edge.points.back().y) return "an edge runs upwards";
        const bool ends = picture.nodes[edge.from].kind == PictureNode::Kind::Input ||
                          picture.nodes[edge.to].kind == PictureNode::Kind::Output;
        if (!ends) ++drawn[{edge.from, edge.to, edge.tensor}];
    }
    return wanted == drawn
               ? QString()
               : QString("%1 connections are drawn, %2 are there").arg(drawn.size()).arg(wanted.size());
}

}  // namespace

class GroupsTest : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void scopesAreGroups() {
        const GraphPtr graph = residual();
        QCOMPARE(
            listed(*graph, findGroups(*graph)),
            (QStringList{
                "/body [/body/0/conv/Conv /body/0/act/Relu /body/0/Add /body/1/conv/Conv /body/1/act/Relu "
                "/body/1/Add /body/2/conv/Conv /body/2/act/Relu /body/2/Add] 1",
                "/body/0 [/body/0/conv/Conv /body/0/act/Relu /body/0/Add]* 3",
                "/body/1 [/body/1/conv/Conv /body/1/act/Relu /body/1/Add]* 3",
                "/body/2 [/body/2/conv/Conv /body/2/act/Relu /body/2/Add]* 3",
            }));
    }

    void withoutScopesTheStructureDefinesBlocks() {
        const GraphPtr graph =
            test::textModel(
                "<ir_version: 8, opset_import: [\"\" : 13]> g (float[2] x) => (float[2] y) "
                "{ a = Relu(x) b = Abs(a) c = Neg(b) d = Add(a, c) e = Abs(d) f = Neg(e) g = Add(d, f) y = "
                "Relu(g) }")
                .graph;
        const QStringList groups = listed(*graph, findGroups(*graph));
        QCOMPARE(groups.size(), 2);
        QVERIFY2(groups[0].contains("[Abs_1 Neg_2 Add_3]") && groups[0].endsWith(" 2"),
                 qPrintable(groups[0]));
        QVERIFY2(groups[1].contains("[Abs_4 Neg_5 Add_6]") && groups[1].endsWith(" 2"),
                 qPrintable(groups[1]));
    }

    void aCollapsedBlockIsOneBox() {
        const GraphPtr graph = residual();
        LayoutOptions options;
        options.collapsed = {"/body/1"};
        const Picture picture = layoutPicture(*graph, options);
        QCOMPARE(picture.nodes.size(), 2u + 8u + 1u);
        QCOMPARE(flaw(*graph, picture), QString());
        const PictureNode& box = picture.nodes[picture.indexOf(*graph->findNode("/body/1/Add"))];
        QVERIFY(box.kind == PictureNode::Kind::Group);
        QCOMPARE(box.title, std::string("1"));
        QCOMPARE(box.subtitle, std::string("3 layers \xc2\xb7 3 alike"));
        // The frames of two open blocks contain exactly their boxes.
        QCOMPARE(picture.frames.size(), 2u);
        for (const PictureFrame& frame : picture.frames)
            for (std::size_t n = 0; n < graph->nodeCount(); ++n) {
                const bool member = std::ranges::count(picture.groups[frame.group].nodes, NodeId(n)) > 0;
                const Rect& inner = picture.nodes[picture.indexOf(NodeId(n))].box;
                const bool touches = inner.x < frame.box.right() && inner.right() > frame.box.x &&
                                     inner.y < frame.box.bottom() && inner.bottom() > frame.box.y;
                QCOMPARE(touches, member);
            }
    }

    void outerGroupHidesInnerGroups() {
        const GraphPtr graph = residual();
        LayoutOptions options;
        options.collapsed = {"/body", "/body/1", "no such group"};
        const Picture picture = layoutPicture(*graph, options);
        QCOMPARE(picture.nodes.size(), 2u + 2u + 1u);
        QCOMPARE(flaw(*graph, picture), QString());
    }

    void groupsThatWouldCreateACycleStayOpen() {
        GraphSketch sketch;  // data leaves /g for /h, and comes back
        const std::string a = sketch.addNamed("/g/A", "Relu", {"x"});
        const std::string b = sketch.addNamed("/h/B", "Abs", {a});
        const std::string c = sketch.addNamed("/g/C", "Add", {a, b});
        const std::string d = sketch.addNamed("/h/D", "Neg", {c});
        const GraphPtr graph = sketch.build({sketch.addNamed("/g/E", "Add", {c, d})});
        const std::vector<Group> groups = findGroups(*graph);
        QCOMPARE(groups.size(), 2u);
        for (const std::vector<std::string>& names : {std::vector<std::string>{"/g"}, {"/h"}, {"/g", "/h"}}) {
            const auto collapsed = collapsedGroups(*graph, groups, names);
            QVERIFY(std::ranges::all_of(collapsed, [](std::size_t g) { return g == Group::kNone; }));
            LayoutOptions options;
            options.collapsed = names;
            QCOMPARE(flaw(*graph, layoutPicture(*graph, options)), QString());
        }
    }

    void randomGroupsGiveValidPictures() {
        for (unsigned seed = 1; seed <= 80; ++seed) {
            std::mt19937 random(seed);
            GraphSketch sketch;
            std::vector<std::string> made{"x"};
            const std::size_t layers = 4 + random() % 60;
            for (std::size_t i = 0; i < layers; ++i) {
                std::vector<std::string> inputs{
                    made[made.size() - 1 - random() % std::min<std::size_t>(made.size(), 6)]};
                if (random() % 2) inputs.push_back(made[random() % made.size()]);
                // Mostly in order, so that some groups can be collapsed and some cannot.
                const std::size_t scope = (random() % 8 ? i : random() % layers) / 5;
                made.push_back(sketch.addNamed("/m/" + std::to_string(scope / 3) + "/" +
                                                   std::to_string(scope) + "/n" + std::to_string(i),
                                               "Op", inputs));
            }
            const GraphPtr graph = sketch.build({made.back()});
            LayoutOptions options;
            for (const Group& group : findGroups(*graph))
                if (random() % 2) options.collapsed.push_back(group.name);
            const QString wrong = flaw(*graph, layoutPicture(*graph, options));
            QVERIFY2(wrong.isEmpty(), qPrintable(QString("seed %1: %2").arg(seed).arg(wrong)));
        }
    }

    void realModels_data() {
        QTest::addColumn<QString>("file");
        QTest::addColumn<int>("most");
        QTest::newRow("mobilenetv2") << "mobilenetv2_cifar10" << 40;
        QTest::newRow("vit, 2 blocks") << "vit_2_blocks" << 60;
        QTest::newRow("vit") << "vit_cifar10" << 60;
        QTest::newRow("resnet8") << "mlperf_tiny_resnet8" << 24;
    }
    void realModels() {
        QFETCH(const QString, file);
        QFETCH(const int, most);
        QUANTLOUPE_ASSET(path, "models/" + file.toStdString() + ".onnx");
        const GraphPtr graph = loadModel(path).graph;
        LayoutOptions options;
        for (const Group& group : findGroups(*graph))
            if (group.block) options.collapsed.push_back(group.name);
        const Picture picture = layoutPicture(*graph, options);
        qInfo("%zu layers in %zu boxes, %zu blocks", graph->nodeCount(), picture.nodes.size(),
              options.collapsed.size());
        QCOMPARE(flaw(*graph, picture), QString());
        QVERIFY(static_cast<int>(picture.nodes.size()) <= most);
    }
};

QTEST_GUILESS_MAIN(GroupsTest)
#include "groups_test.moc"
