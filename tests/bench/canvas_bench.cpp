// SPDX-License-Identifier: Apache-2.0
// Time per frame of the graph during panning, and time of the layout. Usage: canvas_bench MODEL [ZOOM...] (0:
// fit the whole graph). Prints one line per zoom: median and maximum of 200 frames of 1920 x 1080 pixels.
#include <fmt/format.h>

#include <QApplication>
#include <QImage>
#include <QPainter>
#include <algorithm>
#include <cstdlib>
#include <ctime>

#include "graph/box_face.h"
#include "graph/graph_canvas.h"
#include "graph/graph_painter.h"
#include "graph/painted_view.h"
#include "model/load_model.h"

using namespace quantloupe;
using namespace quantloupe::ui;

namespace {

/// Processor time: painting is serial, and other load on the machine must not affect the result.
struct Clock {
    static double now() { return 1e3 * static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }
};
double milliseconds(double start) { return Clock::now() - start; }

void report(const char* what, double zoom, std::vector<double> times) {
    std::ranges::sort(times);
    fmt::print("{} {:.3f}: median {:.2f} ms, longest {:.2f} ms\n", what, zoom, times[times.size() / 2],
               times.back());
}

void frames(const PaintScene& scene, const PictureIndex& index, double zoom, bool fit) {
    constexpr int kFrames = 200;
    QImage image(1920, 1080, QImage::Format_RGB32);
    const QRectF view(0, 0, image.width(), image.height());
    ViewTransform transform;
    transform.zoom = zoom;
    if (fit) transform.fit(index.bounds(), view, 1);
    std::vector<double> times;
    for (int i = 0; i < kFrames; ++i) {
        const double along = static_cast<double>(i) / kFrames;
        if (!fit)
            transform.center(
                {index.bounds().center().x(), index.bounds().top() + along * index.bounds().height()}, view);
        const auto start = Clock::now();
        QPainter painter(&image);
        painter.fillRect(view, scene.theme->canvas);
        paintScene(painter, scene, transform, view);
        painter.end();
        times.push_back(milliseconds(start));
    }
    report("anywhere, zoom", transform.zoom, std::move(times));
}

/// As in the canvas: most of a frame is the previous one, moved. 60 pixels per frame, diagonally, is fast
/// panning.
void panning(const PaintScene& scene, const PictureIndex& index, double zoom, double ratio) {
    constexpr int kFrames = 200;
    const QSize size(1920, 1080);
    ViewTransform transform;
    transform.zoom = zoom;
    if (zoom <= 0)
        transform.fit(index.bounds(), QRectF({}, size), 1);
    else
        transform.center(index.bounds().center(), QRectF({}, size));
    PaintedView view;
    std::vector<double> times;
    for (int i = 0; i < kFrames; ++i) {
        const auto start = Clock::now();
        view.frame(scene, transform, size, ratio, scene.theme->canvas);
        if (i > 0) times.push_back(milliseconds(start));
        transform.offset += i % 100 < 50 ? QPointF(9, -60) : QPointF(-9, -60);
    }
    report(ratio > 1 ? "panning at 200 %, zoom" : "panning, zoom", transform.zoom, std::move(times));
}

/// A different zoom in every frame, so that nothing of the previous frame can be reused.
void zooming(const PaintScene& scene, const PictureIndex& index) {
    PaintedView view;
    std::vector<double> times;
    double longest = 0, longestAt = 0;
    for (double zoom = ViewTransform::kMinZoom; zoom < ViewTransform::kMaxZoom; zoom *= 1.1) {
        ViewTransform transform;
        transform.zoom = zoom;
        transform.center(index.bounds().center(), QRectF(0, 0, 1920, 1080));
        const auto start = Clock::now();
        view.frame(scene, transform, QSize(1920, 1080), 1, scene.theme->canvas);
        times.push_back(milliseconds(start));
        if (times.back() > longest) longest = times.back(), longestAt = zoom;
    }
    fmt::print("the longest zoom step is to {:.3f}\n", longestAt);
    report("a zoom step, from zoom", ViewTransform::kMinZoom, std::move(times));
}

}  // namespace

int main(int argc, char** argv) {
    qputenv("QT_QPA_PLATFORM", "offscreen");
    const QApplication application(argc, argv);
    if (argc < 2) {
        fmt::print(stderr, "usage: canvas_bench MODEL [ZOOM...]\n");
        return 2;
    }
    const GraphPtr graph = loadModel(argv[1]).graph;
    LayoutOptions options = GraphCanvas::layoutOptionsFor(QApplication::font());
    layoutPicture(*graph, options);  // loads Graphviz's plugins
    auto start = Clock::now();
    const Picture picture = layoutPicture(*graph, options);
    fmt::print("layout of {} boxes: {:.1f} ms\n", picture.nodes.size(), milliseconds(start));
    start = Clock::now();
    const PictureIndex index(picture);
    fmt::print("index: {:.1f} ms\n", milliseconds(start));

    std::vector<LayerResult> layers(graph->nodeCount());
    Overlay overlay;
    overlay.metric = Metric::LocalQs;
    for (std::size_t i = 0; i < layers.size(); ++i) {
        layers[i].node = NodeId(i);
        layers[i].state = i % 7 == 0 ? LayerState::Skipped : LayerState::Quantized;
        overlay.values.push_back(static_cast<double>(i % 100) / 100);
    }
    overlay.scale = scaleOf(overlay.values, overlay.metric);
    start = Clock::now();
    const std::vector<NodeLook> looks = looksOf(picture, layers, *graph, overlay, theme(false));
    fmt::print("recoloring: {:.1f} ms\n", milliseconds(start));
    PaintScene scene;
    scene.picture = &picture, scene.index = &index, scene.looks = &looks, scene.theme = &theme(false);
    scene.font = QApplication::font();
    PaintCache cache;
    scene.cache = &cache;
    // Selects the box with the longest edge, because edges of the selected box are drawn separately, however
    // long they are.
    double longest = 0;
    for (const PictureEdge& edge : picture.edges) {
        const double length =
            edge.points.empty() ? 0 : std::abs(edge.points.back().y - edge.points.front().y);
        if (length > longest) longest = length, scene.current = edge.to;
    }
    std::vector<double> zooms;
    for (int i = 2; i < argc; ++i) zooms.push_back(std::atof(argv[i]));
    if (zooms.empty())
        zooms = {0, 0.01, 0.02, 0.05, 0.1, 0.15, 0.24, 0.26, 0.35, 0.44, 0.46, 0.7, 1.0, 1.5, 2.0, 4.0};
    for (const double zoom : zooms) frames(scene, index, zoom, zoom <= 0);
    for (const double ratio : {1.0, 2.0})
        for (const double zoom : zooms) panning(scene, index, zoom, ratio);
    zooming(scene, index);
}
