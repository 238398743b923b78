// SPDX-License-Identifier: Apache-2.0
#include "runtime/integer/segment_tiles.h"

#include <vector>

#include "runtime/instruction_sets.h"

namespace quantloupe {

std::span<const SegmentTiles* const> segmentTiles() {
    static const std::vector<const SegmentTiles*> all = [] {
        std::vector<const SegmentTiles*> result;
#if defined(__x86_64__)
        const InstructionSets& sets = instructionSets();
        if (sets.amx) result.push_back(&amxSegmentTiles());
        if (sets.avx512Vnni) result.push_back(&avx512VnniSegmentTiles());
        if (sets.avxVnni && !sets.avx512Vnni) result.push_back(&avxVnniSegmentTiles());
#endif
        return result;
    }();
    return all;
}

}  // namespace quantloupe
