// SPDX-License-Identifier: Apache-2.0
// Connected parts (strips) are laid out one by one and placed next to each other: the tallest first, small
// ones stacked in columns.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "picture/frames.h"
#include "picture/picture.h"
#include "picture/place_picture.h"
#include "picture/ranks.h"
#include "picture/references.h"
#include "picture/strip_layout.h"
#include "picture/wrap_strip.h"

namespace quantloupe {
namespace {

constexpr double kMargin = 16;
constexpr double kStripGap = 48;

/// A strip and the mapping of its indices to those of the picture.
struct NamedStrip {
    Strip strip;
    std::vector<std::size_t> nodes;
    std::vector<std::vector<std::size_t>> edges;  ///< the picture's edges between the same two boxes
    PieceLayout layout;
    Rect extent;  ///< of boxes and lines
};

std::vector<std::size_t> connectedParts(const Picture& picture) {
    std::vector<std::size_t> parent(picture.nodes.size());
    std::iota(parent.begin(), parent.end(), std::size_t{0});
    const auto find = [&parent](std::size_t a) {
        while (parent[a] != a) a = parent[a] = parent[parent[a]];
        return a;
    };
    for (const PictureEdge& edge : picture.edges) {
        if (!edge.laidOut()) continue;
        const std::size_t a = find(edge.from), b = find(edge.to);
        parent[std::max(a, b)] = std::min(a, b);
    }
    for (std::size_t i = 0; i < parent.size(); ++i) parent[i] = find(i);
    return parent;
}

std::vector<NamedStrip> splitIntoStrips(const Picture& picture) {
    const std::size_t count = picture.nodes.size();
    std::vector<std::size_t> order;
    for (std::size_t e = 0; e < picture.edges.size(); ++e)
        if (picture.edges[e].laidOut()) order.push_back(e);
    const auto ends = [&picture](std::size_t e) {
        return PieceEdge{static_cast<std::uint32_t>(picture.edges[e].from),
                         static_cast<std::uint32_t>(picture.edges[e].to)};
    };
    std::stable_sort(order.begin(), order.end(),
                     [&ends](std::size_t a, std::size_t b) { return ends(a) < ends(b); });
    std::vector<PieceEdge> pairs;
    std::vector<std::vector<std::size_t>> edgesOf;
    for (const std::size_t e : order) {
        if (pairs.empty() || pairs.back() != ends(e)) {
            pairs.push_back(ends(e));
            edgesOf.emplace_back();
        }
        edgesOf.back().push_back(e);
    }

    const std::vector<int> ranks = computeRanks(count, pairs);
    const std::vector<std::size_t> part = connectedParts(picture);
    std::vector<std::size_t> byRank(count);
    std::iota(byRank.begin(), byRank.end(), std::size_t{0});
    std::stable_sort(byRank.begin(), byRank.end(),
                     [&ranks](std::size_t a, std::size_t b) { return ranks[a] < ranks[b]; });

    std::vector<NamedStrip> strips;
    std::vector<std::size_t> stripOf(count, count);
    for (std::size_t i = 0; i < count; ++i) {
        if (part[i] != i) continue;
        stripOf[i] = strips.size();
        strips.emplace_back();
    }
    std::vector<std::uint32_t> local(count);
    for (const std::size_t i : byRank) {
        NamedStrip& strip = strips[stripOf[part[i]]];
        local[i] = static_cast<std::uint32_t>(strip.nodes.size());
        strip.nodes.push_back(i);
        strip.strip.ranks.push_back(ranks[i]);  // a part's longest path starts in row 0 and fills every row
    }
    struct LocalEdge {
        PieceEdge ends;
        std::size_t pair;
    };
    std::vector<std::vector<LocalEdge>> localEdges(strips.size());
    for (std::size_t p = 0; p < pairs.size(); ++p)
        localEdges[stripOf[part[pairs[p].from]]].push_back({{local[pairs[p].from], local[pairs[p].to]}, p});
    for (std::size_t s = 0; s < strips.size(); ++s) {
        std::sort(localEdges[s].begin(), localEdges[s].end(),
                  [](const LocalEdge& a, const LocalEdge& b) { return a.ends < b.ends; });
        for (const LocalEdge& edge : localEdges[s]) {
            strips[s].strip.edges.push_back(edge.ends);
            strips[s].edges.push_back(std::move(edgesOf[edge.pair]));
        }
    }
    return strips;
}

Rect extentOf(const PieceLayout& layout, const LayoutOptions& options) {
    double left = 1e300, right = -1e300, top = 1e300, bottom = -1e300;
    for (const Point& c : layout.centers) {
        left = std::min(left, c.x - options.nodeWidth / 2);
        right = std::max(right, c.x + options.nodeWidth / 2);
        top = std::min(top, c.y - options.nodeHeight / 2);
        bottom = std::max(bottom, c.y + options.nodeHeight / 2);
    }
    for (const auto& line : layout.lines) {
        for (const Point& p : line) {
            left = std::min(left, p.x);
            right = std::max(right, p.x);
            top = std::min(top, p.y);
            bottom = std::max(bottom, p.y);
        }
    }
    return {left, top, right - left, bottom - top};
}

/// Where each strip's extent begins.
std::vector<Point> placeStrips(const std::vector<NamedStrip>& strips) {
    std::vector<std::size_t> order(strips.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&strips](std::size_t a, std::size_t b) {
        return strips[a].extent.height > strips[b].extent.height;
    });
    double area = 0, tallest = 0;
    for (const NamedStrip& strip : strips) {
        area += (strip.extent.width + kStripGap) * (strip.extent.height + kBoxGap);
        tallest = std::max(tallest, strip.extent.height);
    }
    const double limit = std::max(tallest, std::sqrt(area));
    std::vector<Point> places(strips.size());
    double x = kMargin, y = kMargin, width = 0;
    for (const std::size_t s : order) {
        const Rect& extent = strips[s].extent;
        if (width > 0 && y + extent.height > kMargin + limit) {
            x += width + kStripGap;
            y = kMargin;
            width = 0;
        }
        places[s] = {x, y};
        y += extent.height + kBoxGap;
        width = std::max(width, extent.width);
    }
    return places;
}

void putIntoPicture(const NamedStrip& strip, const Point& place, const LayoutOptions& options,
                    Picture& picture) {
    const Point shift{place.x - strip.extent.x, place.y - strip.extent.y};
    for (std::size_t i = 0; i < strip.nodes.size(); ++i) {
        const Point& c = strip.layout.centers[i];
        picture.nodes[strip.nodes[i]].box = {c.x + shift.x - options.nodeWidth / 2,
                                             c.y + shift.y - options.nodeHeight / 2, options.nodeWidth,
                                             options.nodeHeight};
    }
    for (std::size_t e = 0; e < strip.edges.size(); ++e) {
        // Several tensors between the same two boxes are drawn in parallel.
        const auto copies = static_cast<double>(strip.edges[e].size());
        const double step = std::min(8.0, (options.nodeWidth / 2) / copies);
        for (std::size_t k = 0; k < strip.edges[e].size(); ++k) {
            const double aside = (static_cast<double>(k) - (copies - 1) / 2) * step;
            PictureEdge& edge = picture.edges[strip.edges[e][k]];
            edge.points = strip.layout.lines[e];
            for (Point& p : edge.points) p = {p.x + shift.x + aside, p.y + shift.y};
            const Rect& from = picture.nodes[edge.from].box;
            const Rect& to = picture.nodes[edge.to].box;
            edge.points.front() = {std::clamp(edge.points.front().x, from.x + 2, from.right() - 2),
                                   from.bottom()};
            edge.points.back() = {std::clamp(edge.points.back().x, to.x + 2, to.right() - 2), to.y};
        }
    }
    picture.width = std::max(picture.width, place.x + strip.extent.width + kMargin);
    picture.height = std::max(picture.height, place.y + strip.extent.height + kMargin);
}

}  // namespace

Picture layoutPicture(const Graph& graph, const LayoutOptions& options, const CancelToken& cancel) {
    cancel.check();
    Picture picture = describePicture(graph, options);
    placePicture(picture, options, cancel);
    return picture;
}

void placePicture(Picture& picture, const LayoutOptions& options, const CancelToken& cancel) {
    cancel.check();
    std::vector<NamedStrip> strips = splitIntoStrips(picture);
    StripLayouter layouter(options.nodeWidth, options.nodeHeight);
    for (NamedStrip& strip : strips) {
        strip.layout = layouter.layout(strip.strip, cancel);
        if (options.wrapped) wrapStrip(strip.strip, options.nodeWidth, options.nodeHeight, strip.layout);
        strip.extent = extentOf(strip.layout, options);
    }
    const std::vector<Point> places = placeStrips(strips);
    for (std::size_t s = 0; s < strips.size(); ++s) putIntoPicture(strips[s], places[s], options, picture);
    placeReferences(picture);
    picture.frames = framesOf(picture);
}

}  // namespace quantloupe
