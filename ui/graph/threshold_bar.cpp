// SPDX-License-Identifier: Apache-2.0
#include "graph/threshold_bar.h"

#include <QKeyEvent>
#include <QSignalBlocker>
#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "config/skip_metric_traits.h"
#include "graph/rule_preview.h"
#include "session/studies/skip_metrics.h"
#include "style/icons.h"
#include "style/words.h"

namespace quantloupe::ui {

namespace {

struct Choice {
    SkipMetric metric;
    const char* name;
    const char* unit;
    int decimals;
    double factor;  ///< displayed value times factor = value in the unit of the rule
};
constexpr std::array kChoices = {
    Choice{SkipMetric::LocalQs, QT_TRANSLATE_NOOP("Words", "QS local"), "", 4, 1},
    Choice{SkipMetric::CumulativeQs, QT_TRANSLATE_NOOP("Words", "QS cumulative"), "", 4, 1},
    Choice{SkipMetric::WeightQs, QT_TRANSLATE_NOOP("Words", "QS weight"), "", 4, 1},
    Choice{SkipMetric::LeaveOneOut, QT_TRANSLATE_NOOP("Words", "Leave-one-out"),
           QT_TRANSLATE_NOOP("Words", " points"), 2, 0.01},
    Choice{SkipMetric::LocalCosine, QT_TRANSLATE_NOOP("Words", "Cosine local"), "", 5, 1},
    Choice{SkipMetric::CumulativeCosine, QT_TRANSLATE_NOOP("Words", "Cosine cumulative"), "", 5, 1},
    Choice{SkipMetric::LocalSqnr, QT_TRANSLATE_NOOP("Words", "SQNR local"), " dB", 1, 1},
    Choice{SkipMetric::LocalAbsoluteL2, QT_TRANSLATE_NOOP("Words", "L2 local, absolute"), "", 1, 1},
    Choice{SkipMetric::CumulativeSqnr, QT_TRANSLATE_NOOP("Words", "SQNR cumulative"), " dB", 1, 1},
    Choice{SkipMetric::WeightSqnr, QT_TRANSLATE_NOOP("Words", "SQNR weight"), " dB", 1, 1},
};
constexpr double kFirstShare = 0.1;  ///< fraction of the layers that is covered initially

/// Adapts the choice to the unit of the gain, which depends on the task.
Choice inUnit(Choice choice, TaskMetric unit) {
    if (choice.metric != SkipMetric::LeaveOneOut || traitsOf(unit).rate) return choice;
    choice.unit = unit == TaskMetric::Sqnr ? " dB" : "";
    choice.factor = 1;
    choice.decimals = unit == TaskMetric::Sqnr ? 4 : 9;
    return choice;
}

const Choice& choiceAt(int index) { return kChoices[static_cast<std::size_t>(std::max(0, index))]; }

}  // namespace

ThresholdBar::ThresholdBar(Document* document, GraphCanvas* canvas, QWidget* parent)
    : QFrame(parent), m_document(document), m_canvas(canvas) {
    setObjectName(QStringLiteral("banner"));
    setAccessibleName(tr("Skip above a threshold"));
    const int unit = fontMetrics().height();
    auto* rows = new QVBoxLayout(this);
    rows->setContentsMargins(unit * 2 / 3, unit / 3, unit / 3, unit / 2);
    rows->setSpacing(unit / 3);
    auto *row = new QHBoxLayout, *below = new QHBoxLayout;
    for (QHBoxLayout* layout : {row, below}) {
        layout->setSpacing(unit / 2);
        rows->addLayout(layout);
    }
    m_metric = new QComboBox;
    for (const Choice& choice : kChoices) m_metric->addItem(Words::tr(choice.name));
    m_metric->setAccessibleName(tr("Metric of the threshold"));
    m_side = new QComboBox;
    m_side->addItems({tr("above"), tr("below")});
    m_side->setAccessibleName(tr("Side of the threshold"));
    m_value = new QDoubleSpinBox;
    m_value->setRange(-1e6, 1e9);
    m_value->setStepType(QAbstractSpinBox::AdaptiveDecimalStepType);
    m_value->setKeyboardTracking(true);
    m_value->setButtonSymbols(QAbstractSpinBox::NoButtons);
    m_value->setMinimumWidth(unit * 6);
    m_value->setAccessibleName(tr("Threshold"));
    m_slider = new QSlider(Qt::Horizontal);
    m_slider->setMinimumWidth(unit * 10);
    m_slider->setToolTip(tr("Adds one layer per step, worst first"));
    m_slider->setAccessibleName(tr("Number of layers beyond the threshold"));
    m_count = new ElidedLabel({}, Qt::ElideRight);
    m_effect = new ElidedLabel({}, Qt::ElideRight);
    m_accept = new QPushButton(tr("Keep in Float"));
    m_accept->setToolTip(tr("Adds the rule (Enter)"));
    m_accept->setProperty("primary", true);
    m_close = new QPushButton;
    m_close->setFlat(true);
    m_close->setToolTip(tr("Close without adding a rule (Esc)"));
    m_close->setAccessibleName(tr("Close"));
    m_lead = new QLabel(tr("Skip layers with"));
    row->addWidget(m_lead);
    for (QWidget* widget : std::initializer_list<QWidget*>{m_metric, m_side, m_value}) row->addWidget(widget);
    row->addStretch(1);
    row->addWidget(m_close);
    below->addWidget(m_slider, 1);
    below->addWidget(m_accept);
    rows->addWidget(m_count);
    rows->addWidget(m_effect);
    connect(m_metric, &QComboBox::activated, this, [this] { chooseMetric(false); });
    connect(m_side, &QComboBox::activated, this, [this] { chooseMetric(true); });
    connect(m_value, &QDoubleSpinBox::valueChanged, this, &ThresholdBar::refresh);
    connect(m_slider, &QSlider::valueChanged, this,
            [this](int count) { takeFirst(static_cast<std::size_t>(count)); });
    connect(m_accept, &QPushButton::clicked, this, &ThresholdBar::accept);
    connect(m_close, &QPushButton::clicked, this, &ThresholdBar::finish);
    connect(document, &Document::layersChanged, this, [this] {
        if (isHidden()) return;
        const bool first = m_ranked.empty();
        rankLayers();
        const TaskMetric now = m_document->gainMetric();
        const bool otherUnit = std::exchange(m_unit, now) != now;
        if ((first && !m_ranked.empty()) || otherUnit)
            chooseMetric(true);  // the first values have arrived, or they have another unit
        else
            refresh();
    });
    connect(document, &Document::modelChanged, this, &ThresholdBar::finish);
    hide();
}

void ThresholdBar::fitInto(int width) {
    const int lead = m_lead->sizeHint().width() + fontMetrics().height() / 2;
    m_lead->setVisible(minimumSizeHint().width() + (m_lead->isHidden() ? lead : 0) <= width);
}

SkipMetric ThresholdBar::metric() const { return choiceAt(m_metric->currentIndex()).metric; }
double ThresholdBar::factor() const { return inUnit(choiceAt(m_metric->currentIndex()), m_unit).factor; }

SkipRule ThresholdBar::rule() const {
    SkipRule rule;
    rule.kind = SkipKind::Threshold;
    rule.metric = metric();
    rule.below = m_side->currentIndex() == 1;
    rule.threshold = m_value->value() * factor();
    return rule;
}

void ThresholdBar::start(NodeId layer) {
    if (!m_document->hasModel()) return;
    const std::string key = metricKey(m_canvas->metric()).toStdString();
    const auto shown = std::ranges::find_if(
        kChoices, [&](const Choice& choice) { return traitsOf(choice.metric).key == key; });
    if (shown != kChoices.end()) m_metric->setCurrentIndex(static_cast<int>(shown - kChoices.begin()));
    m_unit = m_document->gainMetric();
    m_effect->hide();
    m_close->setIcon(icon(Symbol::Close, themeOf(palette()).muted));  // the theme may have changed
    show();
    raise();
    chooseMetric(false);
    const LayerResult* result = m_document->layer(layer);
    if (const auto value = result ? skipMetricOf(*result, metric()) : std::nullopt;
        value && std::isfinite(*value)) {
        const auto place = std::ranges::find(m_ranked, *value);
        if (place != m_ranked.end()) takeFirst(static_cast<std::size_t>(place - m_ranked.begin()) + 1);
    }
    m_value->setFocus();
    m_value->selectAll();
}

void ThresholdBar::finish() {
    if (isHidden()) return;
    const bool focused = isAncestorOf(focusWidget()) || hasFocus();
    hide();
    m_canvas->clearPreview();
    if (focused) m_canvas->setFocus();
    Q_EMIT closed();
}

/// Collects the values of all quantizable layers in the order in which a moving threshold covers them.
void ThresholdBar::rankLayers() {
    m_ranked.clear();
    for (const LayerResult& layer : m_document->layers())
        if (const auto value = skipMetricOf(layer, metric());
            layer.quantizable && value && !std::isnan(*value))
            m_ranked.push_back(*value);
    if (m_side->currentIndex() == 1)
        std::ranges::sort(m_ranked);
    else
        std::ranges::sort(m_ranked, std::greater<>());
    const QSignalBlocker quiet(m_slider);
    m_slider->setRange(0, static_cast<int>(m_ranked.size()));
    m_slider->setEnabled(!m_ranked.empty());
}

void ThresholdBar::chooseMetric(bool keepSide) {
    const Choice choice = inUnit(choiceAt(m_metric->currentIndex()), m_unit);
    if (!keepSide) m_side->setCurrentIndex(traitsOf(choice.metric).lowIsBad() ? 1 : 0);
    {
        const QSignalBlocker quiet(m_value);
        m_value->setDecimals(choice.decimals);
        m_value->setSuffix(choice.unit[0] ? Words::tr(choice.unit) : QString());
    }
    rankLayers();
    takeFirst(static_cast<std::size_t>(std::ceil(static_cast<double>(m_ranked.size()) * kFirstShare)));
}

/// Returns a threshold between the last covered layer and the first layer that is not covered, with as few
/// digits as possible.
void ThresholdBar::takeFirst(std::size_t count) {
    if (m_ranked.empty()) {
        refresh();
        return;
    }
    count = std::min(count, m_ranked.size());
    const double shown = 1 / factor();
    const double step = std::pow(10.0, -m_value->decimals());
    const bool below = m_side->currentIndex() == 1;
    double value = 0;
    const auto finite = [&](std::size_t i) { return std::isfinite(m_ranked[i]); };
    if (count == 0) {
        value = finite(0) ? m_ranked[0] * shown : m_value->value();
        value = below ? std::floor(value / step) * step : std::ceil(value / step) * step;
    } else if (count == m_ranked.size()) {
        value = finite(count - 1) ? m_ranked[count - 1] * shown + (below ? step : -step) : m_value->value();
    } else {
        const double inside = m_ranked[count - 1], outside = m_ranked[count];
        value = !finite(count - 1) ? outside * shown + (below ? -step : step)
                : !finite(count)   ? inside * shown + (below ? step : -step)
                                   : (inside + outside) / 2 * shown;
        // The smallest number of decimals with which the threshold is still between the two.
        if (finite(count - 1) && finite(count)) {
            const double low = std::min(inside, outside) * shown, high = std::max(inside, outside) * shown;
            for (int digits = 0; digits <= m_value->decimals(); ++digits) {
                const double scale = std::pow(10.0, digits), rounded = std::round(value * scale) / scale;
                if (rounded > low && rounded < high) {
                    value = rounded;
                    break;
                }
            }
        }
    }
    const QSignalBlocker quiet(m_value);
    m_value->setValue(value);
    refresh();
}

void ThresholdBar::refresh() {
    if (isHidden() || !m_document->hasModel()) return;
    const RulePreview preview =
        previewRule(*m_document->graph(), m_document->config(), m_document->layers(), rule());
    m_changed = preview.changed;
    const QString name = m_metric->currentText();
    QString text;
    if (m_ranked.empty()) {
        text = tr("no layer has a value for %1 yet").arg(name);
    } else {
        // These metrics depend on the rules themselves but were measured without the new rule, so the count
        // is an estimate.
        const bool guess = traitsOf(metric()).dependsOnRules();
        text = tr("%1%2 of %3 layers")
                   .arg(guess ? tr("about ") : QString())
                   .arg(preview.nodes)
                   .arg(m_ranked.size());
        if (preview.changed < preview.nodes) text += tr(", %1 currently quantized").arg(preview.changed);
    }
    m_count->setFullText(text);
    m_accept->setEnabled(preview.nodes > 0);
    {
        const QSignalBlocker quiet(m_slider);
        m_slider->setValue(static_cast<int>(preview.nodes));
    }
    m_canvas->setPreview(preview.covered, {});
}

void ThresholdBar::setForecast(const QString& text) {
    m_effect->setFullText(text);
    // Once there is one, its row stays, so that the bar does not change its height while the slider moves.
    if (!text.isEmpty()) m_effect->show();
}

void ThresholdBar::accept() {
    if (!m_accept->isEnabled()) return;
    const SkipRule taken = rule();
    finish();
    Q_EMIT chosen(taken);
}

void ThresholdBar::keyPressEvent(QKeyEvent* event) {
    switch (event->key()) {
        case Qt::Key_Return:
        case Qt::Key_Enter:
            accept();
            return;
        case Qt::Key_Escape:
            finish();
            return;
        default:
            QFrame::keyPressEvent(event);
    }
}

}  // namespace quantloupe::ui
