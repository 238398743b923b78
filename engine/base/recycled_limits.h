// SPDX-License-Identifier: Apache-2.0
#pragma once
// How much memory waits for its next taker (recycled_memory.h), in the whole process.

#include <cstddef>

namespace quantloupe {

/// Bytes of blocks that wait. Any thread.
std::size_t recycledBytes();
/// Gives blocks back to the system if more than `most` bytes wait, now and from now on. Any thread.
void limitRecycledBytes(std::size_t most);

}  // namespace quantloupe
