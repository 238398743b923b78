// SPDX-License-Identifier: Apache-2.0
#pragma once
// Quantizers that were found already: an edit elsewhere neither rounds a weight again nor solves a calibration again. One thread.

#include <memory>

#include "base/result_cache.h"
#include "quantize/layer_scheme.h"

namespace quantloupe {

class QuantizerCache {
  public:
    std::shared_ptr<const ConstantQuantizer> weight(const Constant& weight, const WeightScheme& scheme, int axis, TieRounding rounding);
    CalibrationResult activation(const TensorStatistics& statistics, const TensorCalibration& calibration);
    void clear();
    /// Drops what was unused for longest; returns the bytes of what is left.
    std::size_t shrink(std::size_t mostBytes);

  private:
    ResultCache<std::shared_ptr<const ConstantQuantizer>> m_weights{256};
    ResultCache<CalibrationResult> m_activations{4096};
};

}  // namespace quantloupe
