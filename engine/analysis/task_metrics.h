// SPDX-License-Identifier: Apache-2.0
#pragma once
// Metrics of the task: top-1, top-5, agreement and their intervals; quality of images. SQNR and cosine of the
// outputs are in tensor_metrics.h.

#include <cstdint>
#include <optional>

#include "analysis/tensor_metrics.h"

namespace quantloupe {

/// The predicted class if all outputs are NaN. No label equals it (-1 stands for an unlabeled sample).
constexpr std::int32_t kNoClass = -2;

/// The verdict on one sample.
struct SampleVerdict {
    /// Index of the largest output, the first one if there are ties; kNoClass without a largest output.
    std::int32_t predicted = kNoClass;
    bool top5 = false;  ///< the label is among the five largest
};

/// Judges one sample with these scores. Without `label`, top5 is false. Ties rank by index. NaN ranks lowest.
/// A single score means class 1 if it is above `threshold`, otherwise class 0.
SampleVerdict judge(const float* outputs, std::size_t scores, std::optional<int> label, float threshold = 0);

/// Counts of verdicts. Rates are 0 to 1, and empty without samples.
struct TaskCounts {
    std::size_t samples = 0, labeled = 0, top1 = 0, top5 = 0, agreeing = 0;

    /// Adds a verdict. `floating` is the class that the float model predicts.
    void add(const SampleVerdict& verdict, std::int32_t floating, std::optional<int> label);

    std::optional<double> top1Rate() const;  ///< of the labeled samples
    std::optional<double> top5Rate() const;
    std::optional<double> agreement() const;  ///< of all samples
};

/// Returns the 95 % Wilson score interval of `hits` out of `samples` (E. B. Wilson, 1927). Without samples, 0
/// to 1.
RateInterval wilsonInterval(std::size_t hits, std::size_t samples);

/// Quality of output images (super-resolution, denoising, segmentation maps) against those of the float
/// model.
struct ImageQuality {
    double mse = 0;     ///< mean squared error over all elements of all samples, in the output's unit squared
    double psnrDb = 0;  ///< 10 log10(peak^2 / mse); infinite if nothing differs
};

/// Computes the quality. `peak` is the largest value that the output can have (1 or 255, or otherwise the
/// span of the float outputs). The MSE is averaged over all images before the logarithm; the mean of the
/// PSNRs of the images is never smaller (Jensen). Throws Error unless the peak is above 0. Without elements,
/// the result is as if nothing differed.
ImageQuality imageQuality(const DifferenceSums& outputs, double peak);

}  // namespace quantloupe
