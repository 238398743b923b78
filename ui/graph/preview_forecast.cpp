// SPDX-License-Identifier: Apache-2.0
#include "graph/preview_forecast.h"

#include <algorithm>

#include "config/layer_choices.h"
#include "document/metric.h"
#include "session/studies/forecast.h"
#include "session/studies/leave_one_out.h"
#include "style/words.h"

namespace quantloupe::ui {

QString expectedWords(const ExpectedEffect& effect) {
    if (effect.ofSqnr)
        return Words::tr("expected SQNR %1 (%2 to %3)")
            .arg(formatDecibel(effect.median), formatDecibel(effect.low), formatDecibel(effect.high));
    return Words::tr("expected %1 points (%2 to %3)")
        .arg(formatPoints(effect.median), formatPoints(effect.low), formatPoints(effect.high));
}

PreviewForecast::PreviewForecast(Document* document, GraphCanvas* canvas, QObject* parent)
    : QObject(parent), m_document(document), m_canvas(canvas) {
    connect(&m_delay, &QTimer::timeout, this, &PreviewForecast::query);
    connect(canvas, &GraphCanvas::previewChanged, this, &PreviewForecast::previewChanged);
    connect(document, &Document::evaluationFinished, this, [this] {
        if (!m_covered.empty()) m_delay.start();
    });
}

void PreviewForecast::previewChanged() {
    if (m_canvas->previewed() == m_covered) return;
    m_covered = m_canvas->previewed();
    setText({});
    m_document->job()->dropQuery(QuerySlot::Forecast);
    m_delay.stop();
    if (m_canvas->previewsRule() && std::ranges::count(m_covered, true) > 0) m_delay.start();
}

void PreviewForecast::query() {
    if (m_document->evaluating() || !m_document->hasModel() || !m_canvas->previewsRule()) return;
    std::vector<std::string> names;
    for (const LayerResult& layer : m_document->layers()) {
        const std::size_t node = layer.node.index();
        if (layer.state == LayerState::Quantized && node < m_covered.size() && m_covered[node])
            names.push_back(layer.name);
    }
    // Without leave-one-out, a query would only interrupt it.
    if (names.empty() || !leaveOneOutComplete(m_document->layers())) return;
    const QuantizationConfig config = withLayersSkipped(m_document->config(), names);
    m_document->job()->query(QuerySlot::Forecast, [this, config, covered = m_covered](
                                                      Session& session, const CancelToken& cancel) {
        const std::optional<ExpectedEffect> effect = forecast(session, config, cancel);
        return [this, effect, covered] {
            if (covered == m_covered) setText(effect ? expectedWords(*effect) : QString());
        };
    });
}

void PreviewForecast::setText(const QString& text) {
    if (text == m_text) return;
    m_text = text;
    Q_EMIT changed();
}

}  // namespace quantloupe::ui
