// SPDX-License-Identifier: Apache-2.0
#pragma once
// Labels that consist of more than one class per sample: boxes (COCO), label images, and one class per token.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "data/image_geometry.h"
#include "data/task_settings.h"

namespace quantloupe {

/// A labeled object, in pixels of the original image.
struct LabeledBox {
    double x = 0, y = 0, width = 0, height = 0;
    double area = 0;           ///< from the file, or the area of the box if the file has none
    bool crowd = false;        ///< COCO's iscrowd: several objects in one box
    std::size_t category = 0;  ///< position in TaskLabels::categories
    bool operator==(const LabeledBox&) const = default;
};

struct SampleAnnotation {
    std::int64_t image = 0;     ///< COCO's image id; otherwise the position among the samples
    int width = 0, height = 0;  ///< of the original image; 0: unknown
    std::vector<LabeledBox> boxes;
    std::filesystem::path labelImage;  ///< segmentation; empty: none
    std::vector<std::int32_t> tokens;  ///< one class per token, negative: ignored; empty: none
};

struct Category {
    std::int64_t id = 0;
    std::string name;
};

/// Labeling that is shared by all samples of a dataset.
struct TaskLabels {
    TaskSettings settings;
    Task task = Task::Automatic;           ///< never Automatic if there are labels
    std::vector<Category> categories;      ///< of the COCO file, by id
    std::optional<Preprocess> preprocess;  ///< of images; empty: the data are arrays
    bool labeled = false;                  ///< whether each sample has a SampleAnnotation
};

/// The contents of a COCO file ("instances").
struct CocoFile {
    struct Labeled {
        std::string fileName;
        SampleAnnotation annotation;
    };
    std::vector<Category> categories;  ///< by id
    std::vector<Labeled> images;       ///< in the order of the file
};
/// Reads a COCO file. Throws Error, naming the file and the entry, for missing or invalid values, duplicate
/// ids, and references to an image or category that is not listed. Other keys are ignored.
CocoFile readCoco(const std::filesystem::path& path);

/// One class index per pixel.
struct LabelImage {
    int width = 0, height = 0;
    std::vector<std::uint16_t> classes;  ///< row by row
};
inline constexpr std::uint16_t kIgnoredClass = 255;

/// Reads a gray or palette PNG: the value or the palette index of a pixel is its class. Throws Error naming
/// the file; a color image is not a label image.
LabelImage readLabelImage(const std::filesystem::path& path);

}  // namespace quantloupe
