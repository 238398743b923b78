// SPDX-License-Identifier: Apache-2.0
#pragma once
// The chunks of a dataset that a process computes, if several processes share the work
// (base/process_group.h). Chunks are dealt out in turn, so that the first ones, which are the rough samples,
// are spread over all processes, too.

#include <cstddef>

#include "base/process_group.h"

namespace quantloupe {

struct Shard {
    std::size_t index = 0, count = 1;

    bool owns(std::size_t chunk) const { return chunk % count == index; }
    /// Place of a chunk among those of its process, below slots().
    std::size_t slot(std::size_t chunk) const { return chunk / count; }
    /// The same in every process, although some may have one chunk less.
    std::size_t slots(std::size_t chunks) const { return (chunks + count - 1) / count; }
};

/// Returns the share of this process; everything without a group.
inline Shard shardOf(const ProcessGroup* group) {
    return group == nullptr ? Shard{} : Shard{group->rank(), group->size()};
}

}  // namespace quantloupe
