// SPDX-License-Identifier: Apache-2.0
// The section "Keep in float" with many locked layers: one card for each froze the window.
#include "panels/skip_section.h"

#include <QLabel>
#include <QTest>
#include <QToolButton>

#include "base/atomic_file.h"
#include "graph/rule_preview.h"
#include "support/text_model.h"
#include "ui_test_support.h"

using namespace quantloupe;
using namespace quantloupe::ui;

class SkipSectionTest : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void theFirstLockedLayersHaveCards() {
        QTemporaryDir folder;
        test::keepSettingsIn(folder);
        Document document;
        std::string chain =
            "<ir_version: 8, opset_import: [\"\" : 13]> g (float[N,4] X) => (float[N,4] Y) { t0 = Relu(X) ";
        for (int i = 1; i < 39; ++i) chain += fmt::format("t{} = Relu(t{}) ", i, i - 1);
        const auto file = folder.filePath(QStringLiteral("chain.onnx")).toStdString();
        writeFileAtomically(file, test::textModelBytes(chain + "Y = Relu(t38) }"));
        QVERIFY(test::openAndWait(document, file));
        SkipSection section(&document);
        section.show();
        const auto lock = [&](std::size_t layers) {
            QuantizationConfig config = document.config();
            config.layers.clear();
            for (std::size_t i = 0; i < layers; ++i)
                config.layers[document.graph()->node(NodeId(i)).name].quantize = true;
            document.edit({config, QStringLiteral("Lock"), {}});
        };
        const auto cards = [&] {
            qsizetype count = 0;
            for (const auto* button : section.findChildren<QToolButton*>())
                count += button->toolTip() == QLatin1String("Remove this setting and use the rules");
            return count;
        };
        const auto says = [&](const QString& text) {
            const auto labels = section.findChildren<QLabel*>();
            return std::ranges::any_of(labels, [&](const QLabel* label) { return label->text() == text; });
        };
        lock(30);
        QTRY_COMPARE(cards(), qsizetype(30));
        QVERIFY(!says(QStringLiteral("and 0 more locked layers")));
        lock(40);
        QTRY_VERIFY(says(QStringLiteral("and 10 more locked layers")));
        QTRY_COMPARE(cards(), qsizetype(30));
    }

    void layersWithAPrecisionOfTheirOwnAreNotCounted() {
        QTemporaryDir folder;
        test::keepSettingsIn(folder);
        Document document;
        QVERIFY(test::openAndWait(document, test::writeModel(folder)));
        SkipRule rule;
        rule.kind = SkipKind::Pattern;
        rule.regex = ".*";
        const auto preview = [&] {
            return previewRule(*document.graph(), document.config(), document.layers(), rule);
        };
        const RulePreview before = preview();
        QVERIFY(before.quantizable > 1 && before.changed > 1);
        QuantizationConfig config = document.config();
        std::size_t own = 0;
        for (const LayerResult& layer : document.layers()) {
            if (layer.state != LayerState::Quantized) continue;
            config.layers[layer.name].precision = precisionNamed("w8a8");
            ++own;
            document.edit({config, QStringLiteral("Precision"), {}});
            QCOMPARE(preview().pinned, own);
            QCOMPARE(preview().changed, before.changed - own);
        }
        const QString expected = QStringLiteral("%1 keep their own setting").arg(own);
        QVERIFY2(previewWords(preview()).contains(expected), qPrintable(previewWords(preview())));
    }
};

QTEST_MAIN(SkipSectionTest)
#include "skip_section_test.moc"
