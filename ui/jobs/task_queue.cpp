// SPDX-License-Identifier: Apache-2.0
#include "jobs/task_queue.h"

#include <QCoreApplication>
#include <QEvent>

#include "base/handed_over.h"

namespace quantloupe::ui {

void TaskQueue::post(std::function<void()> task) {
    {
        const std::lock_guard lock(m_mutex);
        m_tasks.push_back(std::move(task));
    }
    auto* wake = new QEvent(QEvent::User);
    handOver(this);
    QCoreApplication::postEvent(this, wake);
}

bool TaskQueue::event(QEvent* event) {
    takeOver(this);
    if (event->type() != QEvent::User) return QObject::event(event);
    std::function<void()> task;
    {
        const std::lock_guard lock(m_mutex);
        task = std::move(m_tasks.front());
        m_tasks.pop_front();
    }
    task();
    task = nullptr;
    handOver(this);
    return true;
}

}  // namespace quantloupe::ui
