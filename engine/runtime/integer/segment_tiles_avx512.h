// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/integer/segment_tiles.h"

namespace quantloupe {

/// SegmentTiles::store with AVX-512 (F, BW, VL).
void storeSegmentsAvx512(const SegmentStore& store);

}  // namespace quantloupe
