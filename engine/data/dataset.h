// SPDX-License-Identifier: Apache-2.0
#pragma once
// Samples: a folder of images, arrays (.npy, .npz) or ONNX test_data_set tensors, in a fixed order.
// A dataset is immutable; samples are decoded when asked for, from any thread.

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/version.h"
#include "data/preprocess.h"
#include "model/data_type.h"
#include "model/graph.h"

namespace quantloupe {

/// One input of one sample, without the batch dimension, row-major.
struct SampleTensor {
    DataType type = DataType::Float32;
    Dims dims;
    std::vector<std::byte> bytes;
};

/// What the network wants: one entry a graph input.
struct InputSpec {
    std::string name;
    DataType type = DataType::Float32;
    Shape shape;  ///< with the batch dimension first; empty if the model does not say
};
std::vector<InputSpec> inputSpecsOf(const Graph& graph);

class Dataset {
  public:
    virtual ~Dataset() = default;

    virtual std::size_t size() const = 0;
    /// One tensor a graph input, in the order of the specs. Throws Error naming the file of the sample.
    virtual std::vector<SampleTensor> sample(std::size_t index) const = 0;
    /// Relative path, or "row 17".
    virtual std::string sampleName(std::size_t index) const = 0;
    /// The class, where labels are known.
    virtual std::optional<int> label(std::size_t index) const = 0;
    bool hasLabels() const { return size() > 0 && label(0).has_value(); }
    /// Names of the classes by index; empty if they have none.
    virtual const std::vector<std::string>& classNames() const = 0;
    /// "1,000 images in 10 classes".
    virtual std::string description() const = 0;
    /// Hash of what the samples are (paths, sizes and times of change, or content) and how they are
    /// preprocessed.
    virtual Version version() const = 0;
};
using DatasetPtr = std::shared_ptr<const Dataset>;

/// Opens DATA as the command line means it: a folder with one subfolder a class (label = alphabetical index),
/// a flat folder of images, a .npy, a .npz (arrays named after the inputs, "labels" optional) or a folder
/// with test_data_set_* (or such a folder itself). Images are ordered by relative path, bytewise; hidden
/// files and files with other endings than .jpg, .jpeg and .png are passed over. The preprocessing is for
/// images alone. Arrays of other number types are converted where every value has a counterpart. Throws Error
/// for a missing path, an empty folder, arrays that do not fit the inputs, or images where the network does
/// not take one image-like input.
DatasetPtr openDataset(const std::filesystem::path& path, const std::vector<InputSpec>& inputs,
                       const Preprocess& preprocess);

/// `count` samples spread evenly over the order: index floor(i * size / count). All if count is 0 or beyond
/// size.
std::vector<std::size_t> spreadEvenly(std::size_t size, std::size_t count);
/// A view of some samples of another dataset, in the order given.
DatasetPtr subset(DatasetPtr dataset, std::vector<std::size_t> indices);
/// {calibration, evaluation} of data that serves for both: odd positions calibrate, even evaluate. A single
/// sample serves for both.
std::pair<DatasetPtr, DatasetPtr> splitForCalibration(const DatasetPtr& dataset);

}  // namespace quantloupe
