// SPDX-License-Identifier: Apache-2.0
// The moving averages of the samples' minima and maxima: m = (1 - c) m + c x in the order of the samples,
// starting with the first. c = 0 gives the plain mean, which is what ONNX Runtime's quantize_static computes
// for CalibMovingAverage (it applies its constant only between groups of CalibMaxIntermediateOutputs samples,
// and there is a single group unless that is set). Sources: PyTorch's MovingAverageMinMaxObserver, ONNX
// Runtime's calibrate.py. Weakness: half of the samples are clipped, and with a large c the result depends on
// the last few samples. Cost: as min_max.
#include <fmt/format.h>

#include "quantize/calibration/calibration_method.h"

namespace quantloupe {

CalibrationResult solveMovingAverage(const TensorStatistics& statistics, const ActivationScheme& scheme,
                                     const CalibrationParameters& parameters) {
    CalibrationResult result;
    const auto [min, max] = statistics.history.average(*parameters.averagingConstant);
    result.quantizer = quantizerForRange(min, max, scheme);
    if (statistics.history.samples() > RangeHistory::kMaxEntries)
        result.notice =
            fmt::format("with more than {} samples, neighboring samples are averaged in groups first",
                        RangeHistory::kMaxEntries);
    return result;
}

}  // namespace quantloupe
