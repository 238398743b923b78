// SPDX-License-Identifier: Apache-2.0
#pragma once
// Mean intersection over union and pixel accuracy of segmentation.
//
// For each class, over all pixels of all images: IoU = pixels that have the class in both label and
// prediction / pixels that have it in at least one of them. The mean is over the classes that occur in the
// labels or in the prediction (in torchvision's reference, a class that does not occur gives NaN). Pixels
// with the label 255, or with a label that is not a class of the network, do not count.

#include <optional>

#include "analysis/detections.h"
#include "data/annotations.h"

namespace quantloupe {

/// The predicted class of a pixel whose outputs are all NaN: wrong whatever the label is.
inline constexpr std::uint16_t kNoPixelClass = 65535;

/// Returns the predicted class of each pixel: for C × H × W the index of the largest channel (the first one
/// for ties), for one channel whether it is above `threshold`, and for H × W the value. Throws Error for
/// other shapes, and for values of H × W that are not classes.
LabelImage predictedClasses(const SampleOutput& output, float threshold = 0);
/// Whether the output has one channel, whose value decides between two classes.
bool hasOneChannel(const Dims& dims);
/// Returns the number of classes of a C × H × W output, 2 for one channel; 0 if the values are classes.
std::size_t classesOfMap(const Dims& dims);

/// Returns the label of each pixel of a `width` × `height` map: the label of the original pixel that contains
/// the center of the map's pixel (nearest neighbor). `toInput` maps original pixels to the network's input.
/// Pixels outside the label image get the ignored class.
LabelImage resampledLabels(const LabelImage& labels, const ImageGeometry& toInput, int inputWidth,
                           int inputHeight, int width, int height);

/// Pixel counts of one image or of many.
struct PixelCounts {
    std::vector<std::uint64_t> both, predicted, labeled;  ///< by class
    std::uint64_t beyond = 0;  ///< labels without a class of the network, not ignored

    void add(const PixelCounts& other);
    void subtract(const PixelCounts& other);
    /// Empty if no pixels count.
    std::optional<double> meanIou() const;
    std::optional<double> accuracy() const;
    /// Empty if the class does not occur.
    std::optional<double> iou(std::size_t category) const;
};
/// Counts the pixels of one image. `classes` 0: as many classes as occur. Throws Error unless both images
/// have the same size.
PixelCounts countPixels(const LabelImage& predicted, const LabelImage& labels, std::size_t classes);

}  // namespace quantloupe
