// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the network's outputs are worth: top-1, top-5, agreement, intervals; the quality of images. SQNR and cosine of
// outputs are tensor_metrics.h's.

#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/tensor_metrics.h"

namespace quantloupe {

/// The verdict on one sample.
struct SampleVerdict {
    std::int32_t predicted = -1;  ///< index of the largest output, the first of equals
    bool top5 = false;            ///< the label is among the five largest
};

/// `label` empty: top5 stays false. Ties rank by index. NaN counts as smallest.
SampleVerdict judge(const float* outputs, std::size_t classes, std::optional<int> label);

/// Verdicts counted, mergeable. Rates are 0 to 1 and empty where there is nothing to take them of.
struct TaskCounts {
    std::size_t samples = 0, labelled = 0, top1 = 0, top5 = 0, agreeing = 0;

    /// `floating`: the class that the float model predicts.
    void add(const SampleVerdict& verdict, std::int32_t floating, std::optional<int> label);
    void merge(const TaskCounts& other);

    std::optional<double> top1Rate() const;  ///< of the labelled samples
    std::optional<double> top5Rate() const;
    std::optional<double> agreement() const;  ///< of all samples
};

/// 95 % Wilson score interval of `hits` out of `samples` (E. B. Wilson, 1927). The whole range without samples.
RateInterval wilsonInterval(std::size_t hits, std::size_t samples);

/// For networks that make images (super-resolution, denoising, segmentation maps), against the float model's.
struct ImageQuality {
    double mse = 0;     ///< mean squared error over all elements of all samples, in the output's unit squared
    double psnrDb = 0;  ///< 10 log10(peak^2 / mse); infinite where nothing differs
};

/// `peak` is the largest value that the output can take, above 0 (1 or 255; without such a scale the span of the float
/// outputs). MSE is pooled before the logarithm is taken: the mean of each image's PSNR is never less (Jensen). Throws
/// Error for a peak that is not above 0. Without elements as where nothing differs.
ImageQuality imageQuality(const DifferenceSums& outputs, double peak);

}  // namespace quantloupe
