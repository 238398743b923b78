// SPDX-License-Identifier: Apache-2.0
// Display names: unique, short, and found by what users type.
#include "model/layer_names.h"

#include <QFile>
#include <QSet>
#include <QTest>
#include <random>
#include <set>

#include "model/graph_builder.h"
#include "model/load_model.h"
#include "support/demo.h"
#include "support/random_seed.h"

using namespace quantloupe;

namespace {

/// A chain of nodes with these operators and names.
GraphPtr chain(const std::vector<std::pair<std::string, std::string>>& nodes) {
    GraphBuilder builder;
    TensorId last = builder.tensor("in");
    builder.addInput(last, DataType::Float32, std::nullopt);
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        Node node;
        node.op = nodes[i].first;
        node.name = nodes[i].second;
        node.inputs = {last};
        last = builder.tensor("t" + std::to_string(i));
        node.outputs = {last};
        builder.addNode(std::move(node));
    }
    builder.addOutput(last);
    return builder.build();
}

/// Operators and names as PyTorch exported them.
GraphPtr exported(const QString& model) {
    QFile file(QStringLiteral(QUANTLOUPE_SOURCE_DIR "/tests/data/exported_names/%1.txt").arg(model));
    if (!file.open(QIODevice::ReadOnly)) return nullptr;
    std::vector<std::pair<std::string, std::string>> nodes;
    for (const QByteArray& line : file.readAll().split('\n'))
        if (const qsizetype space = line.indexOf(' '); space > 0)
            nodes.emplace_back(line.left(space).toStdString(), line.mid(space + 1).toStdString());
    return chain(nodes);
}

QStringList displayed(const Graph& graph) {
    QStringList names;
    for (const std::string& name : displayNames(graph)) names << QString::fromStdString(name);
    return names;
}

bool areUnique(const QStringList& names) {
    return QSet<QString>(names.begin(), names.end()).size() == names.size();
}

}  // namespace

