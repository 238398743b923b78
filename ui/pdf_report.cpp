// SPDX-License-Identifier: Apache-2.0
#include "pdf_report.h"

#include <QBuffer>
#include <QImage>
#include <QPageLayout>
#include <QPainter>
#include <QPdfWriter>
#include <QSvgRenderer>
#include <QTextDocument>
#include <QUrl>
#include <cmath>

#include "base/atomic_file.h"
#include "base/error.h"

namespace quantloupe::ui {
namespace {

constexpr double kPage = 980;      ///< width of the text in the document's units
constexpr double kPageHeight = 600;  ///< a drawing is cut so that each piece fits on a page
constexpr double kSharpness = 2.5;   ///< pixels a unit
constexpr double kMostPixels = 40e6;  ///< of one drawing: that of a thousand layers is far higher than a page

/// QTextDocument knows no SVG inside a page: each becomes images, those that are higher than a page one a page.
QString withImages(QString html, QTextDocument& document) {
    int number = 0;
    for (qsizetype at = html.indexOf(QLatin1String("<svg")); at >= 0; at = html.indexOf(QLatin1String("<svg"), at)) {
        const qsizetype end = html.indexOf(QLatin1String("</svg>"), at) + 6;
        if (end < 6) break;
        QSvgRenderer drawing(html.mid(at, end - at).toUtf8());
        QString images;
        const QSizeF size = drawing.viewBoxF().size();
        if (drawing.isValid() && !size.isEmpty()) {
            const double width = std::min(kPage, size.width()), scale = width / size.width(), height = size.height() * scale;
            const double sharpness = std::min(kSharpness, std::sqrt(kMostPixels / std::max(1.0, width * height)));
            for (double top = 0; top < height; top += kPageHeight) {
                const double piece = std::min(kPageHeight, height - top);
                QImage image(QSizeF(width * sharpness, piece * sharpness).toSize().expandedTo({1, 1}), QImage::Format_RGB32);
                image.fill(Qt::white);
                QPainter painter(&image);
                painter.setRenderHint(QPainter::Antialiasing);
                painter.translate(0, -top * sharpness);
                drawing.render(&painter, QRectF(0, 0, width * sharpness, height * sharpness));
                painter.end();
                const QString name = QStringLiteral("drawing:%1").arg(number++);
                document.addResource(QTextDocument::ImageResource, QUrl(name), image);
                images += QStringLiteral("<p><img src=\"%1\" width=\"%2\" height=\"%3\"/></p>").arg(name).arg(width, 0, 'f', 0).arg(piece, 0, 'f', 0);
            }
        }
        html.replace(at, end - at, images);
        at += images.size();
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
        writer.setPageLayout(QPageLayout(QPageSize(QPageSize::A4), QPageLayout::Landscape, QMarginsF(15, 15, 15, 15), QPageLayout::Millimeter));
        writer.setResolution(96);
        writer.setCreator(QStringLiteral("Quantloupe"));
        QTextDocument document;
        document.setDefaultFont(QFont(QStringLiteral("sans-serif"), 7));
        document.setDefaultStyleSheet(QStringLiteral("td, th { padding: 1px 3px; } h1 { font-size: 15pt; } h2 { font-size: 11pt; }"));
        document.setPageSize(writer.pageLayout().paintRectPixels(96).size());
        document.setHtml(withImages(QString::fromStdString(html), document));
        document.print(&writer);
    }
    if (bytes.isEmpty()) fail(ErrorKind::Io, "the report cannot be laid out as PDF");
    writeFileAtomically(path, {bytes.constData(), static_cast<std::size_t>(bytes.size())});
}

}  // namespace quantloupe::ui
