// SPDX-License-Identifier: Apache-2.0
#pragma once
// COCO's average precision of boxes, with the same results as pycocotools 2.0 (COCOeval, iouType "bbox", all
// areas):
// - IoU thresholds 0.50, 0.55, ..., 0.95; 101 recall points; at most 100 detections per image and category.
// - Detections are matched to labels in the order of their scores. A label of a crowd can be matched any
//   number of times, its overlap is the share of the detection inside it, and such detections do not count.
// - Labels whose area is outside of 0 to 1e10 do not count either, nor do detections that match them. A
//   detection without a match does not count if its own area is outside of this range.
// - The mean is over the categories that have labels. Equal scores rank by image id.
//
// T.-Y. Lin et al., "Microsoft COCO: Common Objects in Context", 2014.

#include <optional>
#include <span>

#include "analysis/detections.h"
#include "data/annotations.h"

namespace quantloupe {

inline constexpr std::size_t kIouThresholds = 10;
/// Returns 0.5 + 0.05 i, with the rounding of numpy's linspace.
double iouThreshold(std::size_t index);

/// A detection, with one bit per IoU threshold for whether it is matched and whether it is ignored.
struct MatchedDetection {
    double score = 0;
    std::uint32_t category = 0;
    std::uint16_t matched = 0, ignored = 0;
};

/// The contribution of an image to the average precision.
struct ImageMatches {
    std::int64_t image = 0;
    std::vector<MatchedDetection> detections;
    std::vector<std::uint32_t> labels;  ///< category of each label that counts
};
/// Returns whether a label counts: it is not a crowd, and its area is between 0 and 1e10.
bool counts(const LabeledBox& label);
/// Matches an image's detections. Both are in pixels of the original image; Detection::category is a position
/// in TaskLabels::categories.
ImageMatches matchImage(const SampleAnnotation& annotation, std::span<const Detection> detections);

struct CategoryPrecision {
    std::size_t category = 0, labels = 0;
    double ap = 0, ap50 = 0;
};

/// The average precision over many images. Sorts once, so leaving out groups of images is cheap.
class AveragePrecision {
  public:
    AveragePrecision(std::span<const ImageMatches> images, std::size_t categories);

    /// Results of the categories that have labels.
    std::vector<CategoryPrecision> byCategory() const { return precision(0, 0); }
    /// Return means over the categories; empty without labels.
    static std::optional<double> map(const std::vector<CategoryPrecision>& categories);
    static std::optional<double> map50(const std::vector<CategoryPrecision>& categories);
    /// Returns map() without the images whose index is `group` modulo `groups`, for each group.
    std::vector<double> mapWithoutGroups(std::size_t groups) const;

  private:
    struct Ranked {
        double score;
        std::size_t image;
        std::uint16_t matched, ignored;
    };
    /// `groups` 0: all images.
    std::vector<CategoryPrecision> precision(std::size_t groups, std::size_t group) const;

    std::vector<std::vector<Ranked>> m_ranked;            ///< by category, best first
    std::vector<std::vector<std::size_t>> m_labelImages;  ///< by category: the image of each label
};

}  // namespace quantloupe
