// SPDX-License-Identifier: Apache-2.0
#include "panels/query_panel.h"

#include <utility>

namespace quantloupe::ui {

QueryPanel::QueryPanel(Document* document, QuerySlot slot, QWidget* parent)
    : QWidget(parent), m_document(document), m_slot(slot) {
    connect(&m_delay, &QTimer::timeout, this, &QueryPanel::query);
    connect(document, &Document::evaluationFinished, this, &QueryPanel::plan);
    connect(document, &Document::configChanged, this, [this] { showAnswer({}); });
    // What other work, for example an export, has cancelled is repeated afterwards.
    connect(document->job(), &EvaluationJob::queriesDropped, this,
            [this](bool byOtherWork) { m_askAgain = std::exchange(m_asked, false) && byOtherWork; });
    connect(document->job(), &EvaluationJob::busyChanged, this, [this](bool busy) {
        if (!busy && std::exchange(m_askAgain, false) && !m_document->accuracyStale()) plan();
    });
    const auto forget = [this] {
        m_answered.reset();
        showAnswer({});
        Q_EMIT answerChanged();
    };
    connect(document, &Document::modelChanged, this, forget);
    connect(document, &Document::dataChanged, this, forget);
}

bool QueryPanel::stale() const { return m_answered && !haveSameResults(*m_answered, m_document->config()); }

void QueryPanel::showEvent(QShowEvent* event) {
    QWidget::showEvent(event);
    plan();
}

void QueryPanel::hideEvent(QHideEvent* event) {
    QWidget::hideEvent(event);
    m_document->job()->dropQuery(m_slot);
    m_asked = m_askAgain = false;
}

void QueryPanel::queryAgain() {
    m_answered.reset();
    plan();
}

void QueryPanel::plan() {
    if (isVisible() && m_document->hasModel() && (!m_answered || stale())) m_delay.start();
}

void QueryPanel::query() {
    const EvaluationPtr evaluation = m_document->evaluation();
    if (!isVisible() || m_document->evaluating() || !evaluation || !evaluation->quantized) return;
    if (m_document->pendingEdits() > 0) return;  // evaluated on request only
    const QuantizationConfig config = m_document->config();
    m_asked = true;
    m_document->job()->query(
        m_slot,
        [this, config, work = makeQuery(config)](Session& session, const CancelToken& cancel) {
            auto show = work(session, cancel);
            return [this, config, show = std::move(show)] {
                show();
                m_asked = false;
                m_answered = config;
                showAnswer({});
                Q_EMIT answerChanged();
            };
        },
        [this](const QString& refusal) {
            m_asked = false;
            showAnswer(refusal);
        });
}

}  // namespace quantloupe::ui
