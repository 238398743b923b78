// SPDX-License-Identifier: Apache-2.0
#include "panels/tune_finder.h"

#include <QApplication>
#include <QPointer>
#include <algorithm>

#include "document/metric.h"

namespace quantloupe::ui {

namespace {
const QString kTuneSlot = QStringLiteral("tune");
}  // namespace

TuneFinder::TuneFinder(Document* document, QWidget* parent) : QWidget(parent), m_document(document) {
    const int unit = fontMetrics().height();
    auto* rows = new QVBoxLayout(this);
    rows->setContentsMargins(0, 0, 0, 0);
    rows->setSpacing(unit / 2);
    m_drop = new NumberField(tr("Maximum drop"));
    m_drop->setMaximumWidth(unit * 5);
    m_drop->setValue(numberText(m_points));
    m_unit = makeLabel({}, "muted", 0.92);
    auto* drop = new QWidget;
    auto* fields = new QHBoxLayout(drop);
    fields->setContentsMargins(0, 0, 0, 0);
    fields->addWidget(m_drop);
    fields->addWidget(m_unit, 1);
    rows->addWidget(makeRow(tr("Maximum drop"), drop,
                            tr("The largest accepted accuracy drop from the float network. If the outputs "
                               "are not classes, a point is 1 % of relative error: 1 is an SQNR of 40 dB, "
                               "10 is an SQNR of 20 dB")));
    m_cost = new SegmentedControl({tr("MACs"), tr("parameters"), tr("layers")}, false);
    m_cost->setCurrentIndex(0);
    rows->addWidget(makeRow(tr("Minimize"), m_cost, tr("The cost of the layers that stay in float")));
    auto* bottom = new QHBoxLayout;
    bottom->setSpacing(unit / 2);
    m_find = new QPushButton(tr("Search for Layers to Keep in Float"));
    m_text = makeLabel({}, "faint", 0.92);
    m_text->setWordWrap(true);
    bottom->addWidget(m_find);
    bottom->addStretch(1);
    rows->addLayout(bottom);
    rows->addWidget(m_text);
    m_curve = new TuneCurve;
    rows->addWidget(m_curve);

    connect(m_drop, &NumberField::entered, this, &TuneFinder::enterDrop);
    connect(m_find, &QPushButton::clicked, this, &TuneFinder::find);
    connect(m_curve, &TuneCurve::taken, this, &TuneFinder::take);
    connect(document->job(), &EvaluationJob::queriesDropped, this, [this] {
        if (m_finding) stopped();
        refresh();
    });
    connect(document, &Document::configChanged, this, [this] {
        if (m_finding) {  // also where edits are held and nothing is evaluated
            m_document->job()->dropQuery(kTuneSlot);
            stopped();
        }
        refresh();
    });
    connect(document, &Document::evaluationChanged, this, &TuneFinder::refresh);
    connect(document, &Document::modelChanged, this, [this] {
        m_finding = false;
        ++m_run;
        m_found.reset();
        refresh();
    });
    connect(document, &Document::dataChanged, this, [this] {
        m_finding = false;
        ++m_run;
        m_found.reset();  // measured on other samples
        refresh();
    });
    refresh();
}

void TuneFinder::enterDrop(const QString& text) {
    bool isNumber = false;
    const double points = QLocale::c().toDouble(text, &isNumber);
    if (!isNumber || !(points >= 0 && points <= 100))
        return m_drop->setComplaint(tr("Enter a number from 0 to 100"));
    m_points = points;
    m_drop->setValue(numberText(points));
}

void TuneFinder::find() {
    if (m_finding) {
        m_document->job()->dropQuery(kTuneSlot);
        stopped();
        return refresh();
    }
    m_from = m_document->config();
    m_found.reset();
    m_finding = true;
    const int run = ++m_run;
    refresh();
    m_text->setText(tr("evaluating\u2026"));
    const auto here = [self = QPointer<TuneFinder>(this), run](auto act) {
        QMetaObject::invokeMethod(
            qApp,
            [self, run, act] {
                if (self && self->m_finding && self->m_run == run) act(*self);
            },
            Qt::QueuedConnection);
    };
    TuneOptions options;
    options.maxDrop = m_points / 100;
    options.cost = static_cast<TuneCost>(std::max(0, m_cost->currentIndex()));
    options.progress = [here](const TuneProgress& progress) {
        here([progress](TuneFinder& finder) { finder.tell(progress); });
    };
    options.improved = [here](const TuneResult& found) {
        here([found](TuneFinder& finder) { finder.adopt(found); });
    };
    m_document->job()->ask(
        kTuneSlot,
        [this, config = m_from, options](Session& session,
                                         const CancelToken& cancel) -> std::function<void()> {
            return [this, found = tune(session, config, options, cancel)] {
                m_finding = false;
                adopt(found);
            };
        },
        [this](const QString& refusal) {
            m_finding = false;
            refresh();
            m_text->setText(sentence(refusal));
            m_text->show();
        });
}

/// What was found so far stays.
void TuneFinder::stopped() {
    m_finding = false;
    ++m_run;
    if (m_found) m_found->ended = TuneEnd::Cancelled;
}

void TuneFinder::tell(const TuneProgress& progress) {
    const QString part = tr("%1 of %2").arg(progress.done + 1).arg(progress.total);
    QString stage;
    switch (progress.stage) {
        case TuneStage::Transforms:
            stage = tr("trying transforms");
            break;
        case TuneStage::EachLayerAlone:
            stage = tr("each layer alone, %1").arg(part);
            break;
        case TuneStage::Adding:
            stage = tr("step %1").arg(progress.step);
            break;
        case TuneStage::Removing:
            stage = tr("removing layers, %1").arg(part);
            break;
        case TuneStage::Exchanging:
            stage = tr("exchanging layers, %1").arg(part);
            break;
        case TuneStage::FromAllFloat:
            stage = tr("starting from the all-float network, %1").arg(part);
            break;
        case TuneStage::Prefixes:
            stage = tr("comparing with rankings, %1").arg(part);
            break;
    }
    m_text->setText(
        tr("%1: %2").arg(stage, inDecibels() ? formatDecibel(progress.metric) : formatRate(progress.metric)));
}

bool TuneFinder::inDecibels() const {
    const EvaluationPtr evaluation = m_document->evaluation();
    return evaluation && evaluation->quantized && !taskRate(*evaluation->quantized);
}

void TuneFinder::adopt(const TuneResult& found) {
    m_found = found;
    TuneResult shown = found;
    for (TunePoint& point : shown.curve)
        for (std::string& name : point.layers) name = m_document->names().of(name);
    m_curve->setResult(shown);
    refresh();
}

bool TuneFinder::applies() const {
    return m_found && (m_document->config() == m_from ||
                       std::ranges::any_of(m_found->curve, [this](const TunePoint& point) {
                           return point.config == m_document->config();
                       }));
}

void TuneFinder::take(std::size_t point) {
    if (!applies() || point >= m_found->curve.size()) return;
    const TunePoint& wanted = m_found->curve[point];
    m_document->edit({wanted.config,
                      wanted.layers.empty()       ? tr("Tune: no additional layers in float")
                      : wanted.layers.size() == 1 ? tr("Tune: 1 layer in float")
                                                  : tr("Tune: %1 layers in float").arg(wanted.layers.size()),
                      {}});
}

void TuneFinder::refresh() {
    const EvaluationPtr evaluation = m_document->evaluation();
    const bool random = evaluation && evaluation->randomInputs;
    const bool ready =
        m_document->hasModel() && evaluation && evaluation->quantized && !random && !m_document->evaluating();
    m_find->setEnabled(ready || m_finding);
    m_find->setText(m_finding ? tr("Stop") : tr("Search for Layers to Keep in Float"));
    m_find->setToolTip(random ? tr("Needs data: accuracy on random inputs is meaningless")
                              : tr("Adds layers step by step, removes those that are not needed, and "
                                   "evaluates every set on all evaluation samples; an edit stops it"));
    m_unit->setText(inDecibels() ? tr("% of relative error") : tr("points below float"));
    m_drop->setEnabled(!m_finding);
    m_cost->setEnabled(!m_finding);
    m_curve->setVisible(m_found.has_value());
    m_curve->setCurrent(m_document->config());
    m_curve->setEnabled(applies());
    if (m_finding) return m_text->show();
    m_text->setText(!m_found     ? QString()
                    : !applies() ? tr("for the previous configuration")
                                 : sentence(QString::fromStdString(describe(*m_found))));
    m_text->setVisible(!m_text->text().isEmpty());
}

}  // namespace quantloupe::ui
