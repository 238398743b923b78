// SPDX-License-Identifier: Apache-2.0
// The pages of PDF reports: a drawing on several pages is cut between its boxes and painted completely, and
// headings stay with their text.
#include "reports/paper_drawing.h"

#include <QAbstractTextDocumentLayout>
#include <QImage>
#include <QPainter>
#include <QTextBlock>
#include <QTextCursor>
#include <QTextDocument>
#include <QtTest>

#include "reports/keep_headings.h"

using namespace quantloupe::ui;

class PaperDrawingTest : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void drawingIsCutBetweenBoxes() {
        QString svg = QStringLiteral(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"360\" height=\"5000\" viewBox=\"0 10 360 "
            "5000\">"
            // a frame round all of it
            "<rect x=\"0\" y=\"10\" width=\"360\" height=\"5000\" fill=\"none\"/>");
        std::vector<std::pair<double, double>> boxes;
        for (double y = 20; y < 4900; y += 73) {
            boxes.emplace_back(y, y + 60);
            svg += QStringLiteral("<rect x=\"20\" y=\"%1\" width=\"300\" height=\"60\" fill=\"#ff0000\"/>")
                       .arg(y);
        }
        PaperDrawing drawing(QByteArray(svg.toUtf8() + "</svg>"));
        QVERIFY(drawing.scale() > 0.5 && drawing.scale() < 1);
        QVERIFY(drawing.cuts().size() > 4);
        QVERIFY(drawing.pages() < drawing.cuts().size());  // columns
        for (const double cut : drawing.cuts())
            for (const auto& [top, bottom] : boxes) {
                const double at = cut / drawing.scale() + 10;
                QVERIFY2(at <= top || at >= bottom,
                         qPrintable(QStringLiteral("%1 cuts %2 to %3").arg(at).arg(top).arg(bottom)));
            }
        // Everything is painted: as many red pixels on all pages as in the drawing.
        double red = 0;
        for (std::size_t page = 0; page < drawing.pages(); ++page) {
            const QSizeF size = drawing.pageSize(page);
            QVERIFY(size.height() <= PaperDrawing::kHeight && size.width() <= PaperDrawing::kWidth);
            QImage image(size.toSize() + QSize(2, 2), QImage::Format_RGB32);
            image.fill(Qt::white);
            QPainter painter(&image);
            drawing.paint(painter, {}, page);
            painter.end();
            for (int y = 0; y < image.height(); ++y)
                for (int x = 0; x < image.width(); ++x) red += 1 - qGreen(image.pixel(x, y)) / 255.0;
        }
        const double expected =
            static_cast<double>(boxes.size()) * 300 * 60 * drawing.scale() * drawing.scale();
        QVERIFY2(std::abs(red / expected - 1) < 0.01,
                 qPrintable(QStringLiteral("%1 of %2").arg(red).arg(expected)));
        QCOMPARE(PaperDrawing(QByteArray("<svg>")).pages(), std::size_t{0});
    }

    void headingIsOnThePageOfItsText() {
        int moved = 0;
        for (const char* text : {"<p>Text</p>", "<table><tr><td>Cell</td></tr></table>"})
            for (int lines = 0; lines < 60; ++lines) {
                QTextDocument document;
                document.setHtml(QStringLiteral("<p>Line</p>").repeated(lines) +
                                 QStringLiteral("<h2>Heading</h2>") + QLatin1String(text));
                document.setPageSize({600, 400});
                const auto pageOf = [&](const char* word) {
                    const QTextBlock block = document.find(QLatin1String(word)).block();
                    return static_cast<int>(document.documentLayout()->blockBoundingRect(block).center().y() /
                                            400);
                };
                const char* word = text[1] == 'p' ? "Text" : "Cell";
                const bool parted = pageOf("Heading") != pageOf(word);
                keepHeadingsWithText(document);
                QVERIFY2(pageOf("Heading") == pageOf(word), qPrintable(QString::number(lines)));
                moved += parted;
            }
        QVERIFY(moved > 1);  // otherwise nothing was tested
    }
};

QTEST_MAIN(PaperDrawingTest)
#include "paper_drawing_test.moc"
