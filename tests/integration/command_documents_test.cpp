// SPDX-License-Identifier: Apache-2.0
// The manual pages and shell completions that the programs write (--document).
#include <QRegularExpression>
#include <QtTest>

#include "support/run_program.h"

using namespace quantloupe::test;

namespace {

QString output(const QString& program, const QStringList& arguments) {
    const Outcome outcome = runProgram(program, arguments);
    return outcome.code == 0 ? outcome.out : QString();
}

QString programPath(const QString& name) { return QStringLiteral(QUANTLOUPE_BIN_DIR "/") + name; }

/// "--data", "--config", ... of a help text.
QSet<QString> optionsIn(const QString& help) {
    static const QRegularExpression option(QStringLiteral("^ +(?:-\\w, ?)?(--[a-z][a-z0-9-]*)"),
                                           QRegularExpression::MultilineOption);
    QSet<QString> names;
    for (auto found = option.globalMatch(help); found.hasNext();) names << found.next().captured(1);
    return names;
}

}  // namespace

class CommandDocumentsTest : public QObject {
    Q_OBJECT

    /// Returns what bash completes for the words; the last word is incomplete.
    static QStringList completed(const QString& program, const QString& words) {
        QString function = QLatin1Char('_') + program;
        function.replace(QLatin1Char('-'), QLatin1Char('_'));
        const QString script =
            QStringLiteral(
                "eval \"$(\"$1\" --document bash)\"; COMP_WORDS=(%1); "
                "COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); %2; printf '%s\\n' \"${COMPREPLY[@]}\"")
                .arg(words, function);
        return output(QStringLiteral("bash"),
                      {QStringLiteral("-c"), script, QStringLiteral("bash"), programPath(program)})
            .split(QLatin1Char('\n'), Qt::SkipEmptyParts);
    }

  private Q_SLOTS:
    void everyOptionIsInEveryDocument_data() {
        QTest::addColumn<QString>("program");
        QTest::addColumn<QStringList>("help");
        QTest::newRow("quantloupe") << QStringLiteral("quantloupe") << QStringList{QStringLiteral("--help")};
        const QString cli = QStringLiteral("quantloupe-cli");
        const QString help = output(programPath(cli), {QStringLiteral("--help")});
        static const QRegularExpression command(QStringLiteral("^  ([a-z-]+) "),
                                                QRegularExpression::MultilineOption);
        int count = 0;
        for (auto found = command.globalMatch(help, help.indexOf(QStringLiteral("Commands:")));
             found.hasNext(); ++count) {
            const QString name = found.next().captured(1);
            QTest::newRow(qPrintable(name)) << cli << QStringList{name, QStringLiteral("--help")};
        }
        QVERIFY(count >= 14);
    }
    void everyOptionIsInEveryDocument() {
        QFETCH(QString, program);
        QFETCH(QStringList, help);
        QSet<QString> options = optionsIn(output(programPath(program), help));
        options.remove(QStringLiteral("--help-all"));  // of Qt
        QVERIFY(options.size() > 5);
        for (const char* kind : {"man", "bash", "zsh", "fish"}) {
            QString document =
                output(programPath(program), {QStringLiteral("--document"), QString::fromUtf8(kind)});
            document.replace(QStringLiteral("\\-"), QStringLiteral("-"));
            for (const QString& option : options) {
                const QString shown =
                    qstrcmp(kind, "fish") == 0 ? QStringLiteral("-l ") + option.mid(2) : option;
                const QRegularExpression whole(QRegularExpression::escape(shown) +
                                               QStringLiteral("(?![\\w-])"));
                QVERIFY2(document.contains(whole), qPrintable(QString::fromUtf8(kind) + u' ' + option));
            }
        }
        // The documents list an option of several commands once. Bash is asked what this command has.
        const QString words = help.size() > 1 ? program + u' ' + help.front() : program;
        const QStringList offered = completed(program, words + QStringLiteral(" --"));
        for (const QString& option : options) QVERIFY2(offered.contains(option), qPrintable(option));
        for (const QString& option : offered)
            QVERIFY2(options.contains(option) || option == QLatin1String("--help-all"), qPrintable(option));
    }

    void bashCompletes_data() {
        QTest::addColumn<QString>("program");
        QTest::addColumn<QString>("words");
        QTest::addColumn<QStringList>("expected");
        const auto row = [](const char* program, const char* words, const char* expected) {
            QTest::newRow(words) << QString::fromUtf8(program) << QString::fromUtf8(words)
                                 << QString::fromUtf8(expected).split(QLatin1Char(' '), Qt::SkipEmptyParts);
        };
        row("quantloupe-cli", "quantloupe-cli ana", "analyze");
        row("quantloupe-cli", "quantloupe-cli --ver", "--version");
        row("quantloupe-cli", "quantloupe-cli leave", "leave-one-out");
        row("quantloupe-cli", "quantloupe-cli leave-one-out --wor", "--worst");
        row("quantloupe-cli", "quantloupe-cli tune --max-d", "--max-drop");
        row("quantloupe-cli", "quantloupe-cli inspect --max-d", "");
        row("quantloupe-cli", "quantloupe-cli analyze --cle q", "quark quantloupe");
        row("quantloupe-cli", "quantloupe-cli analyze --preset w4", "w4a8");
        row("quantloupe-cli", "quantloupe-cli export --to qd", "qdq");
        row("quantloupe-cli", "quantloupe-cli analyze --to qd", "");  // a layer, not a format
        row("quantloupe-cli", "quantloupe-cli analyze --threads x", "");
        row("quantloupe", "quantloupe --scr", "--screenshot");
        row("quantloupe", "quantloupe --theme d", "dark");
    }
    void bashCompletes() {
        QFETCH(QString, program);
        QFETCH(QString, words);
        QFETCH(QStringList, expected);
        QCOMPARE(completed(program, words), expected);
    }

    void unknownDocumentsAreRefused() {
        for (const char* program : {"quantloupe", "quantloupe-cli"}) {
            const Outcome outcome = runProgram(programPath(QString::fromUtf8(program)),
                                               {QStringLiteral("--document"), QStringLiteral("info")});
            QCOMPARE(outcome.code, 2);
            QVERIFY(outcome.err.contains("fish"));
        }
    }
};

QTEST_GUILESS_MAIN(CommandDocumentsTest)
#include "command_documents_test.moc"
