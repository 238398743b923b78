// SPDX-License-Identifier: Apache-2.0
#pragma once
// ThreadSanitizer does not see how libraries built without it (Qt's event queue, oneTBB's tasks) synchronize
// threads. These annotations declare it: everything a thread did before annotateRelease(place) happens before
// what a thread does after annotateAcquire(place). They synchronize nothing themselves and do nothing without
// the sanitizer.

namespace quantloupe {

void annotateRelease(const void* place);
void annotateAcquire(const void* place);

}  // namespace quantloupe
