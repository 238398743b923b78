// SPDX-License-Identifier: Apache-2.0
#pragma once
// Mean intersection over union and pixel accuracy of segmentation.
//
// Per class, over all pixels of all images: IoU = pixels of the class in both / pixels of the class in either
// one. The mean is over the classes that occur in the labels or in the prediction (torchvision's reference
// gives NaN if one does not). Pixels with the label 255 do not count, nor do labels beyond the classes.

#include <optional>
#include <span>

#include "analysis/detections.h"
#include "data/annotations.h"

namespace quantloupe {

/// Returns the predicted class of each pixel: the index of the largest channel of C × H × W (the first one if
/// there are ties), for one channel whether it is above 0, or the values of H × W. Throws Error for other
/// shapes, and for values of H × W that are not classes.
LabelImage predictedClasses(const SampleOutput& output);
/// Number of classes of a C × H × W output, 2 for one channel; 0 if the values are classes.
std::size_t classesOfMap(const Dims& dims);

/// Returns the label of each pixel of a `width` × `height` map: that of the original pixel in which the
/// center of the map's pixel is (nearest neighbor). `toInput` maps original pixels to the network's input.
/// Pixels beyond the label image get the ignored class.
LabelImage resampledLabels(const LabelImage& labels, const ImageGeometry& toInput, int inputWidth,
                           int inputHeight, int width, int height);

/// Pixels of an image, or of many.
struct PixelCounts {
    std::vector<std::uint64_t> both, predicted, labeled;  ///< by class
    std::uint64_t beyond = 0;                             ///< labels beyond the classes, except ignored ones

    void add(const PixelCounts& other);
    void subtract(const PixelCounts& other);
    /// Empty without pixels that count.
    std::optional<double> meanIou() const;
    std::optional<double> accuracy() const;
    /// Empty if the class does not occur.
    std::optional<double> iou(std::size_t category) const;
};
/// Throws Error unless both have the same size. `classes` 0: as many as occur.
PixelCounts countPixels(const LabelImage& predicted, const LabelImage& labels, std::size_t classes);

}  // namespace quantloupe
