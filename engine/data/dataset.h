// SPDX-License-Identifier: Apache-2.0
#pragma once
// Samples: a folder of images, arrays (.npy, .npz) or ONNX test_data_set tensors, in a fixed order.
// A dataset is immutable; samples are decoded on request, on any thread.

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/cancel.h"
#include "base/version.h"
#include "data/annotations.h"
#include "data/preprocess.h"
#include "model/constant.h"
#include "model/data_type.h"
#include "model/graph.h"

namespace quantloupe {

/// One input of one sample, without the sample axis, row-major.
struct SampleTensor {
    DataType type = DataType::Float32;
    Dims dims;
    std::vector<std::byte> bytes;
};

/// What the network expects for a graph input.
struct InputSpec {
    std::string name;
    DataType type = DataType::Float32;
    Shape shape;                                ///< with the sample axis; empty if unknown
    std::optional<std::size_t> sampleAxis = 0;  ///< see model/sample_axes.h
};
std::vector<InputSpec> inputSpecsOf(const Graph& graph);

class Dataset {
  public:
    virtual ~Dataset() = default;

    virtual std::size_t size() const = 0;
    /// Returns one tensor per graph input, in the order of the specs. Throws Error naming the file of the
    /// sample.
    virtual std::vector<SampleTensor> sample(std::size_t index) const = 0;
    /// Relative path, or "row 17".
    virtual std::string sampleName(std::size_t index) const = 0;
    /// Returns the class; empty without labels.
    virtual std::optional<int> label(std::size_t index) const = 0;
    /// Returns the regression targets of a sample, without the sample axis; empty if there are none.
    virtual std::optional<SampleTensor> targets(std::size_t) const { return std::nullopt; }
    bool hasLabels() const { return size() > 0 && label(0).has_value(); }
    /// Names of the classes by index; empty if there are none.
    virtual const std::vector<std::string>& classNames() const = 0;
    /// The task and its labels if they were chosen, or are not one class per sample; null otherwise.
    virtual std::shared_ptr<const TaskLabels> taskLabels() const { return nullptr; }
    /// Null if there is none.
    virtual const SampleAnnotation* annotation(std::size_t) const { return nullptr; }
    /// "1,000 images in 10 classes".
    virtual std::string description() const = 0;
    /// Says which part of the data is not used; usually empty.
    virtual std::string notice() const { return {}; }
    /// Hash of the samples (paths, sizes and modification times, or content) and of their preprocessing.
    virtual Version version() const = 0;
};
using DatasetPtr = std::shared_ptr<const Dataset>;

/// Another dataset, of which subclasses change a part.
class DatasetView : public Dataset {
  public:
    explicit DatasetView(DatasetPtr dataset) : m_dataset(std::move(dataset)) {}

    std::size_t size() const override { return m_dataset->size(); }
    std::vector<SampleTensor> sample(std::size_t index) const override { return m_dataset->sample(index); }
    std::string sampleName(std::size_t index) const override { return m_dataset->sampleName(index); }
    std::optional<int> label(std::size_t index) const override { return m_dataset->label(index); }
    std::optional<SampleTensor> targets(std::size_t index) const override {
        return m_dataset->targets(index);
    }
    const std::vector<std::string>& classNames() const override { return m_dataset->classNames(); }
    std::shared_ptr<const TaskLabels> taskLabels() const override { return m_dataset->taskLabels(); }
    const SampleAnnotation* annotation(std::size_t index) const override {
        return m_dataset->annotation(index);
    }
    std::string description() const override { return m_dataset->description(); }
    std::string notice() const override { return m_dataset->notice(); }
    Version version() const override { return m_dataset->version(); }

  protected:
    DatasetPtr m_dataset;
};

/// Returns whether a vector for each sample can be class scores: unless the task is another one.
bool mayHaveClasses(const Dataset& data);
/// Returns whether the labels are 0 and 1, and both occur.
bool hasBinaryLabels(const Dataset& data);
/// Returns TaskSettings::classOutput.
std::string chosenClassOutput(const Dataset& data);

/// Opens the DATA argument of the command line: a folder with one subfolder per class (label = alphabetical
/// index), a flat folder of images, a .npy, a .npz (arrays named after the inputs, "labels" optional: one
/// class per sample, or one per token, N × T; others are ignored, see notice()) or a folder with
/// test_data_set_* (or such a folder itself). Images are ordered by relative path, bytewise; hidden files and
/// files with extensions other than .jpg, .jpeg and .png are ignored. The preprocessing is only applied to
/// images. Arrays of other number types are converted if every value can be represented. Throws Error for a
/// missing path, an empty folder, arrays that do not fit the inputs, or images if the network does not have a
/// single image-like input; Cancelled.
DatasetPtr openDataset(const std::filesystem::path& path, const std::vector<InputSpec>& inputs,
                       const Preprocess& preprocess, const CancelToken& cancel = {});

/// Returns a dataset of arrays in memory, which it shares: one per input, named after it (a single input's
/// array may be named "arr_0"), with the samples in its sample axis. `labels` are class indices, one per
/// sample or per token, or null. Numbers are converted as by openDataset(). Throws its errors for arrays that
/// do not fit.
DatasetPtr arrayDataset(const std::map<std::string, ConstantPtr>& arrays, const ConstantPtr& labels,
                        const std::vector<InputSpec>& inputs);

/// Returns `count` indices spread evenly: floor(i * size / count). All if count is 0 or above size. With
/// `together` above 1, takes whole groups of consecutive indices: at least `count` in all, if there are as
/// many.
std::vector<std::size_t> spreadEvenly(std::size_t size, std::size_t count, std::size_t together = 1);
/// Returns a view of some samples of another dataset, in the given order.
DatasetPtr subset(DatasetPtr dataset, std::vector<std::size_t> indices);
/// Splits data that is used for both purposes into {calibration, evaluation}: odd indices are for
/// calibration, even ones for evaluation, or with `together` above 1, every second group of consecutive
/// indices. A single sample or group is used for both.
std::pair<DatasetPtr, DatasetPtr> splitForCalibration(const DatasetPtr& dataset, std::size_t together = 1);

}  // namespace quantloupe
