// SPDX-License-Identifier: Apache-2.0
// The matrix of repeated blocks: found in names of several exporters, and selected by mouse and keyboard in
// the tab "Blocks".
#include "models/block_matrix.h"

#include <QComboBox>
#include <QHeaderView>
#include <QTableView>

#include "model/graph_builder.h"
#include "models/block_roles.h"
#include "support/text_model.h"
#include "window_test_support.h"

using namespace quantloupe;
using namespace quantloupe::ui;

namespace {

/// A chain of 1 x 1 convolutions and matrix products with these names; operators in the order of the names,
/// "MatMul" if the name contains it.
GraphPtr chainOf(const std::vector<std::string>& names) {
    GraphBuilder builder;
    builder.facts().opsets[""] = 13;
    builder.facts().graphName = "blocks";
    builder.addInput(builder.tensor("x"), DataType::Float32, Shape{{1, {}}, {2, {}}, {2, {}}, {2, {}}});
    std::string at = "x";
    float value = 0.3f;
    for (const std::string& name : names) {
        Node node;
        node.name = name;
        node.op = name.find("MatMul") != std::string::npos ? "MatMul" : "Conv";
        const bool product = node.op == "MatMul";
        builder.addConstant(name + ".weight", Constant::fromFloats(product ? Dims{2, 2} : Dims{2, 2, 1, 1},
                                                                   {1.0f, -0.37f, value, 0.29f}));
        value += 0.17f;  // no two weights are alike
        node.inputs = {builder.tensor(at), builder.tensor(name + ".weight")};
        node.outputs = {builder.tensor(name + "_out")};
        builder.addNode(std::move(node));
        at = name + "_out";
    }
    builder.addOutput(builder.tensor(at));
    return builder.build();
}

std::vector<std::string> llama(int blocks) {
    std::vector<std::string> names{"/model/embed/Conv"};
    for (int k = 0; k < blocks; ++k)
        for (const char* role : {"self_attn/q_proj", "self_attn/k_proj", "self_attn/v_proj",
                                 "self_attn/o_proj", "mlp/up_proj", "mlp/down_proj"})
            names.push_back("/model/layers." + std::to_string(k) + '/' + role + "/MatMul");
    names.emplace_back("/lm_head/MatMul");
    return names;
}

QStringList list(const std::vector<QString>& texts) { return {texts.begin(), texts.end()}; }

QStringList words(const char* text) {
    return QString::fromLatin1(text).split(QLatin1Char(' '), Qt::SkipEmptyParts);
}

}  // namespace

