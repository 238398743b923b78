// SPDX-License-Identifier: Apache-2.0
#include "panels/distribution_section.h"

#include <algorithm>

#include "commands/layer_edits.h"
#include "document/metric.h"
#include "panels/tensor_window.h"
#include "style/words.h"

namespace quantloupe::ui {

namespace {

/// Shows a small nonzero share as nonzero.
QString shareText(double share) {
    return share > 0 && share < 0.0005 ? QStringLiteral("< ") + formatRate(0.001) : formatRate(share);
}

}  // namespace

DistributionSection::Plot DistributionSection::addPlot(const QString& title, const QString& key) {
    const int unit = fontMetrics().height();
    Plot plot;
    plot.box = new QWidget;
    auto* column = new QVBoxLayout(plot.box);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(unit / 3);
    plot.heading = new SectionHeading(title);
    plot.plot = new HistogramPlot;
    plot.plot->setAccessibleName(title);
    column->addWidget(plot.heading);
    column->addWidget(plot.plot);
    plot.heading->setBody(plot.plot, key);
    layout()->addWidget(plot.box);
    return plot;
}

DistributionSection::DistributionSection(Document* document, QWidget* parent)
    : QWidget(parent), m_document(document), m_model(new LayerInsightModel(document, this)) {
    const int unit = fontMetrics().height();
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(unit / 2);
    m_refusal = makeLabel({}, "faint", 0.92);
    m_refusal->setWordWrap(true);
    column->addWidget(m_refusal);
    m_channelBox = new QWidget;
    auto* channels = new QVBoxLayout(m_channelBox);
    channels->setContentsMargins(0, 0, 0, 0);
    channels->setSpacing(unit / 3);
    m_channelHeading = new SectionHeading(tr("Channels"));
    channels->addWidget(m_channelHeading);
    auto* body = new QWidget;
    auto* rows = new QVBoxLayout(body);
    rows->setContentsMargins(0, 0, 0, 0);
    rows->setSpacing(unit / 4);
    m_channels = new ChannelPlot;
    rows->addWidget(m_channels);
    m_numbers =
        makeLink(tr("Show Numbers\u2026"),
                 tr("Channels, factors and weights before and after the transforms; can be copied as CSV"));
    rows->addWidget(m_numbers, 0, Qt::AlignLeft);
    channels->addWidget(body);
    m_channelHeading->setBody(body, QStringLiteral("channels"));
    column->addWidget(m_channelBox);
    m_weight = addPlot(tr("Weight"), QStringLiteral("histogram.weight"));
    m_input = addPlot(tr("Input"), QStringLiteral("histogram.input"));
    m_output = addPlot(tr("Output"), QStringLiteral("histogram.output"));
    m_partnerBox = new QWidget;
    auto* partners = new QVBoxLayout(m_partnerBox);
    partners->setContentsMargins(0, 0, 0, 0);
    partners->setSpacing(unit / 3);
    m_partnerHeading = new SectionHeading(tr("Equalized with"));
    partners->addWidget(m_partnerHeading);
    auto* list = new QWidget;
    m_partners = new QVBoxLayout(list);
    m_partners->setContentsMargins(0, 0, 0, 0);
    m_partners->setSpacing(unit / 3);
    partners->addWidget(list);
    m_partnerHeading->setBody(list, QStringLiteral("partners"));
    column->addWidget(m_partnerBox);

    connect(m_numbers, &QPushButton::clicked, this, &DistributionSection::openNumbers);
    connect(m_model, &LayerInsightModel::changed, this, &DistributionSection::refresh);
    refresh();
}

void DistributionSection::showEvent(QShowEvent* event) {
    QWidget::showEvent(event);
    m_model->setWanted(true);
}

void DistributionSection::hideEvent(QHideEvent* event) {
    QWidget::hideEvent(event);
    m_model->setWanted(false);
}

void DistributionSection::showPlot(const Plot& plot, const std::optional<TensorDetails>& tensor,
                                   const QString& waiting) {
    plot.box->setVisible(tensor || !waiting.isEmpty());
    plot.plot->setTensor(tensor, waiting);
    plot.plot->setQuiet(m_model->stale());
    if (!tensor) return plot.heading->setRemark({});
    if (tensor->bits == 0) return plot.heading->setRemark(tr("in float"));
    plot.heading->setRemark(
        tr("%1 bits \u00b7 clipped %2").arg(tensor->bits).arg(shareText(tensor->clippedFraction)),
        withMinusSigns(
            tr("%1\n%2 distinct codes of %3: %4 effective bits\nfloat %5 to %6\nquantizer limits %7 to %8")
                .arg(QString::fromStdString(tensor->name))
                .arg(tensor->distinctCodes)
                .arg(1 << tensor->bits)
                .arg(tensor->effectiveBits, 0, 'f', 1)
                .arg(tensor->floating.min(), 0, 'g', 4)
                .arg(tensor->floating.max(), 0, 'g', 4)
                .arg(tensor->clipLow, 0, 'g', 4)
                .arg(tensor->clipHigh, 0, 'g', 4)));
}

void DistributionSection::refresh() {
    const LayerInsight* insight = m_model->insight();
    const LayerResult* layer = m_document->layer(m_document->current());
    // Until the answer arrives, plots are empty instead of hidden, so that nothing jumps. Plots that will
    // have no content are hidden.
    const bool expected = layer != nullptr && layer->quantizable;
    const QString waiting = insight || !expected                              ? QString()
                            : m_model->querying() || m_document->evaluating() ? tr("evaluating\u2026")
                                                                              : tr("not evaluated");
    const LayerDetails* details = insight && insight->details ? &*insight->details : nullptr;
    const bool weighted = layer != nullptr && layer->parameters > 0 && expected;
    showPlot(m_weight, details ? details->weight : std::nullopt, weighted ? waiting : QString());
    showPlot(m_input,
             details && !details->inputs.empty() ? std::optional(details->inputs.front()) : std::nullopt,
             waiting);
    showPlot(m_output, details ? std::optional(details->output) : std::nullopt, waiting);
    m_refusal->setText(insight && expected ? sentence(insight->refusal) : QString());
    m_refusal->setVisible(!m_refusal->text().isEmpty());

    std::vector<ChannelDetails> channels;
    if (details && details->weight) channels = details->channels;
    m_channelBox->setVisible(!channels.empty() || (weighted && !waiting.isEmpty()));
    m_numbers->setEnabled(details != nullptr);
    const auto before = rangeRatio(channels, false), after = rangeRatio(channels, true);
    const auto ratio = [](const std::optional<double>& value) {
        return value ? QStringLiteral("%1\u00d7").arg(*value, 0, 'f', *value < 10 ? 1 : 0)
                     : QStringLiteral("\u2013");
    };
    m_channelHeading->setRemark(
        channels.empty()  ? waiting
        : before && after ? ratio(before) + QStringLiteral(" \u2192 ") + ratio(after)
                          : ratio(after),
        tr("Ratio of the widest to the narrowest channel range, before and after the transforms"));
    m_channels->setPlaceholder(!channels.empty()   ? QString()
                               : waiting.isEmpty() ? tr("no range to show")
                                                   : waiting);
    m_channels->setChannels(std::move(channels));
    m_channels->setQuiet(m_model->stale());
    showPartners(insight);
}

void DistributionSection::showPartners(const LayerInsight* insight) {
    const std::vector<EqualizationPartners> none;
    const auto& partners = insight ? insight->partners : none;
    m_partnerBox->setVisible(!partners.empty());
    const auto same = [](const EqualizationPartners& a, const EqualizationPartners& b) {
        return a.layers == b.layers && a.enabled == b.enabled && a.lowest == b.lowest &&
               a.highest == b.highest;
    };
    if (std::ranges::equal(partners, m_shownPartners, same)) return;
    m_shownPartners = partners;
    clearLayout(m_partners);
    for (const EqualizationPartners& set : partners) {
        auto* row = new QHBoxLayout;
        auto* control = new ToggleSwitch;
        control->setChecked(set.enabled);
        QStringList names;
        for (std::size_t i = 0; i < set.layers.size(); ++i)
            names << (set.nodes[i] == insight->node ? tr("here") : m_document->layerName(set.layers[i]));
        const QString text = names.join(QStringLiteral(" \u2192 "));
        control->setAccessibleName(tr("Equalize ") + text);
        auto* link = new LinkButton;
        link->setFullText(text);
        link->setToolTip(tr("Select these layers"));
        row->addWidget(control);
        row->addWidget(link, 1);
        auto* factors = makeLabel(set.enabled ? QStringLiteral("\u00d7%1 \u2026 \u00d7%2")
                                                    .arg(set.lowest, 0, 'g', 2)
                                                    .arg(set.highest, 0, 'g', 2)
                                              : tr("off"),
                                  "faint", 0.92);
        factors->setToolTip(tr("The smallest and the largest channel factor"));
        row->addWidget(factors);
        m_partners->addLayout(row);
        connect(control, &ToggleSwitch::clicked, this, [this, layers = set.layers](bool on) {
            m_document->edit(switchEqualization(m_document->config(), layers, on));
        });
        connect(link, &QPushButton::clicked, this, [this, nodes = set.nodes] { Q_EMIT layersChosen(nodes); });
    }
}

void DistributionSection::openNumbers() {
    const LayerInsight* insight = m_model->insight();
    if (!insight || !insight->details) return;
    auto* numbers = new TensorWindow(*insight, m_document->layerName(insight->details->name), window());
    numbers->setAttribute(Qt::WA_DeleteOnClose);
    numbers->show();
}

}  // namespace quantloupe::ui
