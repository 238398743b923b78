// SPDX-License-Identifier: Apache-2.0
// Shrinks the full range in equal steps and chooses the range whose quantizer has the smallest mean squared
// error. Both ends shrink by the same ratio. Computed on a histogram with the closed form of histogram_loss.h
// and the rounded zero point. Source: common practice (pytorch-quantization's "mse" calibrator, min-MSE
// clipping in ACIQ, Banner et al. 2019); does not reproduce a particular tool. Cost: candidates * bins.
// Weakness: the error of the tensor is not the error of the network.
#include <fmt/format.h>

#include <cmath>

#include "quantize/calibration/calibration_method.h"
#include "quantize/calibration/histogram_loss.h"

namespace quantloupe {

CalibrationResult solveMse(const TensorStatistics& statistics, const ActivationScheme& scheme,
                           const CalibrationParameters& parameters) {
    const auto [start, end] = *parameters.searchRange;
    const double step = *parameters.searchStep;
    const HistogramLoss loss(*statistics.distribution);
    CalibrationResult result;
    // The tolerance includes the upper bound although 0.2 + 80 * 0.01 is not exact in binary.
    result.candidates = static_cast<int>(std::floor((end - start) / step + 1e-6)) + 1;
    for (int i = 0; i < result.candidates; ++i) {
        const auto ratio = static_cast<float>(start + i * step);
        const TensorQuantizer quantizer =
            quantizerForRange(ratio * statistics.min, ratio * statistics.max, scheme);
        const FakeQuant q = quantizer.fakeQuant();
        const double scale = q.scale;
        const double here = loss({scale, q.low * scale, q.high * scale});
        if (result.index >= 0 && here >= result.loss) continue;
        result.loss = here;
        result.index = i;
        result.quantizer = quantizer;
    }
    result.approximate = true;
    if (result.index == 0 && result.candidates > 1)
        result.notice = fmt::format(
            "the best range is at the lower edge of the search range, {} of the full range; lower the start "
            "of search_range",
            start);
    else if (result.index == result.candidates - 1 && result.candidates > 1 && end < 1)
        result.notice = fmt::format(
            "the best range is at the upper edge of the search range, {} of the full range; raise the end of "
            "search_range",
            end);
    return result;
}

}  // namespace quantloupe
