// SPDX-License-Identifier: Apache-2.0
#include "graph/shown_picture.h"

namespace quantloupe::ui {

void ShownPicture::setPicture(PicturePtr picture) {
    m_picture = std::move(picture);
    m_index = m_picture ? PictureIndex(*m_picture) : PictureIndex();
}

NodeId ShownPicture::endOf(std::size_t box) const {
    const PictureNode& drawn = node(box);
    return drawn.kind == PictureNode::Kind::Group ? m_picture->groups[drawn.group].nodes.back() : drawn.layer;
}

std::vector<NodeId> ShownPicture::layersOf(std::size_t box) const {
    const PictureNode& drawn = node(box);
    if (drawn.kind == PictureNode::Kind::Group) return m_picture->groups[drawn.group].nodes;
    return drawn.layer.valid() ? std::vector{drawn.layer} : std::vector<NodeId>{};
}

}  // namespace quantloupe::ui
