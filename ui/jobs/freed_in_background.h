// SPDX-License-Identifier: Apache-2.0
#pragma once
// Frees large results without blocking the window.

#include <QThreadPool>
#include <memory>
#include <utility>

namespace quantloupe::ui {

/// Returns a pointer to the same value. Whichever thread releases it last, the value is freed on a thread of
/// Qt's pool, because freeing the results of a large network takes milliseconds.
template <typename T>
std::shared_ptr<T> freedInBackground(std::shared_ptr<T> value) {
    if (!value) return value;
    T* const address = value.get();
    return {address, [value = std::move(value)](T*) mutable {
                // Without a pool, the program is ending, and the value is freed here.
                if (QThreadPool* pool = QThreadPool::globalInstance())
                    pool->start([last = std::move(value)] {});
            }};
}

}  // namespace quantloupe::ui
