// SPDX-License-Identifier: Apache-2.0
// The paths of layers in models of PyTorch's new exporter, which are the same as with the older one.
// tests/data/pytorch contains the same network from PyTorch 2.15: torch.onnx.export with dynamo=True (of the
// metadata, only the scopes are left) and with dynamo=False.
#include "model/module_paths.h"

#include <onnx/onnx_pb.h>

#include <QSet>
#include <QTemporaryDir>
#include <QTest>

#include "config/skip_rules.h"
#include "interchange/quark/read_quark.h"
#include "model/blocks.h"
#include "model/layer_names.h"
#include "model/load_model.h"
#include "model/newer_fields.h"
#include "picture/groups.h"
#include "support/text_model.h"

using namespace quantloupe;

namespace {

GraphPtr exported(const char* by) {
    return loadModel(std::string(QUANTLOUPE_SOURCE_DIR "/tests/data/pytorch/") + by + ".onnx").graph;
}

/// Returns the texts of the layers that both exporters have: convolutions and matrix products. The new
/// exporter folds batch norms, and a convolution then has the scope of its batch norm.
QSet<QString> weighted(const Graph& graph, const std::vector<std::string>& texts) {
    QSet<QString> found;
    for (std::size_t n = 0; n < graph.nodeCount(); ++n) {
        const std::string& op = graph.nodes()[n].op;
        const QString text = QString::fromStdString(texts[n]);
        if ((op == "Conv" || op == "MatMul" || op == "Gemm" || op == "Softmax") && !text.contains("conv."))
            found.insert(text);
    }
    return found;
}

std::vector<std::string> pathsOf(const Graph& graph) {
    std::vector<std::string> paths;
    for (const Node& node : graph.nodes()) paths.push_back(node.path());
    return paths;
}

}  // namespace

