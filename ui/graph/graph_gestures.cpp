// SPDX-License-Identifier: Apache-2.0
#include "graph/graph_gestures.h"

#include <QKeyEvent>
#include <QTimer>
#include <algorithm>

#include "graph/rule_preview.h"
#include "model/blocks.h"

namespace quantloupe::ui {

std::vector<BlockChoice> blockChoices(const Graph& graph, NodeId layer) {
    std::vector<BlockChoice> choices;
    const std::string& name = graph.node(layer).name;
    const auto offer = [&](const std::string& like) {
        const std::vector<Block> blocks = blocksLike(graph, like);
        if (blocks.size() < 2) return;
        std::size_t nodes = 0;
        for (const Block& block : blocks) nodes += block.nodes.size();
        const bool known = std::ranges::any_of(
            choices, [&](const BlockChoice& c) { return c.blocks == blocks.size() && c.nodes == nodes; });
        if (!known) choices.push_back({like, blocks.size(), nodes});
    };
    const std::vector<std::string_view> scopes = scopesOf(graph.node(layer).path());
    for (auto scope = scopes.rbegin(); scope != scopes.rend(); ++scope) offer(std::string(*scope));
    offer(name);
    return choices;
}

GraphGestures::GraphGestures(Document* document, GraphView* view, QObject* parent)
    : QObject(parent), m_document(document), m_view(view) {
    connect(view->thresholdBar(), &ThresholdBar::chosen, this,
            [this](const SkipRule& rule) { add(addSkipRule(m_document->config(), rule)); });
    view->canvas()->installEventFilter(this);
    connect(document, &Document::selectionChanged, this, &GraphGestures::withdraw);
    connect(document, &Document::configChanged, this, &GraphGestures::withdraw);
    connect(document, &Document::modelChanged, this, &GraphGestures::withdraw);
    connect(view->legend(), &Legend::thresholdRequested, this, [this] {
        withdraw();
        m_view->canvas()->until()->cancel();
        m_view->thresholdBar()->start();
    });
}

void GraphGestures::addTo(QMenu* layers) {
    m_blocks = new QMenu(tr("Skip &Blocks of the Same Structure"), layers);
    m_blockAction = layers->addMenu(m_blocks);
    m_blockAction->setShortcut(QKeySequence(QStringLiteral("B")));
    connect(m_blockAction, &QAction::triggered, this, &GraphGestures::popUpBlocks);
    m_blockAction->setToolTip(tr("Skips the block around this layer and all blocks of the same structure"));
    m_thresholdAction = new QAction(tr("Skip Above a Thres&hold\u2026"), layers);
    m_thresholdAction->setShortcut(QKeySequence(QStringLiteral("H")));
    m_thresholdAction->setToolTip(
        tr("Skips all layers whose metric is beyond a threshold, with a live preview"));
    connect(m_thresholdAction, &QAction::triggered, this, &GraphGestures::startThreshold);
    layers->addAction(m_thresholdAction);
    connect(m_blocks, &QMenu::aboutToShow, this, &GraphGestures::fillBlocks);
    for (QMenu* menu : {layers, m_blocks}) previewIn(menu);
}

void GraphGestures::previewIn(QMenu* menu) {
    connect(menu, &QMenu::hovered, this, &GraphGestures::show);
    connect(menu, &QMenu::aboutToHide, this, [this] { show(nullptr); });
    menu->installEventFilter(this);
}

void GraphGestures::propose(QAction* action, std::function<void()> apply) {
    GraphCanvas* canvas = m_view->canvas();
    const bool now = m_fromMenu || m_proposed == action;
    withdraw();
    // Their previews could be mistaken for the preview of this action.
    canvas->until()->cancel();
    m_view->thresholdBar()->finish();
    if (now) return apply();
    show(action);
    if (canvas->previewed().empty()) return apply();  // which reports why there is nothing to preview
    m_proposed = action;
    m_apply = std::move(apply);
    canvas->setPreview(canvas->previewed(), tr("%1 \u2014 Enter or %2 applies it, Esc cancels")
                                                .arg(canvas->previewText(),
                                                     action->shortcut().toString(QKeySequence::NativeText)));
    canvas->setFocus();
}

void GraphGestures::withdraw() {
    m_apply = nullptr;
    if (std::exchange(m_proposed, nullptr)) m_view->canvas()->clearPreview();
}

bool GraphGestures::eventFilter(QObject* watched, QEvent* event) {
    const bool key = event->type() == QEvent::KeyPress;
    if (!key && event->type() != QEvent::MouseButtonRelease) return false;
    if (watched != m_view->canvas()) {
        m_fromMenu = true;
        QTimer::singleShot(0, this, [this] { m_fromMenu = false; });
        return false;
    }
    if (!key || !m_apply || m_view->canvas()->until()->active()) return false;
    const int pressed = static_cast<QKeyEvent*>(event)->key();
    if (pressed != Qt::Key_Return && pressed != Qt::Key_Enter) return false;
    const auto apply = m_apply;
    withdraw();
    apply();
    return true;
}

void GraphGestures::previewOn(QAction* action, std::function<std::optional<SkipRule>()> rule) {
    m_rules[action] = std::move(rule);
}

void GraphGestures::show(QAction* action) {
    GraphCanvas* canvas = m_view->canvas();
    if (canvas->until()->active() || m_view->thresholdBar()->isVisible() || m_proposed) return;
    const auto maker = m_rules.find(action);
    const auto rule = action && action->isEnabled() && maker != m_rules.end() && m_document->hasModel()
                          ? maker->second()
                          : std::nullopt;
    if (!rule) {
        canvas->clearPreview();
        return;
    }
    const RulePreview preview =
        previewRule(*m_document->graph(), m_document->config(), m_document->layers(), *rule);
    canvas->setPreview(preview.covered, preview.complaint.isEmpty()
                                            ? tr("Would cover %1").arg(previewWords(preview))
                                            : preview.complaint);
}

void GraphGestures::fillBlocks() {
    for (QAction* action : m_blocks->actions()) m_rules.erase(action);
    m_blocks->clear();
    const NodeId current = m_document->current();
    if (!m_document->hasModel() || !current.valid()) return;
    const Graph& graph = *m_document->graph();
    for (const BlockChoice& choice : blockChoices(graph, current)) {
        const bool alone = choice.like == graph.node(current).name;
        const QString what = QString::fromStdString(alone ? graph.node(current).op : choice.like);
        const QString text = alone ? tr("%1 %2 layers with the same structure").arg(choice.blocks).arg(what)
                                   : tr("%1 and %2 more with the same structure (%3 nodes)")
                                         .arg(what)
                                         .arg(choice.blocks - 1)
                                         .arg(choice.nodes);
        QAction* action = m_blocks->addAction(QString(text).replace(QLatin1Char('&'), QStringLiteral("&&")));
        SkipRule rule;
        rule.kind = SkipKind::Block;
        rule.like = choice.like;
        previewOn(action, [rule] { return rule; });
        connect(action, &QAction::triggered, this,
                [this, like = choice.like] { add(skipBlocks(m_document->config(), like)); });
    }
    offerBlocksByShape(current);
    if (m_blocks->isEmpty())
        m_blocks->addAction(tr("No other block has the same structure as a block around this layer"))
            ->setEnabled(false);
}

/// If names have no parts, the blocks are derived from the structure of the graph. A rule cannot refer to
/// such blocks by name, so it lists their layers.
void GraphGestures::offerBlocksByShape(NodeId layer) {
    const Picture* picture = m_view->canvas()->picture();
    if (!picture) return;
    const Graph& graph = *m_document->graph();
    for (const Group& group : picture->groups) {
        const bool named = group.name.find('/') != std::string::npos;
        if (named || group.shape || group.alike < 2 || !std::ranges::binary_search(group.nodes, layer))
            continue;
        SkipRule rule;
        for (const Group& other : picture->groups)
            if (other.kind == group.kind)
                for (const NodeId node : other.nodes) rule.layers.push_back(graph.node(node).name);
        QAction* action = m_blocks->addAction(tr("%1 and %2 more with the same structure (%3 nodes)")
                                                  .arg(QString::fromStdString(group.name))
                                                  .arg(group.alike - 1)
                                                  .arg(rule.layers.size())
                                                  .replace(QLatin1Char('&'), QStringLiteral("&&")));
        previewOn(action, [rule] { return rule; });
        connect(action, &QAction::triggered, this,
                [this, rule] { add(skipLayers(m_document->config(), rule.layers)); });
    }
}

void GraphGestures::add(const ConfigEdit& edit) { m_document->edit(edit); }

void GraphGestures::updateActions() {
    const bool model = m_document->hasModel();
    m_blockAction->setEnabled(model && m_document->current().valid());
    m_thresholdAction->setEnabled(model);
}

bool GraphGestures::cancel() {
    if (m_proposed) {
        withdraw();
        return true;
    }
    if (m_view->canvas()->until()->active()) {
        m_view->canvas()->until()->cancel();
        return true;
    }
    if (m_view->thresholdBar()->isVisible()) {
        m_view->thresholdBar()->finish();
        return true;
    }
    return false;
}

void GraphGestures::startUntil(NodeId from) {
    withdraw();
    m_view->thresholdBar()->finish();
    m_view->canvas()->until()->start(from);
}

void GraphGestures::startThreshold() {
    withdraw();
    m_view->canvas()->until()->cancel();
    m_view->thresholdBar()->start(m_document->current());
}

void GraphGestures::popUpBlocks() {
    const GraphCanvas* canvas = m_view->canvas();
    if (m_document->current().valid()) m_blocks->popup(canvas->mapToGlobal(canvas->view()->currentPlace()));
}

}  // namespace quantloupe::ui
