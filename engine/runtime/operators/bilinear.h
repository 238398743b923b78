// SPDX-License-Identifier: Apache-2.0
#pragma once
// Linear interpolation in images: the weighted sum of four values in one step, in the order of ONNX Runtime's
// kernel, so that the results are the same to the last bit. Internal to Resize.

#include <memory>
#include <vector>

#include "runtime/operators/kernel.h"

namespace quantloupe {

struct BilinearAxis {
    std::size_t size = 0;            ///< in the input
    std::vector<float> coordinates;  ///< in the input, for each index of the output; clamped to the input
};

/// `outer`: number of images, whose rows and columns are successive axes in memory. `inner`: values per
/// pixel.
std::unique_ptr<Kernel> makeBilinearKernel(const BilinearAxis& rows, const BilinearAxis& columns,
                                           std::size_t outer, std::size_t inner);

}  // namespace quantloupe
