// SPDX-License-Identifier: Apache-2.0
#pragma once
// A thread with a queue of functions, and a reply queue: functions that it posts to its owner run on the
// owner's thread, and are discarded after the owner is destroyed. The destructor waits for the running
// function, so cancel it first.

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

    /// Runs `task` on the worker, after all tasks that were queued before.
    void post(std::function<void()> task);
    /// Can be called from the worker: runs `task` on the thread that created this object.
    void reply(std::function<void()> task);
    /// Ends the thread after the running task; called by the destructor.
    void stop();

  private:
    QThread m_thread;
    std::unique_ptr<TaskQueue> m_tasks;  ///< belongs to m_thread
    TaskQueue m_replies;
};

}  // namespace quantloupe::ui
