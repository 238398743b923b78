// SPDX-License-Identifier: Apache-2.0
#include "base/handed_over.h"

#if defined(__SANITIZE_THREAD__)
#include <sanitizer/tsan_interface.h>
#endif

namespace quantloupe {

#if defined(__SANITIZE_THREAD__)
void handOver(const void* place) { __tsan_release(const_cast<void*>(place)); }
void takeOver(const void* place) { __tsan_acquire(const_cast<void*>(place)); }
#else
void handOver(const void*) {}
void takeOver(const void*) {}
#endif

}  // namespace quantloupe
