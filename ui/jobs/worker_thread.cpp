// SPDX-License-Identifier: Apache-2.0
#include "jobs/worker_thread.h"

#include "base/tsan_annotations.h"

namespace quantloupe::ui {

WorkerThread::WorkerThread(const QString& name) : m_tasks(std::make_unique<TaskQueue>()) {
    m_thread.setObjectName(name);
    m_thread.setStackSize(16u << 20);  // shape inference and libgvc recurse
    m_tasks->moveToThread(&m_thread);
    m_thread.start();
}

WorkerThread::~WorkerThread() { stop(); }

void WorkerThread::stop() {
    if (!m_tasks) return;
    m_thread.quit();
    m_thread.wait();
    annotateAcquire(m_tasks.get());
    m_tasks.reset();  // its thread has ended; this discards the tasks that were still queued
}

void WorkerThread::post(std::function<void()> task) {
    if (m_tasks) m_tasks->post(std::move(task));
}

void WorkerThread::reply(std::function<void()> task) { m_replies.post(std::move(task)); }

}  // namespace quantloupe::ui
