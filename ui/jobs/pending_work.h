// SPDX-License-Identifier: Apache-2.0
#pragma once
// Tells whether the window shows everything: a screenshot waits for this instead of a fixed time.

#include <QTimer>

namespace quantloupe::ui {

/// A single-shot timer for work, usually a query to the engine, that waits until the user has stopped for a
/// moment. While it runs, workPending() is true. GUI thread.
class Delay : public QTimer {
  public:
    explicit Delay(int milliseconds);
    ~Delay() override;
    Delay(const Delay&) = delete;
    Delay& operator=(const Delay&) = delete;
};

/// Whether a function waits or runs in any TaskQueue (evaluations, queries, layouts, thumbnails and their
/// results), or a Delay is about to start more of them. GUI thread.
bool workPending();

}  // namespace quantloupe::ui
