// SPDX-License-Identifier: Apache-2.0
#pragma once
// The kinds of data behind openDataset; one file each. Errors name what inside the path is wrong; openDataset
// adds the path.

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "data/dataset.h"
#include "model/constant.h"

namespace quantloupe {

/// A flat folder of images, or one with a folder a class.
DatasetPtr openImageFolder(const std::filesystem::path& folder, const std::vector<InputSpec>& inputs,
                           const Preprocess& preprocess);

/// A .npy (one input) or a .npz (arrays named after the inputs; "labels" optional; a single input's array may
/// also be called "arr_0", numpy's name for what was given none). The first dimension counts the samples.
DatasetPtr openArrays(const std::filesystem::path& file, const std::vector<InputSpec>& inputs);

/// Whether the folder is a test_data_set_* or holds such folders.
bool isOnnxTestData(const std::filesystem::path& folder);
/// input_0.pb, input_1.pb, ... of each test_data_set_*, in the order of the inputs; outputs are ignored. Each
/// row of the first dimension is a sample.
DatasetPtr openOnnxTestData(const std::filesystem::path& folder, const std::vector<InputSpec>& inputs);

}  // namespace quantloupe
