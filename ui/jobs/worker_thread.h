// SPDX-License-Identifier: Apache-2.0
#pragma once
// A thread with a queue of functions, and the way back: what it posts to its owner runs on the owner's
// thread, and is dropped once the owner is gone. The destructor waits for what is running: cancel it first.

#include <QObject>
#include <QThread>
#include <functional>

namespace quantloupe::ui {

class WorkerThread : public QObject {
  public:
    explicit WorkerThread(const QString& name);
    ~WorkerThread() override;

    /// Runs `task` on the worker, after all that was queued before.
    void post(std::function<void()> task);
    /// Callable from the worker: runs `task` on the thread that made this object.
    void reply(std::function<void()> task);
    /// Ends the thread after what is running; called by the destructor.
    void stop();

  private:
    QThread m_thread;
    QObject* m_context;  ///< lives in m_thread; its event queue is the task queue
};

}  // namespace quantloupe::ui
