// SPDX-License-Identifier: Apache-2.0
#include "graph/rule_preview.h"

#include "config/skip_rules.h"
#include "session/studies/skip_metrics.h"
#include "style/words.h"

namespace quantloupe::ui {

RulePreview previewRule(const Graph& graph, const QuantizationConfig& config,
                        const std::vector<LayerResult>& layers, const SkipRule& rule) {
    QuantizationConfig alone;
    alone.skipTail = false;
    alone.rules = {rule};
    alone.rules.front().off = false;
    RulePreview preview;
    try {
        preview.covered = resolveSkips(graph, withThresholdsFrom(std::move(alone), layers)).covered.front();
    } catch (const std::exception& error) {
        preview.complaint = QString::fromUtf8(error.what());
        preview.covered.assign(graph.nodeCount(), false);
        return preview;
    }
    for (std::size_t i = 0; i < preview.covered.size(); ++i) {
        if (!preview.covered[i]) continue;
        ++preview.nodes;
        if (i >= layers.size() || !layers[i].quantizable) continue;
        ++preview.quantizable;
        const LayerSettings* const own = config.settingsOf(layers[i].name);
        const bool pinned =
            own != nullptr && (own->quantize.value_or(false) ||
                               own->precision.value_or(Precision::float32()) != Precision::float32());
        if (pinned)
            ++preview.pinned;
        else if (layers[i].state == LayerState::Quantized)
            ++preview.changed;
    }
    return preview;
}

QString previewWords(const RulePreview& preview) {
    const QString nodes = preview.nodes == 1 ? Words::tr("1 node") : Words::tr("%1 nodes").arg(preview.nodes);
    if (preview.quantizable == 0) return nodes + Words::tr(", none quantizable");
    const std::size_t others = preview.quantizable - preview.pinned;
    QStringList now;
    if (preview.pinned > 0)
        now << (others == 0           ? Words::tr("all of which keep their own setting")
                : preview.pinned == 1 ? Words::tr("1 keeps its own setting")
                                      : Words::tr("%1 keep their own setting").arg(preview.pinned));
    if (others > 0)
        now << (preview.changed == preview.quantizable ? Words::tr("all currently quantized")
                : preview.changed > 0 ? Words::tr("%1 of them currently quantized").arg(preview.changed)
                : preview.pinned == 0 ? Words::tr("all already in float")
                                      : Words::tr("the others already in float"));
    return Words::tr("%1, %2 quantizable, %3")
        .arg(nodes)
        .arg(preview.quantizable)
        .arg(now.join(QStringLiteral(", ")));
}

}  // namespace quantloupe::ui
