// SPDX-License-Identifier: Apache-2.0
#include "graph/scale_texts.h"

namespace quantloupe::ui {

namespace {

QString number(float value) { return QString::number(static_cast<double>(value), 'g', 3); }

QString weightText(const LayerScale& scale) {
    if (!scale.lowestWeight) return {};
    return scale.weightScales == 1 ? ScaleTexts::tr(" scale %1").arg(number(*scale.lowestWeight))
                                   : ScaleTexts::tr(" scales %1 to %2")
                                         .arg(number(*scale.lowestWeight), number(*scale.highestWeight));
}

QString outputText(const LayerScale& scale) {
    if (!scale.output) return {};
    return ScaleTexts::tr(" scale %1, zero point %2").arg(number(*scale.output)).arg(scale.outputZeroPoint);
}

}  // namespace

ScaleTexts::ScaleTexts(Document* document, QObject* parent) : QObject(parent), m_document(document) {
    connect(&m_delay, &QTimer::timeout, this, &ScaleTexts::query);
    connect(document, &Document::evaluationFinished, this, [this] { setWanted(m_wanted); });
    for (const auto signal : {&Document::modelChanged, &Document::dataChanged})
        connect(document, signal, this, &ScaleTexts::forget);
}

QString ScaleTexts::of(const LayerResult& layer) const {
    LayerScale scale;
    if (m_answered == m_document->config() && layer.node.valid())
        scale = m_scales.value(static_cast<std::uint32_t>(layer.node.index()));
    QStringList parts;
    if (layer.weightBits > 0) parts.append(tr("W%1").arg(layer.weightBits) + weightText(scale));
    if (layer.activationBits > 0) parts.append(tr("A%1").arg(layer.activationBits) + outputText(scale));
    return parts.join(QStringLiteral(" \u00b7 "));
}

void ScaleTexts::forget() {
    ++m_generation;
    m_scales.clear();
    m_answered.reset();
}

void ScaleTexts::setWanted(bool wanted) {
    m_wanted = wanted;
    if (wanted && m_answered != m_document->config())
        m_delay.start();
    else
        m_delay.stop();
}

void ScaleTexts::query() {
    const EvaluationPtr evaluation = m_document->evaluation();
    if (!m_wanted || m_document->evaluating() || !evaluation || !evaluation->quantized) return;
    m_document->job()->query(
        QuerySlot::LayerScales, [this, config = m_document->config(), generation = m_generation](
                                    Session& session, const CancelToken& cancel) {
            return [this, config, generation, layers = layerScales(session, config, cancel)] {
                if (generation != m_generation) return;
                m_scales.clear();
                for (const LayerScale& layer : layers)
                    m_scales.insert(static_cast<std::uint32_t>(layer.node.index()), layer);
                m_answered = config;
                Q_EMIT changed();
            };
        });
}

}  // namespace quantloupe::ui
