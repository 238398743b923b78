// SPDX-License-Identifier: Apache-2.0
#include "window/evaluation_notice.h"

#include <QApplication>
#include <QSettings>

#include "models/headline.h"
#include "window/notification.h"

namespace quantloupe::ui {

EvaluationNotice::EvaluationNotice(Document* document, QWidget* window)
    : QObject(window), m_document(document), m_window(window) {
    connect(document, &Document::evaluationFinished, this, &EvaluationNotice::notify);
}

void EvaluationNotice::notify(double seconds) {
    if (seconds < m_longSeconds || QApplication::activeWindow() ||
        !QSettings().value(QStringLiteral("notify"), true).toBool())
        return;
    const Headline headline = headlineOf(m_document->evaluation().get(), m_document->dataKind());
    const QString text =
        tr("Evaluated %1 in %2 s: %3").arg(m_document->title()).arg(seconds, 0, 'f', 0).arg(headline.value);
    notifyDesktop(m_window, tr("Quantloupe"), text);
    Q_EMIT notified(text);
}

}  // namespace quantloupe::ui
