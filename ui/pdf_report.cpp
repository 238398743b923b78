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
#include <algorithm>

#include "base/atomic_file.h"
#include "base/error.h"
#include "style/words.h"

namespace quantloupe::ui {
namespace {

constexpr double kPage = 980;      ///< width of the text in the document's units
constexpr double kPageHeight = 600;  ///< a drawing is cut so that each piece fits on a page
constexpr double kSharpness = 2.5;  ///< pixels a unit
constexpr double kGap = 10;         ///< between columns

/// One page of a drawing: as many pieces side by side as fit.
QImage pageOf(QSvgRenderer& drawing, QSizeF size, int columns, double top, double sharpness) {
    const double gap = columns > 1 ? kGap : 0, height = std::min(kPageHeight, size.height() - top);
    QImage image((QSizeF(columns * (size.width() + gap), height) * sharpness).toSize().expandedTo({1, 1}), QImage::Format_RGB32);
    image.fill(Qt::white);
    QPainter painter(&image);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.scale(sharpness, sharpness);
    for (int c = 0; c < columns && top < size.height(); ++c, top += kPageHeight) {
        painter.save();
        painter.setClipRect(QRectF(c * (size.width() + gap), 0, size.width(), kPageHeight));
        painter.translate(c * (size.width() + gap), -top);
        drawing.render(&painter, QRectF({}, size));
        painter.restore();
    }
    return image;
}

/// QTextDocument knows no SVG inside a page: each becomes images. What is higher than a page goes on in the next column.
QString withImages(QString html, QTextDocument& document) {
    int number = 0;
    for (qsizetype at = html.indexOf(QLatin1String("<svg")); at >= 0; at = html.indexOf(QLatin1String("<svg"), at)) {
        const qsizetype end = html.indexOf(QLatin1String("</svg>"), at) + 6;
        if (end < 6) break;
        QSvgRenderer drawing(html.mid(at, end - at).toUtf8());
        QString images;
        QSizeF size = drawing.viewBoxF().size();
        if (drawing.isValid() && !size.isEmpty()) {
            size *= std::min(1.0, kPage / size.width());
            int columns = 1;
            if (size.height() > kPageHeight) {  // a third of the page is wide enough to be read
                size *= std::min(1.0, std::max(kPage / 3 - kGap, 0.6 * size.width()) / size.width());
                columns = std::max(1, static_cast<int>(kPage / (size.width() + kGap)));
            }
            for (double top = 0; top < size.height(); top += kPageHeight * columns) {
                const QImage image = pageOf(drawing, size, columns, top, kSharpness);
                const QString name = QStringLiteral("drawing:%1").arg(number++);
                document.addResource(QTextDocument::ImageResource, QUrl(name), image);
                images += QStringLiteral("<p><img src=\"%1\" width=\"%2\" height=\"%3\"/></p>")
                              .arg(name)
                              .arg(image.width() / kSharpness, 0, 'f', 0)
                              .arg(image.height() / kSharpness, 0, 'f', 0);
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
        writer.setCreator(Words::tr("Quantloupe"));
        QTextDocument document;
        document.setDefaultFont(QFont(QStringLiteral("sans-serif"), 7));
        document.setPageSize(writer.pageLayout().paintRectPixels(96).size());
        document.setHtml(withImages(QString::fromStdString(html), document));
        document.print(&writer);
    }
    if (bytes.isEmpty()) fail(ErrorKind::Io, "the report cannot be laid out as PDF");
    writeFileAtomically(path, {bytes.constData(), static_cast<std::size_t>(bytes.size())});
}

}  // namespace quantloupe::ui
