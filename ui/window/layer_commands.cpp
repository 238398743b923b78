// SPDX-License-Identifier: Apache-2.0
#include "window/layer_commands.h"

#include "config/tail_rule.h"
#include "panels/override_section.h"

namespace quantloupe::ui {

namespace {

std::optional<SkipRule> addedRule(const ConfigEdit& edit) {
    if (!edit.complaint.isEmpty() || edit.next.rules.empty()) return std::nullopt;
    return edit.next.rules.back();
}

}  // namespace

LayerCommands::LayerCommands(Document* document, GraphView* graph, Inspector* inspector,
                             ModelActions* modelActions, QMainWindow* window)
    : QObject(window),
      m_document(document),
      m_inspector(inspector),
      m_menu(window->menuBar()->addMenu(tr("&Layers"))),
      m_contextMenu(new QMenu(window)),
      m_precision(new PrecisionMenu(m_menu)),
      m_gestures(new GraphGestures(document, graph, this)) {
    addSkipping();
    m_menu->addMenu(m_precision);
    connect(m_precision, &PrecisionMenu::chosen, this, [this](const std::optional<Precision>& precision) {
        apply([&] {
            return setPrecision(*m_document->graph(), m_document->config(), m_document->layers(),
                                m_document->selection(), precision);
        });
    });
    m_gestures->addTo(m_menu);
    addPreviews();
    m_menu->addSeparator();
    addTail();
    modelActions->add(m_tail);
    m_menu->addSeparator();
    addSettings(modelActions);
    for (const auto signal : {&Document::modelChanged, &Document::selectionChanged, &Document::layersChanged,
                              &Document::configChanged})
        connect(document, signal, this, &LayerCommands::updateActions);
    connect(graph->canvas()->until(), &UntilChoice::chosen, this,
            [this](NodeId from, const std::vector<NodeId>& ends) {
                apply([&] {
                    return quantloupe::ui::skipUntil(*m_document->graph(), m_document->config(), from, ends);
                });
            });
    updateActions();
}

void LayerCommands::addSkipping() {
    // The graph and the table handle the Space key themselves (text fields need it as a character); the entry
    // only shows it.
    m_toggle =
        addCommand(m_menu, tr("Skip &Quantization\tSpace"), {},
                   tr("Keeps the selected layers in float, or quantizes them again"), [this] { toggle(); });
    m_until = addCommand(m_menu, tr("Skip &Until\u2026"), keySequence("U"), {}, [this] { skipUntil(); });
    m_downstream = addCommand(m_menu, tr("Skip All &Downstream"), keySequence("D"),
                              tr("Keeps the layer and all layers downstream of it in float"),
                              [this] { skipDownstream(); });
    m_type = addCommand(m_menu, tr("Skip All of This &Type"), keySequence("T"), {}, [this] { skipType(); });
}

void LayerCommands::addTail() {
    m_tail = m_menu->addAction(tr("Skip the Tai&l"));
    m_tail->setCheckable(true);
    connect(m_tail, &QAction::triggered, this,
            [this](bool on) { apply([&] { return setTail(m_document->config(), on); }); });
}

void LayerCommands::addSettings(ModelActions* modelActions) {
    m_settings << addCommand(m_menu, tr("Copy La&yer Settings"), keySequence("Ctrl+Alt+C"), {},
                             [this] { m_inspector->overrides()->copySettings(); })
               << addCommand(m_menu, tr("&Paste Settings to Selected Layers"), keySequence("Ctrl+Alt+V"), {},
                             [this] { m_inspector->overrides()->pasteSettings(); });
    modelActions->add(m_settings);
}

/// Hovering an entry previews the layers that its rule would cover.
void LayerCommands::addPreviews() {
    m_gestures->previewOn(m_downstream, [this] {
        return m_document->current().valid() ? addedRule(downstreamEdit()) : std::nullopt;
    });
    m_gestures->previewOn(
        m_type, [this] { return m_document->current().valid() ? addedRule(typeEdit()) : std::nullopt; });
    m_gestures->previewOn(m_until, [this] {
        return m_document->selection().size() == 2 ? addedRule(betweenEdit()) : std::nullopt;
    });
}

void LayerCommands::buildContextMenu(const QList<QAction*>& select, const QList<QAction*>& place,
                                     const QList<QAction*>& copy) {
    m_contextMenu->setToolTipsVisible(true);
    m_contextMenu->addActions({m_toggle, m_until, m_downstream, m_type});
    m_contextMenu->addMenu(m_precision);
    m_contextMenu->addActions(m_gestures->layerActions());
    m_gestures->previewIn(m_contextMenu);
    for (const QList<QAction*>& actions : {select, place, copy}) {
        m_contextMenu->addSeparator();
        m_contextMenu->addActions(actions);
    }
    m_contextMenu->addActions(m_settings);
}

void LayerCommands::showContextMenu(QPoint global) {
    if (m_document->hasModel()) m_contextMenu->popup(global);
}

/// Runs the edit that `make` returns, or reports why it cannot be made.
void LayerCommands::apply(const std::function<ConfigEdit()>& make) {
    if (!m_document->hasModel()) return;
    try {
        m_document->edit(make());
    } catch (const std::exception& error) {
        m_document->say(MessageKind::Error, QString::fromUtf8(error.what()));
    }
}

void LayerCommands::toggle() { m_document->toggleSelection(); }

/// The edit that skips the layers between the two selected ones.
ConfigEdit LayerCommands::betweenEdit() const {
    const auto& nodes = m_document->selection();
    return quantloupe::ui::skipUntil(*m_document->graph(), m_document->config(), nodes[0], nodes[1]);
}

ConfigEdit LayerCommands::downstreamEdit() const {
    return quantloupe::ui::skipDownstream(*m_document->graph(), m_document->config(), m_document->current());
}

ConfigEdit LayerCommands::typeEdit() const {
    return quantloupe::ui::skipType(m_document->config(),
                                    m_document->graph()->node(m_document->current()).op);
}

void LayerCommands::skipUntil() {
    const auto& nodes = m_document->selection();
    if (nodes.size() == 2)
        apply([this] { return betweenEdit(); });
    else if (nodes.size() == 1)
        m_gestures->startUntil(nodes[0]);
}

void LayerCommands::skipDownstream() {
    if (!m_document->current().valid()) return;
    m_gestures->propose(m_downstream, [this] { apply([this] { return downstreamEdit(); }); });
}

void LayerCommands::skipType() {
    if (!m_document->current().valid()) return;
    m_gestures->propose(m_type, [this] { apply([this] { return typeEdit(); }); });
}

void LayerCommands::updateActions() {
    bool anyQuantized = false, anySkipped = false;
    for (const NodeId node : m_document->selection()) {
        const LayerResult* layer = m_document->layer(node);
        if (layer && !layer->host.empty() && m_document->graph())
            if (const auto host = m_document->graph()->findNode(layer->host))
                layer = m_document->layer(*host);
        anyQuantized = anyQuantized || (layer && layer->state == LayerState::Quantized);
        anySkipped = anySkipped || (layer && layer->state == LayerState::Skipped);
    }
    updateSkipping(anyQuantized, anySkipped);
    m_tail->setChecked(m_document->hasModel() && m_document->config().skipTail &&
                       tailToSkip(*m_document->graph(), m_document->config().wholeTail).whyNot.empty());
    m_gestures->updateActions();
}

/// `anyQuantized`, `anySkipped`: whether at least one of the selected layers is quantized, or skipped.
void LayerCommands::updateSkipping(bool anyQuantized, bool anySkipped) {
    const bool model = m_document->hasModel();
    const auto& nodes = m_document->selection();
    const bool editable =
        model && (anyQuantized || anySkipped || m_document->layers().empty()) && !nodes.empty();
    m_toggle->setText((anySkipped && !anyQuantized ? tr("&Quantize") : tr("Skip &Quantization")) +
                      QStringLiteral("\tSpace"));
    m_toggle->setEnabled(editable);
    m_precision->setUsable(editable);
    m_until->setEnabled(model && (nodes.size() == 1 || nodes.size() == 2));
    m_until->setText(nodes.size() == 2 ? tr("Skip &Until Here (All Between the Two)")
                                       : tr("Skip &Until\u2026"));
    m_downstream->setEnabled(model && nodes.size() == 1);
    m_type->setEnabled(model && nodes.size() == 1);
    m_type->setText(nodes.size() == 1 && model
                        ? tr("Skip All %1 Layers (&Type)")
                              .arg(QString::fromStdString(m_document->graph()->node(nodes[0]).op))
                        : tr("Skip All of This &Type"));
}

}  // namespace quantloupe::ui
