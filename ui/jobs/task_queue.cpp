// SPDX-License-Identifier: Apache-2.0
#include "jobs/task_queue.h"

#include <QCoreApplication>
#include <QEvent>
#include <atomic>

#include "base/tsan_annotations.h"

namespace quantloupe::ui {

namespace {
std::atomic<int> countOfUnfinished{0};
}

int TaskQueue::unfinished() { return countOfUnfinished.load(); }

TaskQueue::~TaskQueue() { countOfUnfinished -= static_cast<int>(m_tasks.size()); }

void TaskQueue::post(std::function<void()> task) {
    {
        const std::lock_guard lock(m_mutex);
        m_tasks.push_back(std::move(task));
        ++countOfUnfinished;
    }
    auto* wake = new QEvent(QEvent::User);
    annotateRelease(this);
    QCoreApplication::postEvent(this, wake);
}

bool TaskQueue::event(QEvent* event) {
    annotateAcquire(this);
    if (event->type() != QEvent::User) return QObject::event(event);
    std::function<void()> task;
    {
        const std::lock_guard lock(m_mutex);
        task = std::move(m_tasks.front());
        m_tasks.pop_front();
    }
    task();
    task = nullptr;
    --countOfUnfinished;
    annotateRelease(this);
    return true;
}

}  // namespace quantloupe::ui