class ModulePathsTest : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void scopes_data() {
        QTest::addColumn<QString>("scopes");
        QTest::addColumn<QString>("path");
        QTest::newRow("nested") << "['', 'features', 'features.3', 'features.3.conv', 'conv2d_2']"
                                << "/features/features.3/conv/Op";
        QTest::newRow("lists in lists") << "['', 'a', 'a.0', 'a.0.1', 'add']"
                                        << "/a/a.0/a.0.1/Op";
        QTest::newRow("list without a scope")
            << "['', 'encoder', 'encoder.layer.0', 'encoder.layer.0.norm', 'x']"
            << "/encoder/layer.0/norm/Op";
        QTest::newRow("repeated scope") << "['', 'a', 'a', 'a.b', 'x']"
                                        << "/a/b/Op";
        QTest::newRow("other scope") << "['', 'a', 'b', 'x']"
                                     << "/a/b/Op";
        QTest::newRow("similar scope") << "['', 'a', 'ab', 'x']"
                                       << "/a/ab/Op";
        QTest::newRow("quotes") << "['', \"a'b\", 'x']"
                                << "/a'b/Op";
        QTest::newRow("slash") << "['', 'a/b', 'x']"
                               << "/a.b/Op";
        for (const char* none : {"", "[]", "['']", "['', 'x']", "['', 'a', 'x'", "'', 'a', 'x'",
                                 "['', 'a' 'x']", "['_empty_nn_module_stack_from_metadata_hook', 'x']",
                                 "['a', 'a.b', 'x']", "['', a, 'x']", "['', 'a\\"})
            QTest::newRow(none) << none << "";
    }
    void scopes() {
        QFETCH(QString, scopes);
        QFETCH(QString, path);
        QCOMPARE(QString::fromStdString(pathFromScopes(scopes.toStdString(), "Op")), path);
        if (path.isEmpty()) return;
        const std::string again = scopesFromPath(path.toStdString(), "x");
        QCOMPARE(QString::fromStdString(pathFromScopes(again, "Op")), path);
    }

    void longScopesAreIgnored() {
        const std::string name(600, 'a');
        QVERIFY(!pathFromScopes("['', '" + name + "', 'x']", "Op").empty());
        QCOMPARE(pathFromScopes("['', '" + name + "', 'b" + name + "', 'x']", "Op"), std::string());
        std::string many = "[''";
        for (int i = 0; i < 70; ++i) many += ", 'm" + std::to_string(i) + '\'';
        QCOMPARE(pathFromScopes(many + "]", "Op"), std::string());
    }

    void pathsOfBothExportersAreEqual() {
        const GraphPtr current = exported("dynamo"), older = exported("torchscript");
        const QSet<QString> paths = weighted(*current, pathsOf(*current));
        QCOMPARE(paths, weighted(*older, pathsOf(*older)));
        QVERIFY(paths.contains("/encoder/layer.2/attention/MatMul_1"));
        QCOMPARE(paths.size(), 26);
        QCOMPARE(weighted(*current, displayNames(*current)), weighted(*older, displayNames(*older)));
    }

    void namesStayThoseOfTheFile() {
        const GraphPtr graph = exported("dynamo");
        const auto node = graph->findNode("node_conv2d_5");
        QVERIFY(node);
        QCOMPARE(graph->node(*node).path(), std::string("/features/features.2/se/fc1/Conv"));
        QCOMPARE(moduleOf(graph->node(*node)), std::string("features.2.se.fc1"));
        const LayerNames names(graph);
        QCOMPARE(names.of(*node), std::string("features.2/fc1"));
        for (const char* text :
             {"features.2.se.fc1", "features.2/fc1", "node_conv2d_5", "/features/features.2/se/fc1"})
            QVERIFY2(names.matches(*node, text), text);
        // Without a module, the name is the path.
        const auto reshape = graph->findNode("node_Reshape_90");
        QVERIFY(reshape);
        QCOMPARE(graph->node(*reshape).path(), std::string("node_Reshape_90"));
        QCOMPARE(moduleOf(graph->node(*reshape)), std::string());
    }

    void blocksAndGroups() {
        const GraphPtr graph = exported("dynamo");
        QStringList blocks;
        for (const Block& block : blocksLike(*graph, "/features/features.1"))
            blocks << QString::fromStdString(block.scope);
        QCOMPARE(blocks,
                 (QStringList{"/features/features.1", "/features/features.2", "/features/features.3"}));
        QStringList groups;
        for (const Group& group : findGroups(*graph)) groups << QString::fromStdString(group.name);
        for (const char* name : {"/features/features.1", "/encoder/layer.0", "/encoder/layer.2/attention"})
            QVERIFY2(groups.contains(name), qPrintable(groups.join(' ')));
    }

    void rulesFindModules() {
        const GraphPtr graph = exported("dynamo");
        const auto covered = [&](const SkipRule& rule) {
            QStringList names;
            const NodeSet set = coveredBy(*graph, rule);
            for (std::size_t n = 0; n < set.size(); ++n)
                if (set[n]) names << QString::fromStdString(graph->nodes()[n].name);
            return names;
        };
        SkipRule pattern;
        pattern.kind = SkipKind::Pattern;
        pattern.regex = "/se/fc[12]/";
        QCOMPARE(covered(pattern), (QStringList{"node_conv2d_2", "node_conv2d_3", "node_conv2d_5",
                                                "node_conv2d_6", "node_conv2d_8", "node_conv2d_9"}));
        pattern.regex = "^node_conv2d_2$";
        QCOMPARE(covered(pattern), QStringList{"node_conv2d_2"});
        // The error for a module instead of a layer names the layers in it.
        QCOMPARE(QString(unknownLayer(*graph, "features.2.se.fc1").what()),
                 QString("the model has no layer 'features.2.se.fc1' (did you mean 'node_conv2d_5'?)"));
    }

    void modulesCanBeGivenByTheirPaths() {
        const GraphPtr graph = exported("dynamo");
        for (const char* given : {"features.2", "/features/features.2"}) {
            const std::vector<Block> blocks = blocksLike(*graph, given);
            QCOMPARE(blocks.size(), std::size_t{3});
            QCOMPARE(blocks[0].scope, std::string("/features/features.2"));
        }
        QVERIFY(blocksLike(*graph, "features.9").empty());
    }

    /// Quark knows only the names.
    void quarksPatternsMatchOnlyNames() {
        ImportSource source;
        source.graph = exported("dynamo");
        ImportResult none, some;
        takeQuarkExclusions(source, {"^/features/.*"}, none);
        QVERIFY(none.config.rules.empty());
        takeQuarkExclusions(source, {"^node_conv2d_2"}, some);
        QCOMPARE(some.config.rules.size(), std::size_t{1});
        QCOMPARE(coveredBy(*source.graph, some.config.rules[0]),
                 coveredBy(*source.graph, SkipRule{SkipKind::Node, {"node_conv2d_2"}, {}, {}, {}, {}}));
    }

    /// The nodes of a function are in the module that calls it.
    void functionsAreInTheModuleOfTheirCall() {
        onnx::ModelProto model;
        QVERIFY(model.ParseFromString(test::textModelBytes(
            R"(<ir_version: 8, opset_import: ["" : 17, "own" : 1]> g (float[N,2] X) => (float[N,2] Y)
               { Y = own.twice(X) }
               <domain: "own", opset_import: ["" : 17]> twice (x) => (y) { z = Neg(x) y = Neg(z) })")));
        addMetadata(*model.mutable_graph()->mutable_node(0), kModuleScopesKey, "['', 'act', 'silu']");
        const std::string bytes = model.SerializeAsString();
        const GraphPtr graph = parseModel(bytes.data(), bytes.size()).graph;
        QCOMPARE(graph->nodeCount(), std::size_t{2});
        QCOMPARE(pathsOf(*graph), (std::vector<std::string>{"/act/Neg", "/act/Neg_1"}));
    }

    void savedModelsKeepPaths() {
        const GraphPtr graph = exported("dynamo");
        const QTemporaryDir folder;
        const auto file = std::filesystem::path(folder.path().toStdString()) / "saved.onnx";
        saveModel(*graph, file);
        const GraphPtr saved = loadModel(file).graph;
        QCOMPARE(pathsOf(*saved), pathsOf(*graph));
        QCOMPARE(saved->version(), graph->version());
    }
};

QTEST_GUILESS_MAIN(ModulePathsTest)
#include "module_paths_test.moc"
