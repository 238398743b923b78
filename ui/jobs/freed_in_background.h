// SPDX-License-Identifier: Apache-2.0
#pragma once
// Frees large results without blocking the window.

#include <QRunnable>
#include <QThreadPool>
#include <memory>
#include <utility>

#include "base/tsan_annotations.h"

namespace quantloupe::ui {

/// Keeps a value until a thread of Qt's pool frees it.
template <typename T>
class Freeing : public QRunnable {
  public:
    explicit Freeing(std::shared_ptr<T> value) : m_value(std::move(value)) {}
    void run() override {
        annotateAcquire(this);
        m_value.reset();
    }

  private:
    std::shared_ptr<T> m_value;
};

/// Returns a pointer to the same value. Whichever thread releases it last, the value is freed on a thread of
/// Qt's pool, because freeing the results of a large network takes milliseconds.
template <typename T>
std::shared_ptr<T> freedInBackground(std::shared_ptr<T> value) {
    if (!value) return value;
    T* const address = value.get();
    return {address, [value = std::move(value)](T*) mutable {
                QThreadPool* pool = QThreadPool::globalInstance();
                if (pool == nullptr) return;  // the program is ending, and the value is freed here
                auto* last = new Freeing<T>(std::move(value));
                annotateRelease(last);
                pool->start(last);  // which deletes it
            }};
}

}  // namespace quantloupe::ui
