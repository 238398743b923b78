// SPDX-License-Identifier: Apache-2.0
#pragma once
// The kinds of data that openDataset supports, each in its own file. Errors describe the problem inside the
// path; openDataset adds the path.

#include <filesystem>
#include <vector>

#include "data/dataset.h"
#include "model/constant.h"

namespace quantloupe {

/// Opens a flat folder of images, or a folder with one subfolder per class.
DatasetPtr openImageFolder(const std::filesystem::path& folder, const std::vector<InputSpec>& inputs,
                           const Preprocess& preprocess, const CancelToken& cancel);

/// Opens a .npy (one input) or a .npz (arrays named after the inputs; "labels" optional; a single input's
/// array may also be called "arr_0", numpy's default name), with the samples in the sample axis of the input.
/// If a sample is one set of inputs, several sets have one more dimension at the front.
DatasetPtr openArrays(const std::filesystem::path& file, const std::vector<InputSpec>& inputs);

/// Returns whether the folder is a test_data_set_* or contains such folders.
bool isOnnxTestData(const std::filesystem::path& folder);
/// Opens input_0.pb, input_1.pb, ... of each test_data_set_*, in the order of the inputs; outputs are
/// ignored. Each index of the sample axis is a sample.
DatasetPtr openOnnxTestData(const std::filesystem::path& folder, const std::vector<InputSpec>& inputs);

}  // namespace quantloupe
