// SPDX-License-Identifier: Apache-2.0
// Every text of the window can be translated: with a translator that puts brackets around every text, all
// visible texts have brackets, except those from the network and the engine.
#include <QAbstractButton>
#include <QAction>
#include <QComboBox>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QRegularExpression>
#include <QTabBar>
#include <QTest>
#include <QTranslator>

#include "config/presets.h"
#include "interchange/clika/clika_names.h"
#include "interchange/file_format.h"
#include "model/load_model.h"
#include "style/words.h"
#include "window_test_support.h"

using namespace quantloupe;
using namespace quantloupe::ui;

namespace {

class Brackets final : public QTranslator {
  public:
    QString translate(const char* context, const char* source, const char*, int) const override {
        // Qt translates its own dialogs.
        if (QByteArrayView(context).startsWith("Q")) return {};
        return QChar(0x27e6) + QString::fromUtf8(source) + QChar(0x27e7);
    }
    bool isEmpty() const override { return false; }
};

/// Returns the text without what the translator has put in brackets, which may be nested.
QString outsideBrackets(const QString& text) {
    QString outside;
    int depth = 0;
    for (const QChar c : text) {
        depth -= c == QChar(0x27e7);
        if (depth == 0 && c != QChar(0x27e7) && c != QChar(0x27e6)) outside += c;
        depth += c == QChar(0x27e6);
    }
    return outside;
}

/// Matches the given words where they stand alone, the longest first: a name can contain an operator.
QRegularExpression anyOf(QStringList words) {
    std::ranges::sort(words, std::greater<>(), &QString::size);
    for (QString& word : words) word = QRegularExpression::escape(word);
    return QRegularExpression(QStringLiteral("(?<!\\w)(?:%1)(?!\\w)").arg(words.join(QLatin1Char('|'))));
}

/// Removes lines like "calibration method: ifmr \u2192 min max": keys and choices of the configuration file.
QString withoutDifferences(QString text) {
    static const QRegularExpression difference(QStringLiteral("^[a-z ]+: [a-z0-9 ]* \u2192 [a-z0-9 ]*$"),
                                               QRegularExpression::MultilineOption);
    return text.remove(difference);
}

/// Numbers, units, precisions, layouts, keys, names of files, shapes: nothing that a translator would touch.
bool hasWords(QString text) {
    static const QRegularExpression untold(QStringLiteral(
        "<[^>]*>|[\\w./]*[/.][\\w./"
        "]*|\\b(dB|[kMG]?B|ms|float(16|32)|W\\d+A\\d+|[kMGN]|RGB|NCHW|Space|(Ctrl|Shift|Alt)(?=\\+))\\b|"
        "\\+\\w\\b|[\\d\\W_]+"));
    return !text.replace(untold, {}).isEmpty();
}

}  // namespace

class TranslationTest : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void initTestCase() {
        QVERIFY(m_folder.isValid());
        test::keepSettingsIn(m_folder);
        QCoreApplication::installTranslator(&m_brackets);
    }

    void visibleTextsAreTranslated() {
        const auto model = test::writeModel(m_folder);
        const auto window = test::openWindow(model, {1400, 900});
        QVERIFY(window);
        window->document()->select(NodeId(0));
        QTest::qWait(100);
        QSet<QString> data;  // texts from the network and the engine
        for (const auto& node : window->document()->graph()->nodes())
            data << QString::fromStdString(node.name) << QString::fromStdString(node.op);
        for (const auto& tensor : window->document()->graph()->tensors())
            data << QString::fromStdString(tensor.name);
        for (const std::string& notice : loadModel(model).notices) data << QString::fromStdString(notice);
        const ClikaNames clika(*window->document()->graph());
        for (std::size_t n = 0; n < window->document()->graph()->nodeCount(); ++n)
            data << QString::fromStdString(clika.of(NodeId(n)));
        for (const PresetInfo& preset : presets())
            data << QString::fromStdString(preset.name) << QString::fromStdString(preset.description);
        for (const FileFormat& format : fileFormats()) {
            data << QString::fromStdString(format.title) << QString::fromStdString(format.what);
            for (const std::string& limit : format.limits) data << QString::fromStdString(limit);
        }
        data.remove({});
        const QRegularExpression known = anyOf(data.values());
        QStringList bare;
        const auto check = [&](const QObject* of, const char* what, const QString& text) {
            // Built-in buttons of docks and tab bars.
            if (of->inherits("QDockWidgetTitleButton") || (of->parent() && of->parent()->inherits("QTabBar")))
                return;
            if (!hasWords(withoutDifferences(outsideBrackets(text)).remove(known))) return;
            bare.append(QStringLiteral("%1 %2: %3")
                            .arg(QLatin1String(of->metaObject()->className()), QLatin1String(what), text));
        };
        for (QWidget* widget : window->findChildren<QWidget*>()) {
            check(widget, "tooltip", widget->toolTip());
            check(widget, "name", widget->accessibleName());
            if (auto* label = qobject_cast<QLabel*>(widget)) check(label, "text", label->text());
            if (auto* button = qobject_cast<QAbstractButton*>(widget)) check(button, "text", button->text());
            if (auto* edit = qobject_cast<QLineEdit*>(widget))
                check(edit, "placeholder", edit->placeholderText());
            if (auto* box = qobject_cast<QComboBox*>(widget))
                for (int i = 0; i < box->count(); ++i) check(box, "item", box->itemText(i));
            if (auto* tabs = qobject_cast<QTabBar*>(widget))
                for (int i = 0; i < tabs->count(); ++i) check(tabs, "tab", tabs->tabText(i));
            if (auto* header = qobject_cast<QHeaderView*>(widget); header && header->model())
                for (int i = 0; i < header->count(); ++i)
                    check(header, "column", header->model()->headerData(i, header->orientation()).toString());
        }
        for (QAction* action : window->findChildren<QAction*>()) {
            check(action, "text", action->text());
            check(action, "tooltip", action->toolTip());
        }
        QVERIFY2(bare.isEmpty(),
                 qPrintable(QStringLiteral("not translatable:\n") + bare.join(QLatin1Char('\n'))));
    }

    void wordsOfFreeFunctionsHaveTheirContext() {
        QCOMPARE(Words::tr("quantized"), QStringLiteral("\u27e6quantized\u27e7"));
    }

  private:
    Brackets m_brackets;
    QTemporaryDir m_folder;
};

QTEST_MAIN(TranslationTest)
#include "translation_test.moc"
