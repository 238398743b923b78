// SPDX-License-Identifier: Apache-2.0
#pragma once
// Functions that wait for the thread that this object lives in; its event loop runs them one by one, in
// order, and drops them there. What still waits when the object goes is dropped with it.
//
// QMetaObject::invokeMethod does the same but for one thing: whichever thread is later drops the function and
// all it holds.

#include <QObject>
#include <deque>
#include <functional>
#include <mutex>

namespace quantloupe::ui {

class TaskQueue : public QObject {
  public:
    /// Any thread.
    void post(std::function<void()> task);

  protected:
    bool event(QEvent* event) override;

  private:
    std::mutex m_mutex;
    std::deque<std::function<void()>> m_tasks;
};

}  // namespace quantloupe::ui
