// SPDX-License-Identifier: Apache-2.0
#pragma once
// The task of a network, and the labels that its outputs are compared with.

#include <array>
#include <filesystem>
#include <string>
#include <string_view>

namespace quantloupe {

enum class Task {
    Automatic,
    Classification,
    Detection,
    Segmentation,
    Regression,  ///< a vector for each sample is not a vector of class scores
    Tokens,      ///< one class for each token of a sequence: language models, token classification
};
/// Whether a sample has labels of its own kind instead of a class: boxes, label images, or one class per
/// token.
constexpr bool isGraded(Task task) {
    return task == Task::Detection || task == Task::Segmentation || task == Task::Tokens;
}

/// How the class indices of a detector relate to the categories of a COCO file.
enum class CategoryIndex {
    Automatic,  ///< usual meaning for the decoder, unless the number of classes contradicts it
    Position,   ///< class k is the category with the k-th smallest id (YOLO)
    Id,         ///< class k is the category with the id k (torchvision, DETR)
};

struct TaskSettings {
    Task task = Task::Automatic;
    std::filesystem::path labels;      ///< see data/labeled_dataset.h; empty: labels of the data
    std::filesystem::path classNames;  ///< text file with one name per line; empty: none
    std::string decoder;               ///< see analysis/box_decoders.h; empty: chosen from the outputs
    CategoryIndex categories = CategoryIndex::Automatic;
    /// The output with the scores of the classes (analysis/class_output.h), also of each token; empty: chosen
    /// from the outputs.
    std::string classOutput = {};
    bool operator==(const TaskSettings&) const = default;
};

/// The names in options and files, in the order of the values.
inline constexpr std::array<std::string_view, 6> kTaskNames = {"auto",         "classification", "detection",
                                                               "segmentation", "regression",     "tokens"};
inline constexpr std::array<std::string_view, 3> kCategoryIndexNames = {"auto", "position", "id"};

}  // namespace quantloupe
