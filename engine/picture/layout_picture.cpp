// SPDX-License-Identifier: Apache-2.0
// Connected parts (strips) are laid out one by one and placed next to each other: the tallest first, small
// ones stacked in columns.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/disjoint_sets.h"
#include "picture/frames.h"
#include "picture/picture.h"
#include "picture/place_picture.h"
#include "picture/ranks.h"
#include "picture/references.h"
#include "picture/stacks.h"
#include "picture/strip_layout.h"
#include "picture/wrap_strip.h"

namespace quantloupe {
namespace {

constexpr double kMargin = 16;
constexpr double kStripGap = 48;
constexpr double kUsualAspect = 1.6;

/// The coordinates in which strips are laid out: data flows downwards. With the arrangement from left to
/// right, x and y are exchanged, and all boxes get the same space across, that of the highest stack.
struct Flow {
    bool right = false;
    double width = 0;   ///< space of a box across the flow
    double length = 0;  ///< size of a box along the flow; 0: the height of its stack

    Flow(const Picture& picture, const LayoutOptions& options, Arrangement arrangement)
        : right(arrangement == Arrangement::Right), width(options.nodeWidth) {
        if (!right) return;
        width = options.nodeHeight;
        for (const PictureNode& node : picture.nodes) width = std::max(width, node.stack().height);
        length = options.nodeWidth;
    }
    double lengthOf(const PictureNode& node) const { return right ? length : node.stack().height; }
    Point turned(const Point& p) const { return right ? Point{p.y, p.x} : p; }
};

/// A strip and the mapping of its indices to those of the picture.
struct NamedStrip {
    Strip strip;
    std::vector<std::size_t> nodes;
    std::vector<std::vector<std::size_t>> edges;  ///< the picture's edges of each strip edge
    PieceLayout layout;
    Rect extent;  ///< of boxes and lines
};

std::vector<std::size_t> connectedParts(const Picture& picture) {
    DisjointSets sets(picture.nodes.size());
    const auto stack = [&picture](std::size_t i) {
        return picture.nodes[i].isRow() ? picture.nodes[i].host : i;
    };
    for (const PictureEdge& edge : picture.edges)
        if (edge.laidOut()) sets.join(stack(edge.from), stack(edge.to));
    std::vector<std::size_t> parts(picture.nodes.size());
    for (std::size_t i = 0; i < parts.size(); ++i) parts[i] = sets.find(i);
    return parts;
}

std::vector<NamedStrip> splitIntoStrips(const Picture& picture, const Flow& flow) {
    const std::size_t count = picture.nodes.size();
    std::vector<std::size_t> order;
    for (std::size_t e = 0; e < picture.edges.size(); ++e)
        if (picture.edges[e].laidOut()) order.push_back(e);
    // Stacks are laid out as one box.
    const auto stack = [&picture](std::size_t i) {
        return static_cast<std::uint32_t>(picture.nodes[i].isRow() ? picture.nodes[i].host : i);
    };
    const auto ends = [&](std::size_t e) {
        return PieceEdge{stack(picture.edges[e].from), stack(picture.edges[e].to)};
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
        if (part[i] != i || picture.nodes[i].isRow()) continue;
        stripOf[i] = strips.size();
        strips.emplace_back();
    }
    std::vector<std::uint32_t> local(count);
    for (const std::size_t i : byRank) {
        if (picture.nodes[i].isRow()) continue;
        NamedStrip& strip = strips[stripOf[part[i]]];
        local[i] = static_cast<std::uint32_t>(strip.nodes.size());
        strip.nodes.push_back(i);
        strip.strip.heights.push_back(flow.lengthOf(picture.nodes[i]));
        strip.strip.ranks.push_back(ranks[i]);  // the longest path starts in row 0, so no row is empty
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

Rect extentOf(const Strip& strip, const PieceLayout& layout, double width) {
    double left = 1e300, right = -1e300, top = 1e300, bottom = -1e300;
    for (std::size_t i = 0; i < layout.centers.size(); ++i) {
        const Point& c = layout.centers[i];
        left = std::min(left, c.x - width / 2);
        right = std::max(right, c.x + width / 2);
        top = std::min(top, c.y - strip.heights[i] / 2);
        bottom = std::max(bottom, c.y + strip.heights[i] / 2);
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

/// Returns the position of each strip's extent.
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

/// Moves the ends of the line to the borders of the two stacks.
void attachLine(const Rect& from, const Rect& to, bool right, std::vector<Point>& line) {
    Point &first = line.front(), &last = line.back();
    if (right) {
        first = {from.right(), std::clamp(first.y, from.y + 4, from.bottom() - 4)};
        last = {to.x, std::clamp(last.y, to.y + 4, to.bottom() - 4)};
    } else {
        first = {std::clamp(first.x, from.x + 2, from.right() - 2), from.bottom()};
        last = {std::clamp(last.x, to.x + 2, to.right() - 2), to.y};
    }
}

void putBoxes(const NamedStrip& strip, const Point& place, const Flow& flow, Picture& picture) {
    for (std::size_t i = 0; i < strip.nodes.size(); ++i) {
        const Point& own = strip.layout.centers[i];
        const Point c = flow.turned({own.x + place.x - strip.extent.x, own.y + place.y - strip.extent.y});
        PictureNode& node = picture.nodes[strip.nodes[i]];
        const Rect stack = node.stack();
        node.box.x = c.x - stack.width / 2, node.box.y = c.y - stack.height / 2;
    }
}

void putIntoPicture(const NamedStrip& strip, const Point& place, const Flow& flow, Picture& picture) {
    const Point shift{place.x - strip.extent.x, place.y - strip.extent.y};
    putBoxes(strip, place, flow, picture);
    const auto stack = [&picture](std::size_t i) {
        const PictureNode& node = picture.nodes[i];
        return node.isRow() ? picture.nodes[node.host].stack() : node.stack();
    };
    for (std::size_t e = 0; e < strip.edges.size(); ++e) {
        // Several tensors between the same two boxes are drawn in parallel.
        const auto copies = static_cast<double>(strip.edges[e].size());
        const double step = std::min(8.0, (flow.width / 2) / copies);
        for (std::size_t k = 0; k < strip.edges[e].size(); ++k) {
            const double aside = (static_cast<double>(k) - (copies - 1) / 2) * step;
            PictureEdge& edge = picture.edges[strip.edges[e][k]];
            edge.points = strip.layout.lines[e];
            for (Point& p : edge.points) p = flow.turned({p.x + shift.x + aside, p.y + shift.y});
            attachLine(stack(edge.from), stack(edge.to), flow.right, edge.points);
        }
    }
    const Point corner =
        flow.turned({place.x + strip.extent.width + kMargin, place.y + strip.extent.height + kMargin});
    picture.width = std::max(picture.width, corner.x);
    picture.height = std::max(picture.height, corner.y);
}

/// Lays out each strip in columns.
std::vector<NamedStrip> wrapped(std::vector<NamedStrip> strips, double width, double aspect) {
    for (NamedStrip& strip : strips) {
        wrapStrip(strip.strip, width, aspect, strip.layout);
        strip.extent = extentOf(strip.strip, strip.layout, width);
    }
    return strips;
}

/// Returns the zoom at which the view shows all strips. Without a view, the result is only meaningful for
/// comparisons.
double fittingZoom(const std::vector<NamedStrip>& strips, const LayoutOptions& options, double aspect) {
    const std::vector<Point> places = placeStrips(strips);
    double width = 1, height = 1;
    for (std::size_t s = 0; s < strips.size(); ++s) {
        width = std::max(width, places[s].x + strips[s].extent.width + kMargin);
        height = std::max(height, places[s].y + strips[s].extent.height + kMargin);
    }
    const bool known = options.viewWidth > 0 && options.viewHeight > 0;
    const double zoom = known ? std::min(options.viewWidth / width, options.viewHeight / height)
                              : std::min(aspect / width, 1 / height);
    return known ? std::min(zoom, 1.0) : zoom;  // a picture that fits at its actual size is large enough
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
    const Flow flow(picture, options, options.arrangement);
    std::vector<NamedStrip> strips = splitIntoStrips(picture, flow);
    StripLayouter layouter(flow.width, options.nodeHeight);
    for (NamedStrip& strip : strips) {
        strip.layout = layouter.layout(strip.strip, cancel);
        strip.extent = extentOf(strip.strip, strip.layout, flow.width);
    }
    picture.arrangement = options.arrangement;
    if (options.arrangement == Arrangement::Columns || options.arrangement == Arrangement::Largest) {
        const double aspect = options.viewWidth > 0 && options.viewHeight > 0
                                  ? options.viewWidth / options.viewHeight
                                  : kUsualAspect;
        std::vector<NamedStrip> columns = wrapped(strips, flow.width, aspect);
        const bool larger = options.arrangement == Arrangement::Columns ||
                            fittingZoom(columns, options, aspect) > fittingZoom(strips, options, aspect);
        picture.arrangement = larger ? Arrangement::Columns : Arrangement::Down;
        if (larger) strips = std::move(columns);
    }
    const std::vector<Point> places = placeStrips(strips);
    for (std::size_t s = 0; s < strips.size(); ++s) putIntoPicture(strips[s], places[s], flow, picture);
    placeRows(picture, options.rowHeight);
    placeReferences(picture);
    picture.frames = framesOf(picture);
}

}  // namespace quantloupe
