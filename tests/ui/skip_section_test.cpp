// SPDX-License-Identifier: Apache-2.0
// The section "Keep in float" with many locked layers: one card for each froze the window.
#include "panels/skip_section.h"

#include <QLabel>
#include <QTest>
#include <QToolButton>

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
        QVERIFY(test::openAndWait(document, test::writeModel(folder)));
        SkipSection section(&document);
        section.show();
        const auto lock = [&](int layers) {
            QuantizationConfig config = document.config();
            config.layers.clear();
            for (int i = 0; i < layers; ++i) config.layers["layer " + std::to_string(i)].quantize = true;
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
        lock(1030);
        QTRY_VERIFY(says(QStringLiteral("and 1,000 more locked layers")));
        QTRY_COMPARE(cards(), qsizetype(30));
    }
};

QTEST_MAIN(SkipSectionTest)
#include "skip_section_test.moc"
