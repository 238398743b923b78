// SPDX-License-Identifier: Apache-2.0
#pragma once
// Cache of computed quantizers, so that editing one layer does not round the weights or repeat the
// calibration of others. Not thread-safe.

#include <memory>

#include "base/result_cache.h"
#include "quantize/layer_scheme.h"

namespace quantloupe {

class QuantizerCache {
  public:
    std::shared_ptr<const ConstantQuantizer> weight(const Constant& weight, const WeightScheme& scheme,
                                                    int axis, TieRounding rounding);
    CalibrationResult activation(const TensorStatistics& statistics, const TensorCalibration& calibration);
    void clear();
    /// Drops the least recently used entries until at most `mostBytes` are left; returns the bytes left.
    std::size_t shrink(std::size_t mostBytes);

  private:
    ResultCache<std::shared_ptr<const ConstantQuantizer>> m_weights{256};
    ResultCache<CalibrationResult> m_activations{4096};
};

}  // namespace quantloupe
