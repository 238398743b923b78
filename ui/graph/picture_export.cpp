// SPDX-License-Identifier: Apache-2.0
#include "graph/picture_export.h"

#include <QBuffer>
#include <QFileDialog>
#include <QFontMetricsF>
#include <QImage>
#include <QPageSize>
#include <QPainter>
#include <QPdfWriter>
#include <algorithm>

#include "base/atomic_file.h"
#include "base/error.h"
#include "document/output_folder.h"
#include "graph/legend.h"
#include "style/path_text.h"
#include "style/words.h"

namespace quantloupe::ui {

namespace {

constexpr double kMaxPixels = 16'000;
constexpr double kMaxPoints = 14'400;  // limit of a PDF page
constexpr double kMargin = 24;
constexpr int kLegendPixels = 11;
constexpr double kPixelsAPoint = 2;

/// Uses font sizes in pixels, because a point must be the same on paper and on the screen.
QFont legendFont(const QFont& base) {
    QFont font = base;
    font.setPixelSize(kLegendPixels);
    return font;
}

/// Paints the graph, and the legend below it.
QSizeF sizeOf(const DrawnGraph& graph) {
    const QSizeF legend = legendSize(legendFont(graph.font), graph.scale.metric != Metric::None);
    return {std::max(graph.picture->width, legend.width()) + 2 * kMargin,
            graph.picture->height + legend.height() + 3 * kMargin};
}

void paint(QPainter& painter, const DrawnGraph& graph, double scale) {
    const PictureIndex index(*graph.picture);
    PaintScene scene;
    scene.picture = graph.picture.get();
    scene.index = &index;
    scene.looks = &graph.looks;
    scene.theme = &theme(false);
    scene.font = graph.font;
    ViewTransform transform;
    transform.zoom = scale;
    const QSizeF size = sizeOf(graph);
    transform.offset = QPointF((size.width() - graph.picture->width) / 2, kMargin) * scale;
    const QRectF page(QPointF(), size * scale);
    painter.fillRect(page, Qt::white);
    paintScene(painter, scene, transform, page);
    const QFont font = legendFont(graph.font);
    const QSizeF legend = legendSize(font, graph.scale.metric != Metric::None);
    painter.save();
    painter.scale(scale, scale);
    painter.setFont(font);
    paintLegend(
        painter,
        QRectF(QPointF((size.width() - legend.width()) / 2, size.height() - kMargin - legend.height()),
               legend),
        graph.scale, theme(false));
    painter.restore();
}

}  // namespace

DrawnGraph drawnGraph(const Document& document, const GraphCanvas& canvas) {
    DrawnGraph graph;
    graph.picture = document.picture();
    graph.looks =
        looksOf(*graph.picture, document.layers(), *document.graph(), canvas.overlay(), theme(false));
    graph.font = canvas.font();
    graph.scale = canvas.scale();
    graph.title = document.title();
    return graph;
}

std::string pngOf(const DrawnGraph& graph, double scale) {
    const QSizeF size = sizeOf(graph);
    scale = std::min({scale, kMaxPixels / size.width(), kMaxPixels / size.height()});
    QImage image((size * scale).toSize().expandedTo({1, 1}), QImage::Format_RGB32);
    if (image.isNull())
        fail(ErrorKind::Io, "not enough memory for an image of {} x {} pixels", size.width() * scale,
             size.height() * scale);
    {
        QPainter painter(&image);
        painter.setRenderHint(QPainter::TextAntialiasing);
        paint(painter, graph, scale);
    }
    QByteArray bytes;
    QBuffer buffer(&bytes);
    buffer.open(QIODevice::WriteOnly);
    if (!image.save(&buffer, "PNG")) fail(ErrorKind::Io, "the image could not be written as PNG");
    return bytes.toStdString();
}

std::string pdfOf(const DrawnGraph& graph) {
    const QSizeF size = sizeOf(graph);
    const double scale = std::min({1.0, kMaxPoints / size.width(), kMaxPoints / size.height()});
    QByteArray bytes;
    QBuffer buffer(&bytes);
    buffer.open(QIODevice::WriteOnly);
    QPdfWriter writer(&buffer);
    writer.setResolution(72);
    writer.setTitle(graph.title);
    writer.setPageSize(QPageSize(size * scale, QPageSize::Point, {}, QPageSize::ExactMatch));
    writer.setPageMargins({});
    QPainter painter(&writer);
    paint(painter, graph, scale);
    painter.end();
    return bytes.toStdString();
}

QList<QAction*> addPictureExports(QMenu* menu, Document* document, GraphCanvas* canvas, QWidget* window) {
    const auto add = [=](const QString& text, const QString& suffix, const QString& filter, auto bytes) {
        QAction* action = menu->addAction(text);
        action->setToolTip(Words::tr("The graph as displayed, with its groups and the metric"));
        QObject::connect(action, &QAction::triggered, window, [=] {
            if (!document->picture()) return;
            const auto proposal = proposedOutput(document->model()->path, suffix.toStdString());
            const QString chosen =
                QFileDialog::getSaveFileName(window, Words::tr("Export Graph"), pathText(proposal), filter);
            if (chosen.isEmpty()) return;
            const DrawnGraph graph = drawnGraph(*document, *canvas);
            const std::filesystem::path path = chosen.toStdString();
            rememberOutputFolder(document->model()->path, path.parent_path());
            const InputPaths inputs = document->inputPaths();
            document->job()->runExport(Words::tr("export to %1").arg(chosen),
                                       [=](Session&, const CancelToken&) {
                                           inputs.checkOutput(path);
                                           writeFileAtomically(path, bytes(graph));
                                           return Words::tr("Wrote %1.").arg(pathText(path));
                                       });
        });
        return action;
    };
    return {add(Words::tr("Graph as P&NG\u2026"), QStringLiteral(".png"), Words::tr("PNG image (*.png)"),
                [](const DrawnGraph& graph) { return pngOf(graph, kPixelsAPoint); }),
            add(Words::tr("Graph as P&DF\u2026"), QStringLiteral(".pdf"), Words::tr("PDF document (*.pdf)"),
                [](const DrawnGraph& graph) { return pdfOf(graph); })};
}

}  // namespace quantloupe::ui
