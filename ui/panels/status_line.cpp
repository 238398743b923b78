// SPDX-License-Identifier: Apache-2.0
#include "panels/status_line.h"

#include <QHBoxLayout>
#include <QThread>

#include "models/metric.h"
#include "widgets/basics.h"

namespace quantloupe::ui {

namespace {
constexpr int kBarAfter = 150;  // milliseconds
constexpr int kCancelAfter = 1000;
}  // namespace

StatusLine::StatusLine(Document* document, QWidget* parent) : QFrame(parent), m_document(document) {
    setObjectName(QStringLiteral("status"));
    const int unit = fontMetrics().height();
    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(unit, unit / 4, unit, unit / 4);
    row->setSpacing(unit * 2 / 3);
    m_bar = new QProgressBar;
    m_bar->setTextVisible(false);
    m_bar->setFixedWidth(unit * 8);
    m_text = makeLabel({}, "muted", 0.92);
    m_cancel = new QPushButton(tr("Cancel"));
    m_cancel->setProperty("link", true);
    m_cancel->setToolTip(tr("Stop (Esc)"));
    m_right = makeLabel({}, "faint", 0.92);
    row->addWidget(m_bar, 0, Qt::AlignVCenter);
    row->addWidget(m_text);
    row->addWidget(m_cancel);
    row->addStretch(1);
    row->addWidget(m_right);
    setFixedHeight(qRound(unit * 1.9));
    m_bar->hide();
    m_cancel->hide();
    m_showBar.setSingleShot(true);
    m_showCancel.setSingleShot(true);
    m_showBar.setInterval(kBarAfter);
    m_showCancel.setInterval(kCancelAfter);
    connect(&m_showBar, &QTimer::timeout, this, [this] {
        m_bar->show();
        if (m_text->text().isEmpty() || m_bar->maximum() == 0) m_text->setText(tr("working\u2026"));
    });
    connect(&m_showCancel, &QTimer::timeout, m_cancel, &QWidget::show);
    connect(m_cancel, &QPushButton::clicked, document, &Document::cancel);
    connect(document->job(), &EvaluationJob::busyChanged, this, &StatusLine::setBusy);
    connect(document->job(), &EvaluationJob::progressed, this,
            [this](const QString& stage, std::size_t done, std::size_t total) {
                if (!m_busy) return;
                m_bar->setRange(0, static_cast<int>(total));
                m_bar->setValue(static_cast<int>(done));
                if (m_bar->isVisible())
                    m_text->setText(total > 0 ? tr("%1 \u00b7 %2 of %3").arg(stage).arg(done).arg(total)
                                              : stage);
            });
    connect(document->job(), &EvaluationJob::studied, this,
            [this](const QString& stage, std::size_t done, std::size_t total) {
                if (m_busy) return;
                m_right->setText(done < total
                                     ? tr("while idle: %1 \u00b7 %2 of %3").arg(stage).arg(done).arg(total)
                                     : m_measured);
            });
    connect(document, &Document::evaluationFinished, this, [this](double seconds) {
        const Evaluation& evaluation = *m_document->evaluation();
        QString text = tr("%1 in %2")
                           .arg(evaluation.quantized ? tr("last edit measured") : tr("states found"),
                                formatSeconds(seconds));
        if (evaluation.samples > 0)
            text += (evaluation.randomInputs ? tr(" \u00b7 %1 random inputs") : tr(" \u00b7 %1 images"))
                        .arg(evaluation.samples);
        text += tr(" \u00b7 %1 threads").arg(QThread::idealThreadCount());
        m_measured = text;
        m_right->setText(text);
    });
    connect(document, &Document::modelChanged, this, &StatusLine::showIdle);
    connect(document, &Document::selectionChanged, this, [this] {
        if (!m_busy) showIdle();
    });
    showIdle();
}

void StatusLine::setBusy(bool busy) {
    m_busy = busy;
    if (busy) {
        m_bar->setRange(0, 0);
        m_showBar.start();
        m_showCancel.start();
        return;
    }
    m_showBar.stop();
    m_showCancel.stop();
    m_bar->hide();
    m_cancel->hide();
    showIdle();
}

void StatusLine::showIdle() {
    if (!m_document->hasModel()) {
        m_text->clear();
        m_right->clear();
        return;
    }
    const std::size_t selected = m_document->selection().size();
    m_text->setText(
        selected > 1 ? tr("%1 layers selected").arg(selected)
        : selected == 1
            ? tr("Space keeps the layer in float or quantizes it \u00b7 arrow keys walk the graph")
            : tr("Click a layer \u00b7 drag to move \u00b7 Ctrl+wheel zooms \u00b7 F fits"));
}

}  // namespace quantloupe::ui
