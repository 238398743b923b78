// SPDX-License-Identifier: Apache-2.0
#pragma once
// Adds labels (a COCO file, a folder of label images or a list of classes) and class names to a dataset.

#include "data/dataset.h"

namespace quantloupe {

/// Returns the dataset with the labels of `settings`, or unchanged if there are none and the task is
/// automatic.
///
/// COCO: images are found by `file_name`, which may be the path relative to the data folder or only the name
/// of the file. Arrays have no names: row k belongs to the k-th image in the file. Label images: NAME.png for
/// the image NAME.jpg, in the same subfolder or at the top of the folder; for arrays, the PNG files in
/// alphabetical order. Lists of classes: see data/class_list.h. `preprocess` is the preprocessing of the
/// images. Throws Error naming the file if a sample has no labels.
DatasetPtr withTask(DatasetPtr dataset, const TaskSettings& settings, const Preprocess& preprocess);

/// Reads one class name per line; empty lines at the end are ignored. Throws Error naming the file.
std::vector<std::string> readClassNames(const std::filesystem::path& path);

}  // namespace quantloupe
