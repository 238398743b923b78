// SPDX-License-Identifier: Apache-2.0
#include "jobs/pending_work.h"

#include <algorithm>
#include <vector>

#include "jobs/task_queue.h"

namespace quantloupe::ui {

namespace {

std::vector<const Delay*>& delays() {
    static std::vector<const Delay*> all;
    return all;
}

}  // namespace

Delay::Delay(int milliseconds) {
    setSingleShot(true);
    setInterval(milliseconds);
    delays().push_back(this);
}

Delay::~Delay() { std::erase(delays(), this); }

bool workPending() {
    return TaskQueue::unfinished() > 0 ||
           std::ranges::any_of(delays(), [](const Delay* delay) { return delay->isActive(); });
}

}  // namespace quantloupe::ui
