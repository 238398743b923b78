// SPDX-License-Identifier: Apache-2.0
#include "data/dataset.h"

#include "base/error.h"
#include "base/rethrow.h"
#include "data/dataset_sources.h"
#include "data/with_thousands.h"
#include "model/sample_axes.h"

namespace quantloupe {

namespace {

namespace fs = std::filesystem;

class Subset : public DatasetView {
  public:
    Subset(DatasetPtr dataset, std::vector<std::size_t> indices)
        : DatasetView(std::move(dataset)), m_indices(std::move(indices)) {
        for (const std::size_t index : m_indices)
            if (index >= m_dataset->size())
                fail(ErrorKind::Internal, "sample {} was requested from a dataset of {}", index,
                     m_dataset->size());
    }

    std::size_t size() const override { return m_indices.size(); }
    std::vector<SampleTensor> sample(std::size_t index) const override {
        return m_dataset->sample(m_indices[index]);
    }
    std::string sampleName(std::size_t index) const override {
        return m_dataset->sampleName(m_indices[index]);
    }
    std::optional<int> label(std::size_t index) const override { return m_dataset->label(m_indices[index]); }
    std::optional<SampleTensor> targets(std::size_t index) const override {
        return m_dataset->targets(m_indices[index]);
    }
    const SampleAnnotation* annotation(std::size_t index) const override {
        return m_dataset->annotation(m_indices[index]);
    }
    std::string description() const override {
        return fmt::format("{} of {}", withThousands(m_indices.size()), m_dataset->description());
    }
    Version version() const override {
        VersionBuilder version;
        version.add("subset").add(m_dataset->version());
        version.addBytes(m_indices.data(), m_indices.size() * sizeof(std::size_t));
        return version.finish();
    }

  private:
    std::vector<std::size_t> m_indices;
};

DatasetPtr openByKind(const fs::path& path, const std::vector<InputSpec>& inputs,
                      const Preprocess& preprocess, const CancelToken& cancel) {
    if (!fs::exists(path)) fail(ErrorKind::Io, "there is no such file or folder");
    if (inputs.empty()) failInput("the network has no inputs");
    if (fs::is_directory(path))
        return isOnnxTestData(path) ? openOnnxTestData(path, inputs)
                                    : openImageFolder(path, inputs, preprocess, cancel);
    if (path.extension() == ".npy" || path.extension() == ".npz") return openArrays(path, inputs);
    failInput(
        "this is not a supported data format: choose a folder of images, a .npy, a .npz or a test_data_set_* "
        "folder");
}

}  // namespace

bool mayHaveClasses(const Dataset& data) {
    const auto labels = data.taskLabels();
    return !labels || labels->task == Task::Automatic || labels->task == Task::Classification;
}

bool hasBinaryLabels(const Dataset& data) {
    bool found[2] = {};
    for (std::size_t s = 0; s < data.size(); ++s) {
        const auto label = data.label(s);
        if (!label) continue;
        if (*label != 0 && *label != 1) return false;
        found[*label] = true;
    }
    return found[0] && found[1];
}

std::string chosenClassOutput(const Dataset& data) {
    const auto labels = data.taskLabels();
    return labels ? labels->settings.classOutput : std::string();
}

std::vector<InputSpec> inputSpecsOf(const Graph& graph) {
    const SampleAxes axes = sampleAxes(graph);
    std::vector<InputSpec> specs;
    for (std::size_t i = 0; i < axes.size(); ++i) {
        const TensorInfo& tensor = graph.tensor(graph.inputs()[i]);
        specs.push_back({tensor.name, tensor.type, tensor.shape.value_or(Shape()), axes[i]});
    }
    return specs;
}

DatasetPtr openDataset(const fs::path& path, const std::vector<InputSpec>& inputs,
                       const Preprocess& preprocess, const CancelToken& cancel) try {
    return openByKind(path, inputs, preprocess, cancel);
} catch (...) {
    rethrowFileError(fmt::format("data '{}'", path.string()));
}

std::vector<std::size_t> spreadEvenly(std::size_t size, std::size_t count, std::size_t together) {
    if (count == 0 || count > size) count = size;
    const std::size_t groups = (size + together - 1) / together, taken = (count + together - 1) / together;
    std::vector<std::size_t> indices;
    indices.reserve(count);
    for (std::size_t i = 0; i < taken; ++i) {
        const std::size_t first = i * groups / taken * together;
        for (std::size_t k = first; k < std::min(first + together, size); ++k) indices.push_back(k);
    }
    return indices;
}

DatasetPtr subset(DatasetPtr dataset, std::vector<std::size_t> indices) {
    return std::make_shared<Subset>(std::move(dataset), std::move(indices));
}

std::pair<DatasetPtr, DatasetPtr> splitForCalibration(const DatasetPtr& dataset, std::size_t together) {
    if (dataset->size() <= together) return {dataset, dataset};
    std::vector<std::size_t> even, odd;
    for (std::size_t i = 0; i < dataset->size(); ++i) (i / together % 2 == 0 ? even : odd).push_back(i);
    return {subset(dataset, std::move(odd)), subset(dataset, std::move(even))};
}

}  // namespace quantloupe
