// SPDX-License-Identifier: Apache-2.0
#pragma once
// The drawn graph as data: boxes, polylines, texts. Screen, SVG and DOT all come from this.
// Units: points (1/72 inch), y grows downwards, origin at the top left of the drawing.

#include <string>
#include <vector>

#include "base/cancel.h"
#include "model/graph.h"
#include "picture/groups.h"

namespace quantloupe {

struct Point {
    double x = 0, y = 0;
    bool operator==(const Point&) const = default;
};
struct Rect {
    double x = 0, y = 0, width = 0, height = 0;
    double right() const { return x + width; }
    double bottom() const { return y + height; }
    bool operator==(const Rect&) const = default;
};

/// A box of the drawing: a layer, a graph input or output (which are drawn as nodes of their own), or a collapsed group.
struct PictureNode {
    enum class Kind { Layer, Input, Output, Group };
    Kind kind = Kind::Layer;
    NodeId layer;          ///< Kind::Layer; of a group the first of its layers
    TensorId tensor;       ///< the graph input or output otherwise
    std::string title;     ///< "Conv 3×3", "Conv 3×3 dw"; the tensor's name for inputs and outputs
    std::string subtitle;  ///< the layer's name shortened from the left; the shape for inputs and outputs
    Rect box;
    std::size_t group = Group::kNone;  ///< Kind::Group: index into Picture::groups
};

/// Around the boxes of a block that is open.
struct PictureFrame {
    std::size_t group = Group::kNone;
    Rect box;
};

struct PictureEdge {
    std::size_t from = 0, to = 0;  ///< indices into nodes
    TensorId tensor;
    std::vector<Point> points;  ///< a polyline from the lower rim of `from` to the upper rim of `to`
    /// Only a stub above `to`, which names where the tensor comes from: of a tensor that is read all over the network.
    bool reference = false;
    /// A tensor that a Concat joins after an earlier Concat has joined it with the same ones before it. Not laid out; a straight
    /// line, to be shown while one of its ends is looked at. Instead of all of them stands one edge that `carries` them, from
    /// the earlier Concat: it is no tensor.
    bool hidden = false, carries = false;
    bool laidOut() const { return !reference && !hidden; }
};

struct Picture {
    std::vector<PictureNode> nodes;  ///< inputs, layers in graph order, outputs
    std::vector<PictureEdge> edges;
    double width = 0, height = 0;
    std::vector<Group> groups;         ///< of the whole graph, whether open or collapsed
    std::vector<PictureFrame> frames;  ///< of open blocks, where their boxes lie together
    /// Index of the box that shows the layer: its own, or that of its collapsed group.
    std::size_t indexOf(NodeId layer) const;
};

struct LayoutOptions {
    /// Box sizes in points.
    double nodeWidth = 172;
    double nodeHeight = 40;
    std::vector<std::string> collapsed;  ///< names of groups
    /// Shape arithmetic becomes one box, and tensors that are read all over the network become references.
    bool tidy = false;
    std::vector<std::string> opened;  ///< names of groups of shape arithmetic that stay open nevertheless
    bool wrapped = false;             ///< in columns beside each other
    bool operator==(const LayoutOptions&) const = default;
};

/// The boxes and edges of a graph without places; cheap. Every edge leads from a box to one with a higher index, but for
/// edges to graph inputs' and outputs' boxes, which come first and last.
Picture describePicture(const Graph& graph, const LayoutOptions& options = {});
/// Gives every box its place and every edge its polyline: pieces between waists through libgvc's dot,
/// stacked; a plain layered layout for pieces too large for dot. Deterministic; no two boxes overlap. libgvc
/// is not re-entrant: call from one thread at a time (a mutex inside holds it). Throws Cancelled between
/// pieces.
Picture layoutPicture(const Graph& graph, const LayoutOptions& options = {}, const CancelToken& cancel = {});

}  // namespace quantloupe
