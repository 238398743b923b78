// SPDX-License-Identifier: Apache-2.0
#include "reports/pdf_report.h"

#include <QAbstractTextDocumentLayout>
#include <QBuffer>
#include <QPageLayout>
#include <QPdfWriter>
#include <QTextCursor>
#include <QTextDocument>
#include <vector>

#include "base/atomic_file.h"
#include "base/error.h"
#include "reports/keep_headings.h"
#include "reports/paper_drawing.h"
#include "style/words.h"

namespace quantloupe::ui {
namespace {

// invisible separators, which do not occur in the texts of a report
const QString kPlaceholder = QStringLiteral("drawing\u2063%1\u2063");

/// Removes the drawings from the page and inserts a paragraph for each of their pages.
QString withPlaceholders(QString html, std::vector<PaperDrawing>& drawings,
                         std::vector<std::pair<std::size_t, std::size_t>>& pages) {
    for (qsizetype at = html.indexOf(QLatin1String("<svg")); at >= 0;
         at = html.indexOf(QLatin1String("<svg"), at)) {
        const qsizetype end = html.indexOf(QLatin1String("</svg>"), at) + 6;
        if (end < 6) break;
        QString paragraphs;
        PaperDrawing drawing(html.mid(at, end - at).toUtf8());
        for (std::size_t page = 0; page < drawing.pages(); ++page) {
            paragraphs += QStringLiteral("<p>%1</p>").arg(kPlaceholder.arg(pages.size()));
            pages.emplace_back(drawings.size(), page);
        }
        drawings.push_back(std::move(drawing));
        html.replace(at, end - at, paragraphs);
        at += paragraphs.size();
    }
    return html;
}

}  // namespace

void writePdfReport(const std::string& html, const std::filesystem::path& path) {
    QByteArray bytes;
    QBuffer buffer(&bytes);
    buffer.open(QIODevice::WriteOnly);
    {
        QPdfWriter writer(&buffer);
        writer.setPageLayout(QPageLayout(QPageSize(QPageSize::A4), QPageLayout::Landscape,
                                         QMarginsF(15, 15, 15, 15), QPageLayout::Millimeter));
        writer.setResolution(96);
        writer.setCreator(Words::tr("Quantloupe"));
        std::vector<PaperDrawing> drawings;
        std::vector<std::pair<std::size_t, std::size_t>> pages;  // drawing and page number
        const QString text = withPlaceholders(QString::fromStdString(html), drawings, pages);
        PaperDrawings handler(drawings);
        QTextDocument document;
        document.documentLayout()->registerHandler(PaperDrawings::kObject, &handler);
        document.setDefaultFont(QFont(QStringLiteral("sans-serif"), 7));
        document.setHtml(text);
        for (std::size_t i = 0; i < pages.size(); ++i) {
            QTextCursor place = document.find(kPlaceholder.arg(i));
            if (!place.isNull())
                place.insertText(QString(QChar::ObjectReplacementCharacter),
                                 PaperDrawings::format(pages[i].first, pages[i].second));
        }
        // last, because changes after the page layout would be lost
        document.setPageSize(writer.pageLayout().paintRectPixels(96).size());
        keepHeadingsWithText(document);
        document.print(&writer);
    }
    if (bytes.isEmpty()) fail(ErrorKind::Io, "the report cannot be laid out as PDF");
    writeFileAtomically(path, {bytes.constData(), static_cast<std::size_t>(bytes.size())});
}

}  // namespace quantloupe::ui
