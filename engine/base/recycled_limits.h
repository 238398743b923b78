// SPDX-License-Identifier: Apache-2.0
#pragma once
// The process-wide limit on memory kept for reuse (recycled_memory.h).

#include <cstddef>

namespace quantloupe {

/// Bytes in blocks kept for reuse. Any thread.
std::size_t recycledBytes();
/// Returns blocks to the system whenever more than `most` bytes are kept for reuse, now and from now on. Any
/// thread.
void limitRecycledBytes(std::size_t most);

}  // namespace quantloupe
