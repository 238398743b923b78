// SPDX-License-Identifier: Apache-2.0
#include "graph/canvas_input.h"

#include <QApplication>
#include <QGestureEvent>
#include <QNativeGestureEvent>
#include <cmath>
#include <utility>

namespace quantloupe::ui {

CanvasInput::CanvasInput(Document* document, const ShownPicture* shown, CanvasView* view,
                         CanvasSelection* selection, UntilChoice* until, QWidget* widget)
    : QObject(widget),
      m_document(document),
      m_shown(shown),
      m_view(view),
      m_selection(selection),
      m_until(until),
      m_widget(widget) {
    connect(view, &CanvasView::moved, this, [this] {
        if (m_drag == Drag::None) hoverAgain();
    });
}

void CanvasInput::hoverAgain() {
    if (m_pointer) Q_EMIT hovered(m_view->boxAt(*m_pointer));
}

bool CanvasInput::zoomGesture(QEvent* event) {
    if (event->type() == QEvent::NativeGesture) {
        const auto* gesture = static_cast<QNativeGestureEvent*>(event);
        if (gesture->gestureType() != Qt::ZoomNativeGesture) return false;
        m_view->zoomAt(gesture->position(), 1 + gesture->value());
        return true;
    }
    if (event->type() != QEvent::Gesture) return false;
    auto* gestures = static_cast<QGestureEvent*>(event);
    const auto* pinch = static_cast<QPinchGesture*>(gestures->gesture(Qt::PinchGesture));
    if (!pinch) return false;
    m_view->zoomAt(m_widget->mapFromGlobal(pinch->centerPoint()), pinch->scaleFactor());
    return true;
}

void CanvasInput::press(const QMouseEvent* event) {
    m_pressed = m_last = event->position();
    if (event->button() == Qt::MiddleButton) {
        m_drag = Drag::Pan;
        m_selection->removeBand();
        m_widget->setCursor(Qt::ClosedHandCursor);
        return;
    }
    const auto box = m_view->boxAt(event->position());
    const NodeId layer = box ? m_shown->layerOf(*box) : NodeId();
    if (event->button() == Qt::RightButton) {
        if (layer.valid() && !m_document->isSelected(layer)) m_document->select(layer);
        return;
    }
    if (event->button() != Qt::LeftButton) return;
    if (layer.valid()) return select(*box, event->modifiers());
    m_drag = event->modifiers() & (Qt::ControlModifier | Qt::ShiftModifier) ? Drag::Band : Drag::Click;
    if (m_drag == Drag::Band) m_selection->startBand(m_pressed);
}

void CanvasInput::select(std::size_t box, Qt::KeyboardModifiers modifiers) {
    const bool add = modifiers & Qt::ControlModifier, path = modifiers & Qt::ShiftModifier;
    if (m_until->choose(m_until->endAt(box), add)) return;
    if (path && !add && m_document->current().valid())
        m_selection->selectPathTo(box);
    else
        m_selection->selectBox(box, add);
    m_drag = Drag::None;
}

void CanvasInput::move(const QMouseEvent* event) {
    const QPointF position = event->position();
    m_pointer = position;
    if (m_drag == Drag::Click &&
        (position - m_pressed).manhattanLength() >= QApplication::startDragDistance()) {
        m_drag = Drag::Pan;
        m_widget->setCursor(Qt::ClosedHandCursor);
    }
    if (m_drag == Drag::Pan) {
        m_view->moveBy(position - std::exchange(m_last, position));
    } else if (m_drag == Drag::Band) {
        m_selection->extendBand(position);
        Q_EMIT bandChanged();
    } else {
        const auto box = m_view->boxAt(position);
        Q_EMIT hovered(box);
        m_widget->setCursor(box && m_shown->layerOf(*box).valid() ? Qt::PointingHandCursor : Qt::ArrowCursor);
    }
}

void CanvasInput::release(const QMouseEvent* event) {
    const Drag drag = std::exchange(m_drag, Drag::None);
    if (drag == Drag::Click && !m_until->active()) m_selection->clear();
    if (drag == Drag::Band)
        m_selection->finishBand(m_view->transform(), event->modifiers() & Qt::ControlModifier);
    if (drag == Drag::Pan) m_widget->setCursor(Qt::ArrowCursor);
    Q_EMIT bandChanged();
}

void CanvasInput::doubleClick(const QMouseEvent* event) {
    if (event->button() != Qt::LeftButton) return;
    const auto box = m_view->boxAt(event->position());
    if (!box) {
        if (const auto group = m_view->frameNameAt(event->position())) Q_EMIT foldRequested(*group, true);
    } else if (m_shown->node(*box).kind == PictureNode::Kind::Group) {
        Q_EMIT foldRequested(m_shown->node(*box).group, false);
    } else if (m_shown->layerOf(*box).valid()) {
        m_view->centerOn(m_shown->layerOf(*box));
    }
}

void CanvasInput::wheel(QWheelEvent* event) {
    m_pointer = event->position();
    if (event->modifiers() & Qt::ControlModifier) {
        m_view->zoomAt(event->position(), std::pow(1.0015, event->angleDelta().y()));
    } else {
        QPointF step =
            event->pixelDelta().isNull() ? QPointF(event->angleDelta()) * 0.6 : QPointF(event->pixelDelta());
        if (event->modifiers() & Qt::ShiftModifier) step = step.transposed();
        m_view->moveBy(step);
    }
    event->accept();
}

void CanvasInput::contextMenu(const QContextMenuEvent* event) {
    Q_EMIT menuRequested(event->reason() == QContextMenuEvent::Keyboard
                             ? m_widget->mapToGlobal(m_view->currentPlace())
                             : event->globalPos());
}

void CanvasInput::leave() {
    m_pointer.reset();
    Q_EMIT hovered(std::nullopt);
}

bool CanvasInput::key(QKeyEvent* event) {
    switch (event->key()) {
        case Qt::Key_Space:
            Q_EMIT toggleRequested();
            return true;
        case Qt::Key_Plus:
        case Qt::Key_Equal:
            m_view->zoomStep(1.25);
            return true;
        case Qt::Key_Minus:
            m_view->zoomStep(0.8);
            return true;
        case Qt::Key_Return:
        case Qt::Key_Enter:
            enter(event->modifiers());
            return true;
        case Qt::Key_Escape:
            if (m_until->active())
                m_until->cancel();
            else
                event->ignore();
            return true;
        case Qt::Key_Down:
        case Qt::Key_Up:
        case Qt::Key_Left:
        case Qt::Key_Right:
        case Qt::Key_Home:
        case Qt::Key_End:
            walk(event->key());
            return true;
        default:
            return false;
    }
}

void CanvasInput::enter(Qt::KeyboardModifiers modifiers) {
    const auto box = m_shown->boxOf(m_document->current());
    if (!box || !m_until->choose(m_until->endAt(*box), modifiers & Qt::ControlModifier))
        m_view->centerOn(m_document->current());
}

void CanvasInput::walk(int key) {
    const auto box = m_selection->target(key);
    if (!box) return;
    leave();
    m_selection->selectBox(*box, false);
    m_view->ensureVisible(m_shown->layerOf(*box));
    if (m_until->active()) m_until->preview();
}

}  // namespace quantloupe::ui
