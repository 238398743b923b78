// SPDX-License-Identifier: Apache-2.0
#include "jobs/worker_thread.h"

#include "base/handed_over.h"

namespace quantloupe::ui {

WorkerThread::WorkerThread(const QString& name) : m_context(new QObject) {
    m_thread.setObjectName(name);
    m_thread.setStackSize(16u << 20);  // shape inference and libgvc recurse
    m_context->moveToThread(&m_thread);
    m_thread.start();
}

WorkerThread::~WorkerThread() { stop(); }

void WorkerThread::stop() {
    if (!m_context) return;
    m_thread.quit();
    m_thread.wait();
    takeOver(this);
    delete m_context;  // its thread has ended; with it goes what was still queued
    m_context = nullptr;
}

void WorkerThread::post(std::function<void()> task) {
    if (!m_context) return;
    handOver(&m_thread);
    QMetaObject::invokeMethod(
        m_context,
        [this, task = std::move(task)] {
            takeOver(&m_thread);
            task();
            handOver(this);
        },
        Qt::QueuedConnection);
}

void WorkerThread::reply(std::function<void()> task) {
    handOver(this);
    QMetaObject::invokeMethod(
        this,
        [this, task = std::move(task)] {
            takeOver(this);
            task();
        },
        Qt::QueuedConnection);
}

}  // namespace quantloupe::ui
