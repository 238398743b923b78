// SPDX-License-Identifier: Apache-2.0
#include "window/window_layout.h"

#include <QScreen>
#include <QSettings>

namespace quantloupe::ui {

namespace {

const QString kGeometry = QStringLiteral("window/geometry");
const QString kDocks = QStringLiteral("window/docks");

QString key(const char* what, std::size_t splitter) {
    return QStringLiteral("window/%1%2").arg(QLatin1String(what)).arg(splitter);
}

template <typename T>
QVariantList variants(const QList<T>& values) {
    QVariantList list;
    for (const T& value : values) list.append(value);
    return list;
}

}  // namespace

WindowLayout::WindowLayout(QMainWindow* window, std::vector<QSplitter*> splitters)
    : m_window(window), m_splitters(std::move(splitters)), m_initial(arrangement()) {}

WindowLayout::Arrangement WindowLayout::arrangement() const {
    Arrangement now;
    now.docks = m_window->saveState();
    for (const QSplitter* splitter : m_splitters) {
        now.sizes.push_back(splitter->sizes());
        QList<bool> hidden;
        for (int i = 0; i < splitter->count(); ++i) hidden.append(splitter->widget(i)->isHidden());
        now.hidden.push_back(hidden);
    }
    return now;
}

void WindowLayout::apply(const Arrangement& wanted) {
    m_window->restoreState(wanted.docks);
    for (std::size_t s = 0; s < m_splitters.size(); ++s) {
        QSplitter* splitter = m_splitters[s];
        if (wanted.sizes[s].size() != splitter->count() || wanted.hidden[s].size() != splitter->count())
            continue;
        for (int i = 0; i < splitter->count(); ++i) splitter->widget(i)->setHidden(wanted.hidden[s][i]);
        splitter->setSizes(wanted.sizes[s]);
    }
}

void WindowLayout::save() const {
    QSettings settings;
    settings.setValue(kGeometry, m_window->saveGeometry());
    const Arrangement now = arrangement();
    settings.setValue(kDocks, now.docks);
    for (std::size_t s = 0; s < m_splitters.size(); ++s) {
        settings.setValue(key("sizes", s), variants(now.sizes[s]));
        settings.setValue(key("hidden", s), variants(now.hidden[s]));
    }
}

void WindowLayout::restore() {
    const QSettings settings;
    if (!settings.contains(kGeometry)) return;
    m_window->restoreGeometry(settings.value(kGeometry).toByteArray());
    // The screen may be smaller than the one before.
    const QRect room = m_window->screen()->availableGeometry();
    const bool tooLarge = m_window->width() > room.width() || m_window->height() > room.height();
    if (tooLarge && !m_window->isMaximized() && !m_window->isFullScreen()) {
        m_window->resize(m_window->size().boundedTo(room.size()));
        m_window->move(room.topLeft());
    }
    Arrangement saved;
    saved.docks = settings.value(kDocks).toByteArray();
    for (std::size_t s = 0; s < m_splitters.size(); ++s) {
        QList<int> sizes;
        for (const QVariant& size : settings.value(key("sizes", s)).toList()) sizes.append(size.toInt());
        QList<bool> hidden;
        for (const QVariant& part : settings.value(key("hidden", s)).toList()) hidden.append(part.toBool());
        saved.sizes.push_back(sizes);
        saved.hidden.push_back(hidden);
    }
    apply(saved);
}

void WindowLayout::reset() {
    apply(m_initial);
    QSettings().remove(QStringLiteral("window"));
}

}  // namespace quantloupe::ui
