// SPDX-License-Identifier: Apache-2.0
#pragma once
// A thread with a queue of functions, and the way back: what it posts to its owner runs on the owner's
// thread, and is dropped once the owner is gone. The destructor waits for what is running: cancel it first.

#include <QThread>
#include <functional>
#include <memory>

#include "jobs/task_queue.h"

namespace quantloupe::ui {

class WorkerThread {
  public:
    explicit WorkerThread(const QString& name);
    ~WorkerThread();
    WorkerThread(const WorkerThread&) = delete;
    WorkerThread& operator=(const WorkerThread&) = delete;

    /// Runs `task` on the worker, after all that was queued before.
    void post(std::function<void()> task);
    /// Callable from the worker: runs `task` on the thread that made this object.
    void reply(std::function<void()> task);
    /// Ends the thread after what is running; called by the destructor.
    void stop();

  private:
    QThread m_thread;
    std::unique_ptr<TaskQueue> m_tasks;  ///< lives in m_thread
    TaskQueue m_replies;
};

}  // namespace quantloupe::ui