class BlockMatrixTest : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void initTestCase() {
        QVERIFY(m_folder.isValid());
        test::keepSettingsIn(m_folder);
    }

    void aTransformerHasARowForEachBlock() {
        const GraphPtr graph = chainOf(llama(4));
        const auto matrices = blockMatrices(*graph);
        QCOMPARE(matrices.size(), 1u);
        QCOMPARE(matrices[0].title, QStringLiteral("model/layers.*"));
        QCOMPARE(list(matrices[0].blocks), words("layers.0 layers.1 layers.2 layers.3"));
        QCOMPARE(list(matrices[0].roles), words("q k v o up down"));
        QCOMPARE(matrices[0].at(2, 4), graph->findNode("/model/layers.2/mlp/up_proj/MatMul").value());
    }

    void fewerThanThreeBlocksAreNone() {
        QVERIFY(blockMatrices(*chainOf(llama(2))).empty());
        QVERIFY(blockMatrices(*chainOf({"a/Conv", "b/Conv", "c/Conv", "Conv_3"})).empty());
        // blocks of a single layer
        QVERIFY(blockMatrices(*chainOf({"/f.0/Conv", "/f.1/Conv", "/f.2/Conv", "/f.3/Conv"})).empty());
    }

    /// As in a ResNet: the first block of a stage has one more layer.
    void blocksMayHaveMoreLayersThanOthers() {
        std::vector<std::string> names{"/conv1/Conv"};
        for (const char* block : {"1.0", "1.1", "2.0", "2.1", "2.2"}) {
            const std::string scope =
                std::string("/layer") + block[0] + "/layer" + block;  // exporters repeat the stage
            for (const char* role : {"conv1", "conv2"}) names.push_back(scope + '/' + role + "/Conv");
            if (block[2] == '0') names.push_back(scope + "/downsample/downsample.0/Conv");
        }
        const auto matrices = blockMatrices(*chainOf(names));
        QCOMPARE(matrices.size(), 1u);
        QCOMPARE(list(matrices[0].blocks), words("layer1.0 layer1.1 layer2.0 layer2.1 layer2.2"));
        QCOMPARE(list(matrices[0].roles), words("conv1 conv2 downsample.0"));
        QVERIFY(matrices[0].at(0, 2).valid());
        QVERIFY(!matrices[0].at(1, 2).valid());
    }

    void mobileNetsLeaveOutBlocksOfAnotherStructure() {
        std::vector<std::string> names{"/features/features.0/features.0.0/Conv",
                                       "/features/features.1/conv/conv.0/conv.0.0/Conv",
                                       "/features/features.1/conv/conv.1/Conv"};
        for (int k = 2; k < 6; ++k)
            for (const char* role : {"conv.0/conv.0.0", "conv.1/conv.1.0", "conv.2"})
                names.push_back("/features/features." + std::to_string(k) + "/conv/" + role + "/Conv");
        names.emplace_back("/features/features.6/features.6.0/Conv");
        const auto matrices = blockMatrices(*chainOf(names));
        QCOMPARE(matrices.size(), 1u);
        QCOMPARE(list(matrices[0].blocks), words("features.2 features.3 features.4 features.5"));
        QCOMPARE(list(matrices[0].roles), words("conv.0.0 conv.1.0 conv.2"));
    }

    /// Some exporters number all operators of the network.
    void operatorsAreNumberedWithinTheirBlock() {
        std::vector<std::string> names;
        for (int k = 0; k < 9; ++k)
            names.push_back("/stage." + std::to_string(k / 3) + "/Conv_" + std::to_string(k + 10));
        const auto matrices = blockMatrices(*chainOf(names));
        QCOMPARE(matrices.size(), 1u);
        QCOMPARE(list(matrices[0].roles),
                 (QStringList{QStringLiteral("Conv 1"), QStringLiteral("Conv 2"), QStringLiteral("Conv 3")}));
    }

    void encoderAndDecoderAreTwoMatrices() {
        std::vector<std::string> names;
        for (const char* part : {"encoder", "decoder"})
            for (int k = 0; k < 3; ++k)
                for (const char* role : {"query", "value"})
                    names.push_back('/' + std::string(part) + "/layer." + std::to_string(k) + '/' + role +
                                    "/MatMul");
        const auto matrices = blockMatrices(*chainOf(names));
        QCOMPARE(matrices.size(), 2u);
        QCOMPARE(matrices[0].title, QStringLiteral("encoder/layer.*"));
        QCOMPARE(matrices[1].title, QStringLiteral("decoder/layer.*"));
        QCOMPARE(list(matrices[1].roles), words("query value"));
    }

    /// In a network without scopes, the two halves of a transformer's blocks alternate.
    void halvesOfBlocksWithoutScopesAreTwoMatrices() {
        QString body;
        for (int k = 0; k < 4; ++k)
            body += QStringLiteral(
                        "m%1 = MatMul(x%1, w) s%1 = Softmax(m%1) o%1 = MatMul(s%1, w) "
                        "a%1 = Add(x%1, o%1) u%1 = MatMul(a%1, w) r%1 = Relu(u%1) "
                        "d%1 = MatMul(r%1, w) x%2 = Add(a%1, d%1) ")
                        .arg(k)
                        .arg(k + 1);
        const LoadedModel model = test::textModel(
            "<ir_version: 8, opset_import: [\"\" : 13]> g (float[N,2] x0) => (float[N,2] x4) "
            "<float[2,2] w = {1, 2, 3, 4}> {" +
            body.toStdString() + "}");
        const auto matrices = blockMatrices(*model.graph);
        QCOMPARE(matrices.size(), 2u);
        QCOMPARE(matrices[0].title, QString::fromUtf8("block 1 … block 7"));
        QCOMPARE(list(matrices[1].blocks), (QStringList{"block 2", "block 4", "block 6"}));
        QCOMPARE(matrices[1].roles.size(), 2u);
        QCOMPARE(model.graph->node(matrices[1].at(2, 0)).op, std::string("MatMul"));
        QVERIFY(matrices[0].at(1, 0) < matrices[1].at(1, 0));
    }

    void rolesGrowUntilTheyDiffer() {
        const auto names = [](const std::vector<RoleParts>& roles) { return list(roleNames(roles)); };
        QCOMPARE(names({{"attention", "self", "query"},
                        {"attention", "output", "dense"},
                        {"intermediate", "dense"},
                        {"output", "dense"}}),
                 words("query attention/output/dense intermediate/dense output/dense"));
        QCOMPARE(names({{"cv1", "conv"}, {"cv2", "conv"}, {"m.0", "cv1", "conv"}}), words("cv1 cv2 m.0/cv1"));
        QCOMPARE(names({{"mlp", "0"}, {"mlp", "2"}}), words("mlp/0 mlp/2"));
        QCOMPARE(names({{"q_proj"}, {"proj"}}), words("q_proj proj"));      // one ending alone stays
        QCOMPARE(names({{"a_x"}, {"b_x"}, {"a"}}), words("a_x b_x a"));     // would not be unique
        QCOMPARE(names({{"conv_1"}, {"conv_2"}}), words("conv_1 conv_2"));  // numbers are no endings
    }

    void theTabIsShownOnlyWithBlocks() {
        open(2);
        QVERIFY(!tabIsVisible());
        m_window->workTabs()->showTab(WorkTabs::Blocks);
        QCOMPARE(m_window->workTabs()->currentTab(), static_cast<int>(WorkTabs::Layers));
        open(3);
        QVERIFY(tabIsVisible());
        QTest::keyClick(m_window.get(), Qt::Key_2, Qt::AltModifier);
        QCOMPARE(m_window->workTabs()->currentTab(), static_cast<int>(WorkTabs::Blocks));
        QVERIFY(view()->isVisible());
        // Another model without blocks.
        QVERIFY(test::openAndWait(*m_window->document(), test::writeModel(m_folder)));
        QTRY_VERIFY(!tabIsVisible());
        QCOMPARE(m_window->workTabs()->currentTab(), static_cast<int>(WorkTabs::Layers));
    }

    void cellsShowTheMetricOfTheGraph() {
        open(3);
        const QModelIndex cell = view()->model()->index(1, 2);
        const NodeId layer = nodeOf(1, "self_attn/v_proj");
        GraphCanvas* canvas = m_window->graphView()->canvas();
        for (const Metric metric : {Metric::LocalQs, Metric::CumulativeQs, Metric::Bits}) {
            canvas->setMetric(metric);
            QTRY_VERIFY(canvas->overlay().metric == metric && canvas->overlay().valueOf(layer));
            const LayerResult& result = *m_window->document()->layer(layer);
            QCOMPARE(cell.data().toString(), metric == Metric::Bits
                                                 ? formatBits(result)
                                                 : formatMetric(*metricValue(result, metric), metric));
            QVERIFY(cell.data(BlockTableModel::ColorRole).isValid());
            const QString tip = cell.data(Qt::ToolTipRole).toString();
            QVERIFY2(tip.contains(metricName(metric)) && tip.contains(QStringLiteral("v_proj")) &&
                         tip.contains(QStringLiteral("v of layers.1")),
                     qPrintable(tip));
            const QString told = cell.data(Qt::AccessibleTextRole).toString();
            QVERIFY2(told.contains(cell.data().toString()) && told.contains(QStringLiteral("quantized")),
                     qPrintable(told));
        }
    }

    void skippedLayersAndOtherPrecisionsAreOutlined() {
        open(3);
        Document& document = *m_window->document();
        const auto mark = [&](int row, int column) {
            return view()->model()->index(row, column).data(BlockTableModel::MarkRole).toInt();
        };
        QCOMPARE(mark(0, 0), static_cast<int>(BlockTableModel::NoMark));
        document.select(nodeOf(0, "self_attn/q_proj"));
        QTest::keyClick(view(), Qt::Key_Space);
        QTRY_COMPARE(mark(0, 0), static_cast<int>(BlockTableModel::InFloat));
        const NodeId other = nodeOf(2, "mlp/down_proj");
        document.edit(setPrecision(*document.graph(), document.config(), document.layers(), {other},
                                   Precision::integer(16, 16)));
        QTRY_COMPARE(mark(2, 5), static_cast<int>(BlockTableModel::OtherPrecision));
        QTRY_VERIFY(view()->model()->index(2, 5).data(Qt::ToolTipRole).toString().contains("W16A16"));
        QCOMPARE(mark(1, 1), static_cast<int>(BlockTableModel::NoMark));
    }

    void theSelectionIsShared() {
        open(3);
        Document& document = *m_window->document();
        document.select({nodeOf(0, "self_attn/q_proj"), nodeOf(1, "mlp/up_proj")}, nodeOf(1, "mlp/up_proj"));
        QCOMPARE(cells(), (QList<QPoint>{{0, 0}, {4, 1}}));
        QCOMPARE(view()->currentIndex(), view()->model()->index(1, 4));
        click(2, 1);
        QCOMPARE(document.selection(), std::vector{nodeOf(2, "self_attn/k_proj")});
        QCOMPARE(document.current(), nodeOf(2, "self_attn/k_proj"));
        QTest::keyClick(view(), Qt::Key_Right);
        QCOMPARE(document.current(), nodeOf(2, "self_attn/v_proj"));
        QTest::keyClick(view(), Qt::Key_Up, Qt::ShiftModifier);
        QCOMPARE(document.selection().size(), 2u);
        document.select(document.graph()->findNode("/lm_head/MatMul").value());  // not in the matrix
        QVERIFY(cells().isEmpty());
        // Showing the tab does not change the selection.
        m_window->graphView()->canvas()->setFocus();
        QTest::keyClick(m_window.get(), Qt::Key_2, Qt::AltModifier);
        QVERIFY(view()->hasFocus());
        QCOMPARE(document.current(), document.graph()->findNode("/lm_head/MatMul").value());
        QTest::keyClick(m_window.get(), Qt::Key_1, Qt::AltModifier);
        m_window->layerTable()->filterLine()->setText(QStringLiteral("q_proj"));
        QTest::keyClick(m_window.get(), Qt::Key_1, Qt::AltModifier);
        QVERIFY(m_window->layerTable()->view()->hasFocus());
        QCOMPARE(document.current(), document.graph()->findNode("/lm_head/MatMul").value());
    }

    void theMatrixOfTheCurrentLayerIsShown() {
        std::vector<std::string> names;
        for (const char* part : {"encoder", "decoder"})
            for (int k = 0; k < 3; ++k)
                for (const char* role : {"query", "value"})
                    names.push_back('/' + std::string(part) + "/layer." + std::to_string(k) + '/' + role +
                                    "/MatMul");
        open(names);
        const auto* choice = m_window->findChild<QComboBox*>(QStringLiteral("blockChoice"));
        QVERIFY(choice->isVisible());
        Document& document = *m_window->document();
        for (const char* part : {"decoder", "encoder", "decoder"}) {
            const NodeId layer =
                document.graph()->findNode('/' + std::string(part) + "/layer.1/value/MatMul").value();
            document.select(layer);
            QCOMPARE(choice->currentText(), QLatin1String(part) + QStringLiteral("/layer.*"));
            QCOMPARE(cells(), (QList<QPoint>{{1, 1}}));
            QCOMPARE(document.current(), layer);
        }
    }

    void draggingSelectsARectangle() {
        open(3);
        const QPoint from = centerOf(0, 1), to = centerOf(1, 3);
        QTest::mousePress(view()->viewport(), Qt::LeftButton, {}, from);
        QTest::mouseMove(view()->viewport(), (from + to) / 2);
        QTest::mouseMove(view()->viewport(), to);
        QTest::mouseRelease(view()->viewport(), Qt::LeftButton, {}, to);
        QCOMPARE(m_window->document()->selection().size(), 6u);
        QVERIFY(m_window->document()->isSelected(nodeOf(1, "self_attn/o_proj")));
        QVERIFY(!m_window->document()->isSelected(nodeOf(0, "self_attn/q_proj")));
    }

    void headersSelectABlockOrARole() {
        open(3);
        QHeaderView* columns = view()->horizontalHeader();
        QTest::mouseClick(columns->viewport(), Qt::LeftButton, {},
                          {columns->sectionViewportPosition(3) + 5, columns->height() / 2});
        QCOMPARE(m_window->document()->selection().size(), 3u);
        QVERIFY(m_window->document()->isSelected(nodeOf(2, "self_attn/o_proj")));
        QHeaderView* rows = view()->verticalHeader();
        QTest::mouseClick(rows->viewport(), Qt::LeftButton, {},
                          {rows->width() / 2, rows->sectionViewportPosition(1) + 5});
        QCOMPARE(m_window->document()->selection().size(), 6u);
        QVERIFY(m_window->document()->isSelected(nodeOf(1, "mlp/down_proj")));
    }

  private:
    void open(int blocks) { open(llama(blocks)); }
    void open(const std::vector<std::string>& names) {
        const std::filesystem::path path =
            m_folder.filePath(QStringLiteral("chain%1.onnx").arg(names.size())).toStdString();
        saveModel(*chainOf(names), path);
        m_window = test::openWindow(path, {1500, 950});
        QVERIFY(m_window);
        m_window->workTabs()->showTab(WorkTabs::Blocks);
    }
    QTableView* view() const { return m_window->findChild<QTableView*>(QStringLiteral("blockMatrix")); }
    bool tabIsVisible() const {
        const QTabBar* bar = m_window->workTabs()->bar();
        for (int i = 0; i < bar->count(); ++i)
            if (bar->tabText(i) == QStringLiteral("Blocks")) return bar->isTabVisible(i);
        return false;
    }
    NodeId nodeOf(int block, const char* role) const {
        return m_window->document()
            ->graph()
            ->findNode("/model/layers." + std::to_string(block) + '/' + role + "/MatMul")
            .value();
    }
    QPoint centerOf(int row, int column) const {
        return view()->visualRect(view()->model()->index(row, column)).center();
    }
    void click(int row, int column) {
        QTest::mouseClick(view()->viewport(), Qt::LeftButton, {}, centerOf(row, column));
    }
    /// Column and row of each selected cell, sorted by row.
    QList<QPoint> cells() const {
        QList<QPoint> points;
        for (const QModelIndex& index : view()->selectionModel()->selectedIndexes())
            points.append({index.column(), index.row()});
        std::ranges::sort(points, {}, [](QPoint p) { return std::pair(p.y(), p.x()); });
        return points;
    }

    QTemporaryDir m_folder;
    std::unique_ptr<MainWindow> m_window;
};

QTEST_MAIN(BlockMatrixTest)
#include "block_matrix_test.moc"
