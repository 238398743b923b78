// SPDX-License-Identifier: Apache-2.0
#pragma once
// What libraries built without ThreadSanitizer do to hand work from thread to thread (the event queue of Qt, the tasks of
// oneTBB) is invisible to it. These say it: all that a thread did before annotateRelease(place) is there for a thread after
// annotateAcquire(place). They order nothing by themselves, and without the sanitizer they do nothing.

namespace quantloupe {

void annotateRelease(const void* place);
void annotateAcquire(const void* place);

}  // namespace quantloupe
