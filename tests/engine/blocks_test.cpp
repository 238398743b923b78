// SPDX-License-Identifier: Apache-2.0
#include "model/blocks.h"

#include <QtTest>

#include "support/demo.h"
#include "support/text_model.h"

using namespace quantloupe;

namespace {

QStringList scopes(const Graph& graph, const char* like) {
    QStringList list;
    for (const Block& block : blocksLike(graph, like))
        list << QString::fromStdString(block.scope) + ":" + QString::number(block.nodes.size());
    return list;
}

}  // namespace

class BlocksTest : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void blocksOfTheDemo() {
        const LoadedModel model = loadModel(test::demoFolder() / "mobilenetv2_cifar10.onnx");
        // MobileNetV2: inverted residuals with stride 1 and a sum are 3, 5, 6, 8-10, 12, 13, 15, 16; their
        // widths differ.
        QStringList expected{"/features/features.3:9"};
        for (const int b : {5, 6, 8, 9, 10, 12, 13, 15, 16})
            expected << QString("/features/features.%1:9").arg(b);
        QCOMPARE(scopes(*model.graph, "/features/features.3"), expected);
        // Without a sum and with stride 1, for 32 pixels: 2, 11 and 17.
        QCOMPARE(
            scopes(*model.graph, "/features/features.11"),
            (QStringList{"/features/features.11:8", "/features/features.2:8", "/features/features.17:8"}));
        QCOMPARE(scopes(*model.graph, "/features/features.99"), QStringList());
    }

    void connectionsMatter() {
        const LoadedModel model = test::textModel(
            "<ir_version: 8, opset_import: [\"\" : 13]> g (float[N] x) => (float[N] y) "
            "{ a = Relu(x) b = Neg(a) c = Add(a, b) d = Relu(c) e = Neg(d) f = Add(e, d) h = Relu(f) i = "
            "Neg(h) y = Add(h, i) }");
        // The parser sets no names; the loader names nodes by operator and index.
        QCOMPARE(scopes(*model.graph, "Add_2"), (QStringList{"Add_2:1", "Add_5:1", "Add_8:1"}));
        QCOMPARE(scopes(*model.graph, "Neg_1"), (QStringList{"Neg_1:1", "Neg_4:1", "Neg_7:1"}));
    }
};

QTEST_GUILESS_MAIN(BlocksTest)
#include "blocks_test.moc"
