// SPDX-License-Identifier: Apache-2.0
#include "panels/status_line.h"

#include <QApplication>
#include <QHBoxLayout>
#include <QThread>
#include <algorithm>

#include "document/metric.h"
#include "style/theme.h"
#include "style/words.h"

namespace quantloupe::ui {

namespace {

using Kind = QueuedWork::Kind;

constexpr int kBarAfter = 150;  // milliseconds
constexpr int kCancelAfter = 1000;
constexpr int kQueryAfter = 700;  // most queries are answered by then

const QString kDot = QStringLiteral(" \u00b7 ");

/// Running work that reports no progress, or none yet.
QString workWords(const QueuedWork& work) {
    switch (work.kind) {
        case Kind::Loading:
            return Words::tr("opening the model\u2026");
        case Kind::Data:
            return Words::tr("opening data\u2026");
        case Kind::Export:
            return Words::tr("exporting\u2026");
        default:
            return Words::tr("working\u2026");
    }
}

}  // namespace

QString waitingWords(const std::vector<QueuedWork>& queue) {
    const auto waiting = [&](Kind kind) {
        return std::ranges::count_if(
            queue, [kind](const QueuedWork& work) { return work.kind == kind && !work.running; });
    };
    QStringList words;
    const auto add = [&](Kind kind, const QString& one, const QString& several) {
        const auto count = waiting(kind);
        if (count > 0) words << (count == 1 ? one : several.arg(count));
    };
    add(Kind::Loading, Words::tr("a model"), Words::tr("%1 models"));
    add(Kind::Data, Words::tr("data"), Words::tr("%1 data sets"));
    add(Kind::Evaluation, Words::tr("an evaluation"), Words::tr("%1 evaluations"));
    add(Kind::Export, Words::tr("an export"), Words::tr("%1 exports"));
    add(Kind::Query, Words::tr("an analysis"), Words::tr("%1 analyses"));
    add(Kind::Baseline, Words::tr("the baseline"), Words::tr("the baseline"));
    add(Kind::Background, Words::tr("background evaluation"), Words::tr("background evaluation"));
    return words.join(QStringLiteral(", "));
}

StatusLine::StatusLine(Document* document, QWidget* parent) : QFrame(parent), m_document(document) {
    m_clock.start();
    build();
    EvaluationJob* job = document->job();
    const auto show = [this](QTimer& timer, int after, bool& shown) {
        timer.setSingleShot(true);
        timer.setInterval(after);
        connect(&timer, &QTimer::timeout, this, [this, &shown] {
            shown = true;
            refresh();
        });
    };
    show(m_showBar, kBarAfter, m_barShown);
    show(m_showCancel, kCancelAfter, m_cancelShown);
    show(m_showQuery, kQueryAfter, m_queryShown);
    m_tick.setInterval(1000);  // keeps the remaining time counting down during a long batch
    connect(&m_tick, &QTimer::timeout, this, &StatusLine::refresh);
    connect(m_cancel, &QPushButton::clicked, document, &Document::cancel);
    for (QPushButton* button : {m_pause, m_pauseAside})
        connect(button, &QPushButton::clicked, this, [job] { job->setPaused(!job->paused()); });
    connect(job, &EvaluationJob::busyChanged, this, &StatusLine::setBusy);
    connect(job, &EvaluationJob::queueChanged, this, &StatusLine::queueChanged);
    connect(job, &EvaluationJob::pausedChanged, this, &StatusLine::refresh);
    connect(job, &EvaluationJob::progressed, this, &StatusLine::progressed);
    connect(job, &EvaluationJob::backgroundProgressed, this, &StatusLine::progressed);
    connect(document, &Document::evaluationFinished, this, &StatusLine::finished);
    connect(document, &Document::modelChanged, this, [this] {
        m_measured.clear();
        refresh();
    });
    connect(document, &Document::evaluationChanged, this, &StatusLine::refresh);
    connect(document, &Document::selectionChanged, this, &StatusLine::refresh);
    refresh();
}

void StatusLine::build() {
    setObjectName(QStringLiteral("status"));
    const int unit = fontMetrics().height();
    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(unit, unit / 4, unit, unit / 4);
    row->setSpacing(unit * 2 / 3);
    m_bar = new QProgressBar;
    m_bar->setTextVisible(false);
    m_bar->setFixedWidth(unit * 8);
    const auto label = [](const char* role) {
        auto* made = new ElidedLabel({}, Qt::ElideRight);
        made->setFont(scaledFont(QApplication::font(), 0.92));
        made->setProperty("role", QString::fromLatin1(role));
        made->setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
        return made;
    };
    m_text = label("muted");
    m_pause = makeLink();
    m_cancel = makeLink(tr("Cancel"), tr("Stop (Esc)"));
    m_pauseAside = makeLink();
    m_right = label("faint");
    row->addWidget(m_bar, 0, Qt::AlignVCenter);
    row->addWidget(m_text);
    row->addWidget(m_pause);
    row->addWidget(m_cancel);
    row->addStretch(1);
    row->addWidget(m_pauseAside);
    row->addWidget(m_right);
    setFixedHeight(qRound(unit * 1.9));
}

/// The clock stops while everything is paused.
double StatusLine::now() const {
    return static_cast<double>(m_clock.elapsed()) / 1000 - m_document->job()->pausedSeconds();
}

void StatusLine::setBusy(bool busy) {
    m_busy = busy;
    m_barShown = m_cancelShown = false;
    for (QTimer* timer : {&m_showBar, &m_showCancel}) busy ? timer->start() : timer->stop();
    refresh();
}

void StatusLine::queueChanged() {
    std::optional<QueuedWork> running;
    for (const QueuedWork& work : m_document->job()->queue())
        if (work.running) running = work;
    if (m_running && m_running->kind == Kind::Background && (!running || running->id != m_running->id))
        m_left.finish(m_total > 0 && m_done == m_total, now());
    if (running && (!m_running || m_running->id != running->id)) {
        m_stage.clear();
        m_done = m_total = 0;
        m_left.start(
            running->kind == Kind::Background ? QStringLiteral("study") : QStringLiteral("evaluation"),
            now());
        m_queryShown = false;
        m_showQuery.stop();
        if (running->kind == Kind::Query) m_showQuery.start();
    }
    m_running = running;
    running || m_busy ? m_tick.start() : m_tick.stop();
    refresh();
}

void StatusLine::progressed(const QString& stage, std::size_t done, std::size_t total) {
    if (!m_running) return;
    m_stage = stage;
    m_done = done;
    m_total = total;
    m_left.progress(stage, done, total, now());
    refresh();
}

void StatusLine::finished(double seconds) {
    m_left.finish(true, now());
    const Evaluation& evaluation = *m_document->evaluation();
    m_measured = evaluation.quantized ? tr("last edit evaluated") : tr("layer states computed");
    if (!m_reproducible) m_measured = tr("%1 in %2").arg(m_measured, formatSeconds(seconds));
    if (evaluation.samples > 0)
        m_measured += QStringLiteral(" \u00b7 ") +
                      (evaluation.randomInputs ? tr("%1 random inputs").arg(formatNumber(evaluation.samples))
                                               : samplesText(evaluation.samples));
    if (const int threads = QThread::idealThreadCount(); !m_reproducible)
        m_measured += kDot + (threads == 1 ? tr("1 thread") : tr("%1 threads").arg(threads));
    refresh();
}

QString StatusLine::runningText() {
    QString text = m_stage.isEmpty() ? (m_running ? workWords(*m_running) : tr("working\u2026")) : m_stage;
    if (m_total > 0) text += kDot + tr("%1 of %2").arg(m_done).arg(m_total);
    if (const auto left = m_left.shown(now()); left && !m_document->job()->paused())
        text += kDot + timeLeftWords(*left);
    return text;
}

/// The text at the left while no work is running.
QString StatusLine::idleText() const {
    if (!m_document->hasModel()) return {};
    const std::size_t selected = m_document->selection().size();
    return selected > 1 ? tr("%1 layers selected").arg(formatNumber(selected))
           : selected == 1
               ? tr("Space keeps the layer in float or quantizes it \u00b7 arrow keys walk the graph")
               : tr("Click a layer, or press ] for the most sensitive one \u00b7 drag to move \u00b7 "
                    "Ctrl+wheel zooms \u00b7 F fits");
}

void StatusLine::refresh() {
    const bool paused = m_document->job()->paused();
    const bool background =
        !m_busy && m_running && m_running->kind == Kind::Background && (!m_stage.isEmpty() || paused);
    const bool querying = !m_busy && m_running && m_running->kind == Kind::Query && (m_queryShown || paused);
    const bool aside = background || querying, stopped = paused && !aside;
    const QString pausedWord = paused ? tr("Paused") + kDot : QString();

    m_bar->setVisible(m_busy && (m_barShown || paused));
    m_bar->setRange(0, static_cast<int>(m_busy ? m_total : 0));
    m_bar->setValue(static_cast<int>(m_done));
    m_cancel->setVisible(m_busy && (m_cancelShown || paused));
    m_pause->setVisible(stopped || (m_busy && m_cancelShown));
    m_pauseAside->setVisible(aside);
    for (QPushButton* button : {m_pause, m_pauseAside}) {
        button->setText(paused ? tr("Resume") : tr("Pause"));
        button->setToolTip(paused ? tr("Resume (P)") : tr("Pause (P). No results are lost."));
    }

    QString text = idleText();
    if (m_bar->isVisibleTo(this)) {
        text = pausedWord + runningText();
        const QString waiting = waitingWords(m_document->job()->queue());
        if (!waiting.isEmpty()) text += kDot + tr("then %1").arg(waiting);
    } else if (stopped) {
        text = tr("Paused: nothing is evaluated until you resume");
    }
    m_text->setFullText(text);
    const QString words = !m_document->hasModel() ? QString()
                          : background            ? pausedWord + tr("while idle: %1").arg(runningText())
                          : querying              ? pausedWord + queryText(*m_running->slot)
                          // An evaluation that was cancelled, has failed, or waits for the user.
                          : m_document->metricsStale() && !m_document->evaluating() ? QString()
                                                                                    : m_measured;
    m_right->setFullText(words);
}

}  // namespace quantloupe::ui