class LayerNamesTest : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void demoNamesAreBlockAndLeaf() {
        const LayerNames names(loadModel(test::demoFolder() / "mobilenetv2_cifar10.onnx").graph);
        const auto of = [&](const char* name) {
            return QString::fromStdString(names.of(std::string_view(name)));
        };
        QCOMPARE(of("/features/features.0/features.0.0/Conv"), QString("features.0.0"));
        QCOMPARE(of("/features/features.2/conv/conv.1/conv.1.0/Conv"), QString("features.2/conv.1.0"));
        QCOMPARE(of("/features/features.2/conv/conv.1/conv.1.2/Clip"), QString("features.2/conv.1.2"));
        QCOMPARE(of("/features/features.17/conv/conv.2/Conv"), QString("features.17/conv.2"));
        QCOMPARE(of("/features/features.3/Add"), QString("features.3/Add"));
        QCOMPARE(of("/classifier/classifier.1/Gemm"), QString("classifier.1"));
        QCOMPARE(of("no layer"), QString("no layer"));
    }

    void exportedModels_data() {
        QTest::addColumn<QStringList>("some");
        QTest::addColumn<int>("longest");
        QTest::newRow("hf_bert") << QStringList{"layer.0/query/MatMul",
                                                "layer.1/attention/output/dense/MatMul", "pooler/dense",
                                                "classifier", "Identity_88"}
                                 << 40;
        QTest::newRow("yolov8n") << QStringList{"model.0/conv", "model.0/act/Sigmoid", "model.6/m.1/cv2/conv",
                                                "model.22/cv2.1.0/conv", "model.22/Concat_26"}
                                 << 30;
        QTest::newRow("timm_hrnet") << QStringList{"conv1", "layer1.0/conv1", "stage3.0/fuse_layers.0.2.2"}
                                    << 36;
        QTest::newRow("timm_mobilevit")
            << QStringList{"stem/conv", "stages.2.1/transformer.0/attn/Unsqueeze_1"} << 42;
    }
    void exportedModels() {
        QFETCH(QStringList, some);
        QFETCH(int, longest);
        const GraphPtr graph = exported(QTest::currentDataTag());
        QVERIFY(graph);
        const QStringList names = displayed(*graph);
        QVERIFY(areUnique(names));
        for (const QString& name : some)
            QVERIFY2(names.contains(name), qPrintable(name + " in " + names.join(' ')));
        for (const QString& name : names) QVERIFY2(name.size() <= longest, qPrintable(name));
        // Each is found exactly as it is displayed, and by its full name.
        const LayerNames found(graph);
        for (std::size_t i = 0; i < graph->nodeCount(); ++i) {
            QVERIFY(found.matches(NodeId(i), found.of(NodeId(i))));
            QVERIFY(found.matches(NodeId(i), graph->nodes()[i].name));
        }
    }

    /// Names of few different parts collide often; a whole name may equal a shortened one.
    void anyNamesStayUnique() {
        std::mt19937 random(test::randomSeed());
        static constexpr const char* kParts[] = {"conv", "conv.0", "conv.0.0", "layer1", "a",
                                                 "",     "Conv",   "Conv_1",   "0",      "b.1"};
        for (int round = 0; round < 300; ++round) {
            std::set<std::string> used;
            std::vector<std::pair<std::string, std::string>> nodes;
            const std::size_t count = 2 + random() % 40;
            while (nodes.size() < count) {
                std::string name = random() % 3 == 0 ? "" : "/";
                for (std::size_t parts = 1 + random() % 5; parts > 0; --parts)
                    name += kParts[random() % std::size(kParts)] + std::string(parts > 1 ? "/" : "");
                if (random() % 4 == 0) name += "/" + std::to_string(random() % 100);
                if (!name.empty() && used.insert(name).second) nodes.emplace_back("Conv", name);
            }
            const GraphPtr graph = chain(nodes);
            const QStringList names = displayed(*graph);
            QVERIFY2(areUnique(names), qPrintable(names.join('\n')));
            for (const QString& name : names) QVERIFY(!name.isEmpty());
        }
        const std::string deep = std::string(100'000, '/') + "a", many = [] {
            std::string name;
            for (int i = 0; i < 400; ++i) name += "/p";
            return name;
        }();
        QVERIFY(areUnique(displayed(*chain({{"Conv", deep}, {"Conv", many}, {"Conv", many + "/p"}}))));
    }

    void whatUsersTypeFindsTheLayer_data() {
        QTest::addColumn<QString>("typed");
        QTest::addColumn<int>("count");
        QTest::newRow("module path") << "features.1.conv.0.0" << 1;
        QTest::newRow("displayed") << "features.1/conv.0.0" << 1;
        QTest::newRow("part of the file's name") << "features.1/conv/conv.0/conv.0.0" << 1;
        QTest::newRow("the file's name") << "/features/features.1/conv/conv.0/conv.0.0/Conv" << 1;
        QTest::newRow("other case") << "FEATURES.1/Conv.0.0" << 1;
        QTest::newRow("shortened in the middle") << "features.1\u2026v.0.0" << 9;  // and 10 to 17
        QTest::newRow("a block") << "features.1/" << 5;
        QTest::newRow("none") << "features.1.conv.9" << 0;
    }
    void whatUsersTypeFindsTheLayer() {
        QFETCH(QString, typed);
        QFETCH(int, count);
        const GraphPtr graph = loadModel(test::demoFolder() / "mobilenetv2_cifar10.onnx").graph;
        const LayerNames names(graph);
        int found = 0;
        for (std::size_t i = 0; i < graph->nodeCount(); ++i)
            found += names.matches(NodeId(i), typed.toStdString());
        QCOMPARE(found, count);
    }

    void messagesGetDisplayNames() {
        const LayerNames names(loadModel(test::demoFolder() / "mobilenetv2_cifar10.onnx").graph);
        QCOMPARE(
            QString::fromStdString(names.inText(
                "skipped by rule 2: from /features/features.1/conv/conv.1/Conv until "
                "/features/features.3/Add, '/classifier/classifier.1/Gemm'. (/features/features.3/Add)")),
            QString("skipped by rule 2: from features.1/conv.1 until features.3/Add, 'classifier.1'. "
                    "(features.3/Add)"));
        const std::string other =
            "no layer: /features/features.99/Conv \xc3\xa4 and /features/features.3/Add_1";
        QCOMPARE(names.inText(other), other);
        QCOMPARE(LayerNames().inText(other), other);
    }
};

QTEST_GUILESS_MAIN(LayerNamesTest)
#include "layer_names_test.moc"
