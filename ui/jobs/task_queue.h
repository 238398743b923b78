// SPDX-License-Identifier: Apache-2.0
#pragma once
// A queue of functions for the thread that this object belongs to. The thread's event loop runs them one by
// one, in order, and destroys them on this thread. Functions that are still waiting when the object is
// destroyed are destroyed with it.
//
// QMetaObject::invokeMethod is not used because with it, either thread may destroy the function and its
// captures.

#include <QObject>
#include <deque>
#include <functional>
#include <mutex>

namespace quantloupe::ui {

class TaskQueue : public QObject {
  public:
    ~TaskQueue() override;
    /// The number of functions in all queues that wait or run. Any thread.
    static int unfinished();
    /// Any thread.
    void post(std::function<void()> task);

  protected:
    bool event(QEvent* event) override;

  private:
    std::mutex m_mutex;
    std::deque<std::function<void()>> m_tasks;
};

}  // namespace quantloupe::ui
