// SPDX-License-Identifier: Apache-2.0
#include "panels/notices_panel.h"

#include "widgets/basics.h"

namespace quantloupe::ui {

NoticesPanel::NoticesPanel(Document* document, QWidget* parent) : QTextBrowser(parent), m_document(document) {
    setFrameShape(QFrame::NoFrame);
    setAccessibleName(tr("Notices"));
    QTextBrowser::document()->setDocumentMargin(fontMetrics().height() / 2);
    for (const auto signal : {&Document::modelChanged, &Document::evaluationChanged})
        connect(m_document, signal, this, &NoticesPanel::refresh);
    refresh();
}

/// Unfinished evaluations do not have all their notices yet.
void NoticesPanel::refresh() {
    const EvaluationPtr evaluation = m_document->evaluation();
    if (evaluation && !evaluation->complete) return;
    QStringList notices;
    if (evaluation)
        for (const std::string& notice : evaluation->notices)
            notices << sentence(QString::fromStdString(notice));
    if (notices == m_notices) return;
    m_notices = notices;
    QString items;
    for (const QString& notice : notices)
        items += QStringLiteral("<li style=\"margin-bottom: 4px\">%1</li>").arg(notice.toHtmlEscaped());
    setHtml(QStringLiteral("<ul style=\"-qt-list-indent: 0; margin-left: 16px\">%1</ul>").arg(items));
    Q_EMIT noticesChanged();
}

}  // namespace quantloupe::ui
