// SPDX-License-Identifier: Apache-2.0
#include "graph/side_by_side.h"

#include <QHBoxLayout>
#include <algorithm>
#include <utility>

#include "models/headline.h"

namespace quantloupe::ui {

SideBySide::SideBySide(Document* document, GraphCanvas* canvas, QWidget* view)
    : QObject(view), m_document(document), m_canvas(canvas), m_view(view) {
    m_line = new QFrame(view);
    m_line->setObjectName(QStringLiteral("divider"));
    m_line->hide();
    m_tagThen = makeTag(m_nameThen);
    m_tagNow = makeTag(m_nameNow);
    connect(&document->reference(), &LayerReference::changed, this, &SideBySide::describe);
    connect(document, &Document::evaluationChanged, this, &SideBySide::describe);
}

QFrame* SideBySide::makeTag(ElidedLabel*& label) {
    auto* tag = new QFrame(m_view);
    tag->setObjectName(QStringLiteral("overlay"));
    auto* row = new QHBoxLayout(tag);
    const int unit = m_view->fontMetrics().height();
    row->setContentsMargins(unit * 2 / 3, unit / 4, unit * 2 / 3, unit / 4);
    label = new ElidedLabel;
    row->addWidget(label);
    tag->hide();
    return tag;
}

void SideBySide::setShown(bool shown) {
    if (shown == (m_other != nullptr)) return;
    if (shown) {
        m_other = new GraphCanvas(m_canvas, m_view);
        m_other->lower();  // widgets over the canvas are also over this one
        connect(m_canvas, &GraphCanvas::viewChanged, m_other, [this] { follow(m_canvas, m_other); });
        connect(m_other, &GraphCanvas::viewChanged, m_canvas, [this] { follow(m_other, m_canvas); });
        connect(m_canvas, &GraphCanvas::hovered, m_other, &GraphCanvas::setHovered);
        connect(m_other, &GraphCanvas::hovered, m_canvas, &GraphCanvas::setHovered);
        connect(m_other, &GraphCanvas::toggleRequested, m_canvas, &GraphCanvas::toggleRequested);
        connect(m_other, &GraphCanvas::menuRequested, m_canvas, &GraphCanvas::menuRequested);
        connect(m_other, &GraphCanvas::foldRequested, m_canvas, &GraphCanvas::foldRequested);
        m_other->show();
        describe();
    } else {
        const bool focus = m_other->hasFocus();
        m_other->disconnect();
        m_canvas->disconnect(m_other);
        std::exchange(m_other, nullptr)->deleteLater();
        m_canvas->setHovered(std::nullopt);
        if (focus) m_canvas->setFocus();
    }
    for (QWidget* widget : {m_line, m_tagThen, m_tagNow}) widget->setVisible(shown);
    Q_EMIT shownChanged(shown);
}

void SideBySide::follow(const GraphCanvas* from, GraphCanvas* to) {
    if (std::exchange(m_following, true)) return;
    to->view()->setTransform(from->transform());
    m_following = false;
}

/// "Baseline: 87.8 %".
void SideBySide::describe() {
    if (!m_other) return;
    const DataKind data = m_document->dataKind();
    const auto withResult = [](const QString& name, const Headline& line) {
        return line.known ? name + QStringLiteral(": ") + line.value : name;
    };
    const LayerReference& reference = m_document->reference();
    m_nameThen->setFullText(
        withResult(m_document->history().baselineEntry() ? tr("Baseline") : tr("Previous configuration"),
                   headlineOf(reference.evaluation().get(), data)));
    m_nameNow->setFullText(withResult(tr("Now"), headlineOf(m_document->evaluation().get(), data)));
    Q_EMIT described();
}

int SideBySide::height() const { return m_other ? m_tagNow->sizeHint().height() : 0; }

void SideBySide::place(const QRect& area, int top, const QMarginsF& margins) {
    if (!m_other) {
        m_canvas->view()->setFitMargins(margins);
        m_canvas->setGeometry(area);
        return;
    }
    // Both have the same width, so that the same position and zoom show the same part.
    const int width = (area.width() - 1) / 2;
    const QRect then(area.left(), area.top(), width, area.height()),
        now(area.right() - width + 1, area.top(), width, area.height());
    const double rim = std::max(margins.left(), margins.right());
    m_following = true;
    m_canvas->view()->setFitMargins(QMarginsF(rim, margins.top(), rim, margins.bottom()));
    m_canvas->setGeometry(now);
    m_other->setGeometry(then);
    m_following = false;
    follow(m_canvas, m_other);
    m_line->setGeometry(then.right() + 1, area.top(), std::max(1, now.left() - then.right() - 1),
                        area.height());
    const auto put = [&](QFrame* tag, const ElidedLabel* label, const QRect& half, double right) {
        const QMargins around = tag->layout()->contentsMargins();
        const int room = half.width() - static_cast<int>(margins.left() + right);
        const int wish =
            label->fontMetrics().horizontalAdvance(label->fullText()) + around.left() + around.right() + 4;
        tag->setGeometry(half.left() + static_cast<int>(margins.left()), top, std::min(wish, room),
                         tag->sizeHint().height());
    };
    put(m_tagThen, m_nameThen, then, margins.left());
    put(m_tagNow, m_nameNow, now, margins.right());
}

}  // namespace quantloupe::ui
