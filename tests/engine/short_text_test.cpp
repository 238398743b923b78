// SPDX-License-Identifier: Apache-2.0
// Shortened display of names of any length.
#include "base/short_text.h"

#include <QElapsedTimer>
#include <QtTest>

#include "base/error.h"
#include "base/rethrow.h"
#include "interchange/reports/csv.h"
#include "support/errors.h"

using namespace quantloupe;

class ShortTextTest : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void keepsBothEndsOfAName() {
        QCOMPARE(shortName("conv_1"), std::string("conv_1"));
        const std::string name = "first" + std::string(1000, 'x') + "last";
        const QString shown = QString::fromStdString(shortName(name));
        QCOMPARE(shown.size(), 200);
        QVERIFY(shown.startsWith("first") && shown.endsWith("last") && shown.contains(QChar(0x2026)));
    }

    void keepsCharactersWhole() {
        QString name;
        for (int i = 0; i < 500; ++i) name += QChar(0x3042);
        QCOMPARE(QString::fromStdString(shortName(name.toStdString(), 20)).size(), 20);
        QCOMPARE(shortName(name.left(100).toStdString()), name.left(100).toStdString());
        QVERIFY(!QString::fromStdString(shortName(name.toStdString())).contains(QChar(0xfffd)));
    }

    /// A name must not control the terminal or split a row of a table.
    void namesHaveNoControlCharacters() {
        QCOMPARE(shortName("a\x1b[31m\nb\tc"), std::string("a?[31m?b?c"));
        QCOMPARE(shortMessage("first line\nthe name 'a\nb' is unknown"),
                 std::string("first line\nthe name 'a?b' is unknown"));
    }

    void messagesShortenNamesAndNothingElse() {
        const std::string plain =
            "node 'a b' (Conv): the layer's weight isn't there, and 'c' has 3 values: see the model's "
            "documentation";
        QCOMPARE(shortMessage(plain), plain);
        const std::string spaced =
            "the name '" + std::string(500, 'x') + " " + std::string(500, 'y') + "' is unknown";
        QVERIFY(shortMessage(spaced).size() < 230);
        QVERIFY(QString::fromStdString(shortMessage(spaced)).endsWith("yyy' is unknown"));
        QVERIFY(shortMessage("names: " + std::string(5000, 'x') + ", b").size() < 230);
        QVERIFY(shortMessage(std::string(1 << 20, 'a').replace(1, 1, " ")).size() < 230);
        QCOMPARE(shortMessage("a\x1b[31mb"), std::string("a?[31mb"));
    }

    void errorsAreShortened() {
        Error error(ErrorKind::BadInput, "no layer '" + std::string(100'000, 'n') + "'");
        error.addContext("node '" + std::string(100'000, 'm') + "'");
        QVERIFY(std::string_view(error.what()).size() < 450);
        QVERIFY(error.message().size() < 230);
    }

    /// Messages contain a long name shortened, so a comparison with the message does not find it.
    void aContextIsAddedOnce() {
        const std::string context = "model '" + std::string(300, 'm') + "'";
        const auto once = [&] {
            try {
                failInput("it is empty");
            } catch (...) {
                rethrowWithContext(context);
            }
        };
        const auto twice = [&] {
            try {
                once();
            } catch (...) {
                rethrowWithContext(context);
            }
        };
        QVERIFY(test::errorOf(once).endsWith("mmm': it is empty"));
        QCOMPARE(test::errorOf(twice), test::errorOf(once));
    }

    // Quadratic time would exceed QtTest's limit for a function.
    void longMessagesTakeLinearTime() {
        std::string quotes;
        for (int i = 0; i < 1'000'000; ++i) quotes += " 'a";
        QVERIFY(shortMessage(quotes).size() < 4100);
    }

    void cellsAreNotFormulas() {
        QCOMPARE(csvCell("Conv_1"), std::string("Conv_1"));
        QCOMPARE(csvCell("=1+2"), std::string("'=1+2"));
        QCOMPARE(csvCell("@SUM(A1,A2)"), std::string("\"'@SUM(A1,A2)\""));
        QCOMPARE(csvCell("+cmd"), std::string("'+cmd"));
        QCOMPARE(csvCell("-x"), std::string("'-x"));
        QCOMPARE(csvCell(" x"), std::string("\" x\""));  // readers trim cells without quotes
        QCOMPARE(csvCell("\tx"), std::string("'\tx"));
        QCOMPARE(csvCell("\r=x"), std::string("\"'\r=x\""));
        for (const char* number : {"-3.5", "+2", "-1e-05", "-inf", "12"})
            QCOMPARE(csvCell(number), std::string(number));
        QCOMPARE(csvCell("say \"a\", b"), std::string("\"say \"\"a\"\", b\""));
    }
};

QTEST_GUILESS_MAIN(ShortTextTest)
#include "short_text_test.moc"
