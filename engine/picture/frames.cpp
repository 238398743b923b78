// SPDX-License-Identifier: Apache-2.0
#include "picture/frames.h"

#include <algorithm>

namespace quantloupe {
namespace {

// Margins of a frame, within the gap between two rows (kRowGap): above, there is space for the block's name.
constexpr double kAbove = 14, kBelow = 6, kAside = 9;

}  // namespace

std::vector<PictureFrame> framesOf(const Picture& picture) {
    std::vector<std::size_t> boxOf;  // of each layer
    for (std::size_t i = 0; i < picture.nodes.size(); ++i) {
        const PictureNode& node = picture.nodes[i];
        if (node.kind != PictureNode::Kind::Layer) continue;
        if (boxOf.size() <= node.layer.index()) boxOf.resize(node.layer.index() + 1, Group::kNone);
        boxOf[node.layer.index()] = i;
    }
    std::vector<std::size_t> byTop;  // rows belong to the block of their layer
    for (std::size_t i = 0; i < picture.nodes.size(); ++i)
        if (!picture.nodes[i].isRow()) byTop.push_back(i);
    const auto top = [&](std::size_t i) { return picture.nodes[i].box.y; };
    std::sort(byTop.begin(), byTop.end(), [&](std::size_t a, std::size_t b) { return top(a) < top(b); });
    double tallest = 0;
    for (const std::size_t i : byTop) tallest = std::max(tallest, picture.nodes[i].stack().height);

    std::vector<PictureFrame> frames;
    for (std::size_t g = 0; g < picture.groups.size(); ++g) {
        const Group& group = picture.groups[g];
        if (!group.block) continue;
        double left = 1e300, right = -1e300, upper = 1e300, lower = -1e300;
        std::size_t layers = 0, boxes = 0;
        for (const NodeId layer : group.nodes) {
            if (layer.index() >= boxOf.size() || boxOf[layer.index()] == Group::kNone) continue;
            ++layers;
            const PictureNode& node = picture.nodes[boxOf[layer.index()]];
            if (node.isRow()) continue;
            const Rect box = node.stack();
            ++boxes;
            left = std::min(left, box.x), right = std::max(right, box.right());
            upper = std::min(upper, box.y), lower = std::max(lower, box.bottom());
        }
        if (boxes == 0 || layers < group.nodes.size()) continue;  // the block or a part of it is collapsed
        const Rect frame{left - kAside, upper - kAbove, right - left + 2 * kAside,
                         lower - upper + kAbove + kBelow};
        std::size_t inside = 0;
        const auto first = std::lower_bound(byTop.begin(), byTop.end(), frame.y - tallest,
                                            [&](std::size_t i, double y) { return top(i) < y; });
        for (auto i = first; i != byTop.end() && top(*i) < frame.bottom(); ++i) {
            const Rect box = picture.nodes[*i].stack();
            inside += box.bottom() > frame.y && box.x < frame.right() && box.right() > frame.x;
        }
        if (inside == boxes) frames.push_back({g, frame});
    }
    return frames;
}

}  // namespace quantloupe
