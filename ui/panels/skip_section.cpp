// SPDX-License-Identifier: Apache-2.0
#include "panels/skip_section.h"

#include <QToolButton>
#include <algorithm>

#include "config/skip_rules.h"
#include "config/tail_rule.h"
#include "document/metric.h"
#include "graph/rule_preview.h"
#include "session/studies/skip_metrics.h"
#include "style/icons.h"
#include "style/theme.h"
#include "style/words.h"

namespace quantloupe::ui {

namespace {

Symbol symbolOf(SkipKind kind) {
    switch (kind) {
        case SkipKind::Node:
            return Symbol::Node;
        case SkipKind::Until:
            return Symbol::Range;
        case SkipKind::Downstream:
            return Symbol::Downstream;
        case SkipKind::Type:
            return Symbol::Type;
        case SkipKind::Pattern:
            return Symbol::Pattern;
        case SkipKind::Block:
            return Symbol::Range;
        case SkipKind::Threshold:
            return Symbol::Pattern;
    }
    return Symbol::Node;
}

/// A row: symbol, title over remark, and a control at the right.
class RuleCard : public QFrame {
  public:
    RuleCard(Symbol symbol, const QString& title, const QString& remark, QWidget* control,
             const QColor& color) {
        setObjectName(QStringLiteral("card"));
        const int unit = fontMetrics().height();
        auto* row = new QHBoxLayout(this);
        row->setContentsMargins(unit / 2, unit / 3, unit / 2, unit / 3);
        row->setSpacing(unit / 2);
        auto* mark = new QLabel;
        mark->setPixmap(pixmap(symbol, color, unit, devicePixelRatioF()));
        auto* texts = new QVBoxLayout;
        texts->setSpacing(0);
        auto* name = new ElidedLabel(title, Qt::ElideMiddle);
        auto* note = makeLabel(remark, "muted", 0.88);
        note->setWordWrap(true);
        texts->addWidget(name);
        texts->addWidget(note);
        row->addWidget(mark);
        row->addLayout(texts, 1);
        row->addWidget(control);
    }
};

QString coverText(const NodeSet& covered, const std::vector<LayerResult>& layers) {
    std::size_t nodes = 0, quantizable = 0;
    for (std::size_t i = 0; i < covered.size(); ++i) {
        if (!covered[i]) continue;
        ++nodes;
        quantizable += i < layers.size() && layers[i].quantizable;
    }
    if (layers.empty() || nodes == quantizable) return layersText(nodes);
    return Words::tr("%1, %2 quantizable")
        .arg(nodes == 1 ? Words::tr("1 node") : Words::tr("%1 nodes").arg(nodes))
        .arg(quantizable);
}

}  // namespace

SkipSection::SkipSection(Document* document, QWidget* parent) : QWidget(parent), m_document(document) {
    m_heading = new SectionHeading(tr("Keep in float"));
    m_list = buildSection(this, m_heading, QStringLiteral("skip"));
    connect(document, &Document::configChanged, this, &SkipSection::refresh);
    connect(document, &Document::modelChanged, this, &SkipSection::refresh);
    connect(document, &Document::layersChanged, this, &SkipSection::refresh);
    refresh();
}

void SkipSection::refresh() {
    const QuantizationConfig& config = m_document->config();
    const auto& layers = m_document->layers();
    const auto skipped =
        std::ranges::count_if(layers, [](const LayerResult& l) { return l.state == LayerState::Skipped; });
    m_heading->setRemark(layers.empty() ? QString() : layersText(static_cast<std::size_t>(skipped)));
    setEnabled(m_document->hasModel());
    const auto quantizable = static_cast<std::size_t>(
        std::ranges::count_if(layers, [](const LayerResult& l) { return l.quantizable; }));
    const EvaluationPtr evaluation = m_document->evaluation();
    const bool evaluated = evaluation && evaluation->config == config;
    if (m_any && m_built == config && m_quantizable == quantizable &&
        (!evaluated || evaluation->covered == m_covered))
        return;
    m_any = m_document->hasModel(), m_built = config, m_quantizable = quantizable;
    m_covered = evaluated ? evaluation->covered : resolvedRules();
    build();
}

/// Empty if a rule is wrong; the engine reports the error.
std::vector<NodeSet> SkipSection::resolvedRules() const {
    if (!m_document->hasModel()) return {};
    try {
        const auto config = withThresholdsFrom(m_document->config(), m_document->layers());
        return resolveSkips(*m_document->graph(), config).covered;
    } catch (const std::exception&) {
        return {};
    }
}

/// Builds the rows anew. The switch with the keyboard focus keeps it.
void SkipSection::build() {
    const auto focused = std::ranges::find_if(m_switches, &QWidget::hasFocus) - m_switches.begin();
    const bool hadFocus = focused < std::ssize(m_switches);
    clearLayout(m_list);
    m_switches.clear();
    addTail();
    const QuantizationConfig& config = m_document->config();
    for (std::size_t i = 0; i < config.rules.size(); ++i) addRule(i);
    // Thousands of cards would take seconds.
    constexpr std::size_t kMostCards = 30;
    std::size_t choices = 0;
    for (const auto& [name, settings] : config.layers)
        if (settings.quantize && ++choices <= kMostCards) addLayerChoice(name, *settings.quantize);
    if (choices > kMostCards) {
        auto* more =
            makeLabel(tr("and %1 more locked layers").arg(formatNumber(choices - kMostCards)), "muted", 0.92);
        more->setWordWrap(true);
        m_list->addWidget(more);
    }
    if (config.rules.empty() && m_document->hasModel()) {
        auto* hint = makeLabel(tr("Select layers and press Space to keep them in float."), "faint", 0.92);
        hint->setWordWrap(true);
        m_list->addWidget(hint);
    }
    // Queued, because the new switches are not visible yet.
    if (hadFocus && focused < std::ssize(m_switches))
        QMetaObject::invokeMethod(
            m_switches[static_cast<std::size_t>(focused)],
            [on = m_switches[static_cast<std::size_t>(focused)]] { on->setFocus(); }, Qt::QueuedConnection);
}

void SkipSection::addTail() {
    const QuantizationConfig& config = m_document->config();
    const std::optional<Tail> found = m_document->hasModel()
                                          ? std::optional(tailToSkip(*m_document->graph(), config.wholeTail))
                                          : std::nullopt;
    const bool refused = config.skipTail && found && !found->whyNot.empty();
    QString text = found ? coverText(found->nodes, m_document->layers())
                         : tr("the last weighted layer and everything after it");
    if (found && found->share)
        text += (found->ofWeights ? tr(" \u00b7 %1 of the weights") : tr(" \u00b7 %1 of the MACs"))
                    .arg(formatRate(*found->share));
    if (refused) text = tr("off, too large: ") + text;
    auto* on = makeSwitch(config.skipTail && !refused, tr("Keep the tail of the model in float"));
    connect(on, &ToggleSwitch::clicked, this,
            [this](bool wanted) { m_document->edit(setTail(m_document->config(), wanted)); });
    auto* card = new RuleCard(Symbol::Tail, tr("Tail of the model"), text, on, themeOf(palette()).inFloat);
    card->setToolTip(refused ? QString::fromStdString(found->whyNot) +
                                   tr("\n\nTurn the switch on to skip it anyway.")
                             : tr("From the last weighted layer, which is included, to the outputs"));
    m_list->addWidget(card);
}

void SkipSection::addRule(std::size_t i) {
    const SkipRule& rule = m_document->config().rules[i];
    const auto& layers = m_document->layers();
    QString remark = i < m_covered.size() ? coverText(m_covered[i], layers) : QString();
    if (rule.off && m_document->hasModel()) {
        const RulePreview preview = previewRule(*m_document->graph(), m_document->config(), layers, rule);
        remark =
            tr("off \u00b7 ") + (preview.complaint.isEmpty() ? coverText(preview.covered, layers)
                                                             : m_document->withLayerNames(preview.complaint));
    }
    const QString text = m_document->withLayerNames(QString::fromStdString(describe(rule)));
    auto* controls = new QWidget;
    auto* row = new QHBoxLayout(controls);
    row->setContentsMargins(0, 0, 0, 0);
    auto* on = makeSwitch(!rule.off, tr("Rule: ") + text);
    on->setToolTip(rule.off ? tr("Rule disabled") : tr("Rule enabled"));
    connect(on, &ToggleSwitch::clicked, this,
            [this, i](bool wanted) { m_document->edit(switchRule(m_document->config(), i, wanted)); });
    row->addWidget(on);
    row->addWidget(makeRemoveButton(tr("Remove this rule"),
                                    [i](const QuantizationConfig& c) { return removeRule(c, i); }));
    const Theme& colors = themeOf(palette());
    m_list->addWidget(
        new RuleCard(symbolOf(rule.kind), text, remark, controls, rule.off ? colors.faint : colors.inFloat));
}

void SkipSection::addLayerChoice(const std::string& name, bool quantized) {
    const Theme& colors = themeOf(palette());
    m_list->addWidget(new RuleCard(
        Symbol::Pin, m_document->layerName(name), quantized ? tr("always quantized") : tr("always float"),
        makeRemoveButton(tr("Remove this setting and use the rules"),
                         [name](const QuantizationConfig& c) { return clearLayerChoice(c, name); }),
        quantized ? colors.quantized : colors.inFloat));
}

ToggleSwitch* SkipSection::makeSwitch(bool on, const QString& name) {
    auto* control = new ToggleSwitch;
    control->setChecked(on);
    control->setAccessibleName(name);
    m_switches.push_back(control);
    return control;
}

QWidget* SkipSection::makeRemoveButton(const QString& what, const MakeEdit& edit) {
    auto* button = new QToolButton;
    button->setIcon(icon(Symbol::Close, themeOf(palette()).muted));
    button->setToolTip(what);
    button->setAccessibleName(what);
    connect(button, &QToolButton::clicked, this,
            [this, edit] { m_document->edit(edit(m_document->config())); });
    return button;
}

}  // namespace quantloupe::ui
