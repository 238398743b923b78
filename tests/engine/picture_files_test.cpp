// SPDX-License-Identifier: Apache-2.0
// Texts in the boxes of the graph, and the SVG and DOT files.
#include <graphviz/cgraph.h>

#include <QTest>
#include <QXmlStreamReader>
#include <map>
#include <memory>

#include "model/graph_builder.h"
#include "picture/picture_text.h"
#include "picture/write_picture.h"
#include "support/text_model.h"

using namespace quantloupe;

namespace {

GraphPtr fromText(const std::string& text) {
    return test::textModel("<ir_version: 8, opset_import: [\"\" : 13]> " + text).graph;
}

/// Plausible session states: every third layer skipped, Relu fused into the layer before.
std::vector<LayerResult> someResults(const Graph& graph) {
    std::vector<LayerResult> results;
    for (std::size_t i = 0; i < graph.nodeCount(); ++i) {
        LayerResult result;
        result.node = NodeId(i);
        result.name = graph.node(NodeId(i)).name;
        result.op = graph.node(NodeId(i)).op;
        result.state = i % 3 == 2 ? LayerState::Skipped : LayerState::Quantized;
        if (result.op == "Relu" && i > 0) {
            result.state = LayerState::Fused;
            result.host = results.back().name;
        }
        if (result.state == LayerState::Skipped) result.reason = "rule <\"tail\" & more>";
        if (i % 2 == 0) result.local = TensorDifference{0.123456, 0.99, 18};
        results.push_back(result);
    }
    return results;
}

}  // namespace

class PictureFilesTest : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void titles();
    void subtitles();
    void textIsCleaned();
    void colors();
    void dotFile();
    void svgFile();
    void svgHasAllText();
};

void PictureFilesTest::titles() {
    const GraphPtr graph = fromText(
        "g (float[1,8,9,9] x) => (float[1,8,9,9] y) "
        "<float[8,8,3,3] w, float[8,1,3,3] d, float[8,2,1,1] g4, float[8,8,5] one> {"
        " w = ConstantOfShape(x) d = ConstantOfShape(x) g4 = ConstantOfShape(x)"
        " a = Conv <kernel_shape = [3, 3]> (x, w) b = Conv <kernel_shape = [3, 3], group = 8> (a, d)"
        " c = Conv <kernel_shape = [1, 1], group = 4> (b, g4) e = MaxPool <kernel_shape = [2, 2]> (c) y = "
        "Relu(e) }");
    QStringList titles;
    for (const PictureNode& node : describePicture(*graph).nodes)
        if (node.title != "ConstantOfShape") titles << QString::fromStdString(node.title);
    QCOMPARE(titles,
             (QStringList{"x", "Conv 3×3", "Conv 3×3 dw", "Conv 1×1 g4", "MaxPool 2×2", "Relu", "y"}));
}

void PictureFilesTest::subtitles() {
    GraphBuilder builder;
    const TensorId x = builder.tensor("x"), y = builder.tensor("y"), z = builder.tensor("z");
    builder.addInput(x, DataType::Float32, std::nullopt);
    builder.addNode({"/features/features.2/conv/conv.0/conv.0.0/Conv", "Conv", "", {x}, {y}, {}});
    builder.addNode({"/features/features.2/conv/conv.1/Conv", "Conv", "", {y}, {z}, {}});
    builder.addOutput(z);
    QStringList subtitles;
    for (const PictureNode& node : describePicture(*builder.build()).nodes)
        if (node.kind == PictureNode::Kind::Layer) subtitles << QString::fromStdString(node.subtitle);
    QCOMPARE(subtitles, (QStringList{"features.2/conv.0.0", "features.2/conv.1"}));
}

void PictureFilesTest::textIsCleaned() {
    QCOMPARE(cleanText("a\x01z"), std::string("a\xef\xbf\xbdz"));
    QCOMPARE(cleanText("a\xffz\xc3"), std::string("a\xef\xbf\xbdz\xef\xbf\xbd"));
    QCOMPARE(cleanText("3×3 — ✓ 𝛼"), std::string("3×3 — ✓ 𝛼"));
    QCOMPARE(shortenRight("äöüß", 3), std::string("äö…"));
    QCOMPARE(shortenLeft("äöüß", 3), std::string("…üß"));
}

void PictureFilesTest::colors() {
    const GraphPtr graph = fromText(
        "g (float[2] x) => (float[2] y) { a = Abs(x) b = Relu(a) c = Neg(b) d = Relu(c) y = Neg(d) }");
    std::vector<LayerResult> results = someResults(*graph);  // quantized, fused, skipped, fused, quantized
    const std::vector<StateColors> colors = layerColors(results);
    const char *green = "#2f9e5b", *yellow = "#d9a406";
    QCOMPARE(colors[0].outline, green);
    QCOMPARE(colors[2].outline, yellow);
    QCOMPARE(colors[1].outline, stateColors(results[1]).outline);
    QVERIFY(QString(colors[1].outline) != green && QString(colors[1].outline) != yellow);
    QCOMPARE(colors[1].fill, colors[0].fill);
    QCOMPARE(colors[3].fill, colors[2].fill);
    QCOMPARE(graphEndColors().outline, "#2f6fde");
    results[0].host = results[1].name;  // cyclic hosts are harmless
    layerColors(results);
}

