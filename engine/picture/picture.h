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

/// A box of the drawing: a layer, a graph input or output (which are drawn as nodes of their own), or a
/// collapsed group.
struct PictureNode {
    enum class Kind { Layer, Input, Output, Group };
    Kind kind = Kind::Layer;
    NodeId layer;          ///< Kind::Layer, or the first layer of a group
    TensorId tensor;       ///< the graph input or output otherwise
    std::string title;     ///< "Conv 3×3", "Conv 3×3 dw"; the tensor's name for inputs and outputs
    std::string subtitle;  ///< display name of the layer, or shape of the input or output
    Rect box;
    std::size_t group = Group::kNone;  ///< Kind::Group: index into Picture::groups
    /// Index of the box that this one is a row of, directly below it or below its previous row.
    std::size_t host = Group::kNone;
    double rowsHeight = 0;  ///< height of all rows below this box
    bool isRow() const { return host != Group::kNone; }
    /// The box with its rows.
    Rect stack() const { return {box.x, box.y, box.width, box.height + rowsHeight}; }
};

/// A frame around the boxes of an open block.
struct PictureFrame {
    std::size_t group = Group::kNone;
    Rect box;
};

struct PictureEdge {
    std::size_t from = 0, to = 0;  ///< indices into nodes
    TensorId tensor;
    /// A polyline from the bottom of `from` to the top of `to`; with the arrangement from left to right,
    /// between the facing borders of their stacks.
    std::vector<Point> points;
    /// Drawn only as a stub above `to` that names the source of the tensor, for tensors that are read all
    /// over the network.
    bool reference = false;
    /// Hidden: an input of a Concat that an earlier Concat also has, after the same inputs. Not laid out; a
    /// straight line, shown while one of its ends is selected or hovered. All of them are replaced with one
    /// edge from the earlier Concat that `carries` them and does not correspond to a tensor.
    bool hidden = false, carries = false;
    bool inside = false;  ///< leads to a row of the same stack; not drawn
    bool laidOut() const { return !reference && !hidden && !inside; }
    bool drawn() const { return !hidden && !inside; }
};

enum class Arrangement {
    Down,     ///< from top to bottom
    Columns,  ///< from top to bottom in several columns, read one after the other
    Right,    ///< from left to right
    Largest,  ///< Down or Columns, whichever shows the network larger in the view
};

struct Picture {
    std::vector<PictureNode> nodes;  ///< inputs, layers in graph order, outputs
    std::vector<PictureEdge> edges;
    double width = 0, height = 0;
    Arrangement arrangement = Arrangement::Down;  ///< never Largest
    std::vector<Group> groups;                    ///< all groups of the graph, open or collapsed
    std::vector<PictureFrame> frames;             ///< of open blocks, if no other box is in between
    /// Returns the index of the box that shows the layer: its own, or that of its collapsed group.
    std::size_t indexOf(NodeId layer) const;
};

struct LayoutOptions {
    /// Box sizes in points.
    double nodeWidth = 172;
    double nodeHeight = 40;
    std::vector<std::string> collapsed;  ///< names of groups
    /// Shape arithmetic becomes one box, and tensors that are read all over the network become references.
    bool tidy = false;
    std::vector<std::string> opened;  ///< names of shape arithmetic groups that stay open despite `tidy`
    /// Batch norms and activations after a layer become rows of `rowHeight` below its box.
    bool compact = false;
    double rowHeight = 13;
    Arrangement arrangement = Arrangement::Down;
    /// Size of the view that the picture has to fit; 0: unknown.
    double viewWidth = 0, viewHeight = 0;
    bool operator==(const LayoutOptions&) const = default;
};

/// Returns the boxes and edges of a graph without coordinates, which is cheap. Inputs come first and outputs
/// last; every other edge leads from a box to one with a higher index.
Picture describePicture(const Graph& graph, const LayoutOptions& options = {});
/// Returns the picture with coordinates of every box and edge. The pieces between waists are laid out with
/// libgvc's dot, or with a plain layered layout if they are too large for dot, and stacked. Deterministic; no
/// two boxes overlap. libgvc is not reentrant, so a mutex serializes calls. Throws Cancelled between pieces.
Picture layoutPicture(const Graph& graph, const LayoutOptions& options = {}, const CancelToken& cancel = {});

}  // namespace quantloupe
