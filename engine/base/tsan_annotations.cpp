// SPDX-License-Identifier: Apache-2.0
#include "base/tsan_annotations.h"

#if defined(__SANITIZE_THREAD__)
#include <sanitizer/tsan_interface.h>
#endif

namespace quantloupe {

#if defined(__SANITIZE_THREAD__)
void annotateRelease(const void* place) { __tsan_release(const_cast<void*>(place)); }
void annotateAcquire(const void* place) { __tsan_acquire(const_cast<void*>(place)); }
#else
void annotateRelease(const void*) {}
void annotateAcquire(const void*) {}
#endif

}  // namespace quantloupe
