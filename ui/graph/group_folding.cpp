// SPDX-License-Identifier: Apache-2.0
#include "graph/group_folding.h"

#include <algorithm>
#include <utility>

namespace quantloupe::ui {

namespace {

bool holds(const Group& group, NodeId layer) { return std::ranges::binary_search(group.nodes, layer); }

}  // namespace

GroupFolding::GroupFolding(Document* document, GraphCanvas* canvas, QObject* parent)
    : QObject(parent), m_document(document), m_canvas(canvas) {
    connect(canvas, &GraphCanvas::foldRequested, this, [this](std::size_t group, bool collapsing) {
        if (collapsing)
            collapse(group);
        else
            expand(group);
    });
    connect(document, &Document::pictureChanged, this, [this] {
        checkRequested();
        if (std::exchange(m_fits, false)) m_canvas->view()->fitAll();
    });
    connect(document, &Document::modelChanged, this, [this] { m_requested.clear(); });
}

void GroupFolding::addTo(QMenu* menu) {
    const auto add = [&](const QString& text, const char* keys, const QString& tip,
                         void (GroupFolding::*run)()) {
        QAction* action = menu->addAction(text);
        action->setShortcut(QKeySequence(QString::fromLatin1(keys)));
        action->setToolTip(tip);
        connect(action, &QAction::triggered, this, run);
        m_actions << action;
    };
    add(tr("C&ollapse or Expand Block"), "G",
        tr("Shows the block around the current layer as one box; double-click it to expand it again"),
        &GroupFolding::toggle);
    add(tr("Collapse &Larger Group"), "Ctrl+G", tr("Collapses the group one level up in the layer names"),
        &GroupFolding::collapseOuter);
    add(tr("Collapse All &Blocks"), "Shift+G", {}, &GroupFolding::collapseAll);
    add(tr("Expand All Bloc&ks"), "Ctrl+Shift+G", {}, &GroupFolding::expandAll);
}

void GroupFolding::set(std::vector<std::string> collapsed, NodeId still) {
    LayoutOptions options = m_document->layoutOptions();
    options.collapsed = std::move(collapsed);
    m_canvas->view()->holdStill(still);
    m_document->setLayoutOptions(options);
}

/// The whole graph changes its size, so it is fitted into the view again.
void GroupFolding::setAll(std::vector<std::string> collapsed) {
    m_fits = collapsed != m_document->layoutOptions().collapsed;
    set(std::move(collapsed), {});
}

void GroupFolding::collapse(std::size_t index) {
    const Group& group = picture()->groups[index];
    if (group.shape) {
        setOpened(group, false);
        return;
    }
    std::vector<std::string> names = m_document->layoutOptions().collapsed;
    if (std::ranges::count(names, group.name) > 0) return;
    m_requested = group.name;
    names.push_back(group.name);
    set(std::move(names), group.nodes.front());
}

void GroupFolding::expand(std::size_t index) {
    const Group& group = picture()->groups[index];
    if (group.shape) {
        setOpened(group, true);
        return;
    }
    std::vector<std::string> names = m_document->layoutOptions().collapsed;
    std::erase(names, group.name);
    set(std::move(names), group.nodes.front());
}

void GroupFolding::setOpened(const Group& group, bool open) {
    LayoutOptions options = m_document->layoutOptions();
    std::erase(options.opened, group.name);
    if (open) options.opened.push_back(group.name);
    m_canvas->view()->holdStill(group.nodes.front());
    m_document->setLayoutOptions(options);
}

void GroupFolding::toggle() {
    const NodeId current = m_document->current();
    const auto box = m_canvas->index().boxOf(current);
    if (!picture() || !box) return;
    const PictureNode& node = picture()->nodes[*box];
    if (node.kind == PictureNode::Kind::Group) {
        expand(node.group);
        return;
    }
    // The block or, without one, the smallest group: children come after their parents.
    std::size_t chosen = Group::kNone;
    for (std::size_t g = 0; g < picture()->groups.size(); ++g) {
        if (!holds(picture()->groups[g], current)) continue;
        if (chosen == Group::kNone || !picture()->groups[chosen].block || picture()->groups[g].shape)
            chosen = g;
    }
    if (chosen == Group::kNone)
        m_document->say(
            MessageKind::Note,
            tr("This layer is not in a block: neither its name nor the structure of the graph defines one."));
    else
        collapse(chosen);
}

void GroupFolding::collapseOuter() {
    const NodeId current = m_document->current();
    const auto box = m_canvas->index().boxOf(current);
    if (!picture() || !box) return;
    const PictureNode& node = picture()->nodes[*box];
    std::size_t outer = Group::kNone;
    if (node.kind == PictureNode::Kind::Group) {
        outer = picture()->groups[node.group].parent;
    } else {
        for (std::size_t g = 0; g < picture()->groups.size(); ++g)
            if (holds(picture()->groups[g], current) && !picture()->groups[g].shape) outer = g;
    }
    if (outer != Group::kNone) collapse(outer);
}

void GroupFolding::collapseAll() {
    if (!picture()) return;
    std::vector<std::string> names;
    for (const Group& group : picture()->groups)
        if (group.block) names.push_back(group.name);
    if (names.empty()) m_document->say(MessageKind::Note, tr("This network has no blocks to collapse."));
    setAll(std::move(names));
}

void GroupFolding::expandAll() { setAll({}); }

/// Some groups cannot be collapsed. They must not be listed as collapsed, and the user gets a message.
void GroupFolding::checkRequested() {
    if (m_requested.empty() || !m_document->picture()) return;
    const std::string name = std::exchange(m_requested, {});
    const Picture& drawn = *m_document->picture();
    const auto group = std::ranges::find(drawn.groups, name, &Group::name);
    if (group == drawn.groups.end()) return;
    const PictureNode& node = drawn.nodes[drawn.indexOf(group->nodes.front())];
    if (node.kind == PictureNode::Kind::Group) return;
    LayoutOptions options = m_document->layoutOptions();
    std::erase(options.collapsed, name);
    m_document->setLayoutOptions(options);
    m_document->say(MessageKind::Note, tr("%1 cannot be collapsed: data flows out of the group and back in.")
                                           .arg(QString::fromStdString(name)));
}

}  // namespace quantloupe::ui