void PictureFilesTest::dotFile() {
    GraphBuilder builder;
    builder.addInput(builder.tensor("in \"quoted\""), DataType::Float32, Shape{{2, {}}});
    std::string last = "in \"quoted\"";
    for (const char* name : {"a\\Nb", "quote\"d", "line\nbreak", "<html>", "&amp;", "ends with \\"}) {
        Node node;
        node.name = name;
        node.op = "Relu6";
        node.inputs = {builder.tensor(last)};
        node.outputs = {builder.tensor(std::string("out of ") + name)};
        node.attributes.set("kernel_shape", std::vector<std::int64_t>{3, 3});
        last = std::string("out of ") + name;
        builder.addNode(std::move(node));
    }
    builder.addOutput(builder.tensor(last));
    const GraphPtr graph = builder.build();
    const std::string dot = pictureToDot(*graph, someResults(*graph));

    agseterr(AGMAX);
    const std::unique_ptr<Agraph_t, int (*)(Agraph_t*)> parsed(agmemread(dot.c_str()), agclose);
    QVERIFY2(parsed != nullptr, dot.c_str());
    QCOMPARE(agnnodes(parsed.get()), 8);
    QCOMPARE(agnedges(parsed.get()), 7);
    std::map<std::string, int> outlines;
    QStringList labels;
    for (Agnode_t* node = agfstnode(parsed.get()); node != nullptr; node = agnxtnode(parsed.get(), node)) {
        const auto get = [node](const char* name) {
            return std::string(agget(node, const_cast<char*>(name)));
        };
        ++outlines[get("color")];
        QCOMPARE(get("shape"), std::string("box"));
        QCOMPARE(get("style"), std::string("filled"));
        QCOMPARE(get("fillcolor").size(), std::size_t{7});
        labels << QString::fromStdString(get("label"));
    }
    QCOMPARE(outlines, (std::map<std::string, int>{{"#2f6fde", 2}, {"#2f9e5b", 4}, {"#d9a406", 2}}));
    QCOMPARE(labels[0], QString("in \"quoted\"\\lType: graph input\\lShape: 2\\lElements: float32\\l"));
    QVERIFY(labels[1].startsWith("a\\\\Nb\\lType: Relu6\\l"));
    QVERIFY(labels[1].contains("\\lkernel_shape: [3, 3]\\lQS: 0.1235\\lState: quantized\\l"));
    QVERIFY(labels[2].startsWith("quote\"d\\l"));
    QVERIFY(labels[3].startsWith("line\\nbreak\\l"));
    QVERIFY(labels[3].contains("Reason: rule <\"tail\" &amp; more>\\l"));
    QCOMPARE(pictureToDot(*graph, someResults(*graph)), dot);
}

void PictureFilesTest::svgFile() {
    const GraphPtr graph =
        fromText("g (float[N,2] x) => (float[N,2] y) { a = Abs(x) b = Relu(a) c = Neg(b) y = Add(a, c) }");
    const std::vector<LayerResult> results = someResults(*graph);
    const std::string svg = pictureToSvg(*graph, layoutPicture(*graph), results);
    QXmlStreamReader xml(QByteArray::fromStdString(svg));
    std::map<QString, int> outlines;
    int edges = 0, titles = 0, arrows = 0;
    QStringList tooltips;
    while (!xml.atEnd()) {
        if (!xml.readNext() || !xml.isStartElement()) continue;
        if (xml.name() == u"rect") ++outlines[xml.attributes().value("stroke").toString()];
        if (xml.attributes().value("class") == u"edge") ++edges;
        if (xml.attributes().value("class") == u"arrow") ++arrows;
        if (xml.name() == u"title") {
            ++titles;
            tooltips << xml.readElementText();
        }
    }
    QVERIFY2(!xml.hasError(), qPrintable(xml.errorString()));
    const std::map<QString, int> wanted{// including one of each in the legend
                                        {"", 1},
                                        {"#2f6fde", 3},
                                        {"#2f9e5b", 3},
                                        {"#d9a406", 2},
                                        {"#8a94a3", 2}};
    QCOMPARE(outlines, wanted);
    QCOMPARE(edges, 6);
    QCOMPARE(arrows, 6);
    QCOMPARE(titles, 7);
    QVERIFY(tooltips.join('\n').contains("skipped: rule <\"tail\" & more>"));
}

void PictureFilesTest::svgHasAllText() {
    const GraphPtr graph = loadModel(test::assets() / "models/mobilenetv2_cifar10.onnx").graph;
    QXmlStreamReader xml(QByteArray::fromStdString(graphToSvg(*graph, someResults(*graph))));
    QStringList texts;
    while (!xml.atEnd())
        if (xml.readNext() == QXmlStreamReader::StartElement && xml.name() == u"text")
            texts << xml.readElementText();
    QVERIFY2(!xml.hasError(), qPrintable(xml.errorString()));
    for (const Node& node : graph->nodes())
        QVERIFY2(texts.contains(QString::fromStdString(node.name)), node.name.c_str());
    for (const char* text :
         {"Conv 3×3 dw", "QS 0.1235", "N×3×32×32 → N×32×32×32", "quantized", "input", "graph input"})
        QVERIFY2(texts.contains(text), text);
    QVERIFY(!texts.filter("kernel 3×3 · stride 2 · pad 1 · group 144").isEmpty());
}

QTEST_GUILESS_MAIN(PictureFilesTest)
#include "picture_files_test.moc"
