// SPDX-License-Identifier: Apache-2.0
// Accessibility: every control of the window has a name for screen readers.
#include <QAbstractButton>
#include <QAbstractItemView>
#include <QAbstractSlider>
#include <QAbstractSpinBox>
#include <QAccessible>
#include <QComboBox>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QScrollBar>
#include <QTest>

#include "window_test_support.h"

using namespace quantloupe;
using namespace quantloupe::ui;

namespace {

bool isControl(const QWidget* widget) {
    if (qobject_cast<const QScrollBar*>(widget)) return false;
    // Parts of a compound control are announced as part of it.
    const QWidget* parent = widget->parentWidget();
    if (qobject_cast<const QAbstractSpinBox*>(parent) || qobject_cast<const QComboBox*>(parent) ||
        qobject_cast<const QAbstractItemView*>(parent))
        return false;
    if (widget->objectName().startsWith(QLatin1String("qt_")) ||
        (parent && parent->inherits("QComboBoxPrivateContainer")))
        return false;
    return qobject_cast<const QAbstractButton*>(widget) || qobject_cast<const QComboBox*>(widget) ||
           qobject_cast<const QAbstractSpinBox*>(widget) || qobject_cast<const QLineEdit*>(widget) ||
           qobject_cast<const QAbstractSlider*>(widget) || qobject_cast<const QAbstractItemView*>(widget) ||
           qobject_cast<const QPlainTextEdit*>(widget) || (widget->focusPolicy() & Qt::TabFocus);
}

/// "QComboBox in ... in MainWindow".
QString pathOf(const QWidget* widget) {
    QStringList names;
    for (; widget; widget = widget->parentWidget()) {
        QString name = QString::fromLatin1(widget->metaObject()->className());
        if (!widget->objectName().isEmpty()) name += QLatin1Char('#') + widget->objectName();
        names.append(name);
    }
    return names.join(QStringLiteral(" in "));
}

}  // namespace

class AccessibilityTest : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void initTestCase() {
        QVERIFY(m_folder.isValid());
        test::keepSettingsIn(m_folder);
    }

    void everyControlHasAName() {
        const auto window = test::openWindow(test::writeModel(m_folder), {1400, 900});
        QVERIFY(window);
        window->document()->select(NodeId(0));
        QTest::qWait(50);
        QStringList nameless;
        for (QWidget* widget : window->findChildren<QWidget*>()) {
            // invisible controls may have no text yet
            if (!widget->isVisible() || !isControl(widget)) continue;
            const QAccessibleInterface* told = QAccessible::queryAccessibleInterface(widget);
            if (!told || told->text(QAccessible::Name).trimmed().isEmpty()) nameless.append(pathOf(widget));
        }
        QVERIFY2(nameless.isEmpty(),
                 qPrintable(QStringLiteral("without a name:\n") + nameless.join(QLatin1Char('\n'))));
    }

  private:
    QTemporaryDir m_folder;
};

QTEST_MAIN(AccessibilityTest)
#include "accessibility_test.moc"
