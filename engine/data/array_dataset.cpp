// SPDX-License-Identifier: Apache-2.0
// Arrays as a dataset. The arrays stay where they are, in memory or in a numpy file.

#include <algorithm>
#include <limits>

#include "base/error.h"
#include "base/short_text.h"
#include "data/array_rows.h"
#include "data/dataset_sources.h"
#include "data/numpy_file.h"
#include "data/with_thousands.h"

namespace quantloupe {

namespace {

constexpr const char* kLabels = "labels";

class ArrayDataset : public Dataset {
  public:
    ArrayDataset(std::vector<InputSpec> inputs, std::vector<ConstantPtr> arrays, std::size_t samples,
                 std::vector<int> labels, std::string notice)
        : m_inputs(std::move(inputs)),
          m_arrays(std::move(arrays)),
          m_labels(std::move(labels)),
          m_notice(std::move(notice)),
          m_size(samples) {
        VersionBuilder version;
        version.add("arrays");
        for (std::size_t i = 0; i < m_arrays.size(); ++i)
            version.add(m_inputs[i].name).add(m_inputs[i].type).add(m_arrays[i]->version());
        for (const int label : m_labels) version.add(label);
        m_version = version.finish();
    }

    std::size_t size() const override { return m_size; }
    std::vector<SampleTensor> sample(std::size_t index) const override {
        std::vector<SampleTensor> tensors;
        try {
            for (std::size_t i = 0; i < m_arrays.size(); ++i)
                tensors.push_back(sampleOf(m_arrays[i], index, m_inputs[i]));
        } catch (Error& error) {
            error.addContext(sampleName(index));
            throw;
        }
        return tensors;
    }
    std::string sampleName(std::size_t index) const override { return fmt::format("row {}", index); }
    std::optional<int> label(std::size_t index) const override {
        return m_labels.empty() ? std::nullopt : std::optional<int>(m_labels[index]);
    }
    const std::vector<std::string>& classNames() const override {
        static const std::vector<std::string> none;
        return none;
    }
    std::string description() const override {
        return fmt::format("{} {}{}", withThousands(m_size), m_size == 1 ? "row" : "rows",
                           m_labels.empty() ? "" : " with labels");
    }
    std::string notice() const override { return m_notice; }
    Version version() const override { return m_version; }

  private:
    std::vector<InputSpec> m_inputs;
    std::vector<ConstantPtr> m_arrays;  // one per input
    std::vector<int> m_labels;          // empty, or one per row
    std::string m_notice;
    std::size_t m_size;
    Version m_version;
};

bool isOnePerSample(const Constant& labels, std::size_t samples) {
    const auto count = static_cast<std::int64_t>(samples);
    return labels.size() == count && !labels.dims().empty() && labels.dims().front() == count;
}

std::vector<int> labelsOf(const Constant& array) {
    if (array.type() == DataType::Float32 || array.type() == DataType::Float64 ||
        array.type() == DataType::Float16)
        failInput("'{}' is {}: labels are integers", kLabels, dataTypeName(array.type()));
    std::vector<int> labels;
    for (const std::int64_t label : array.toInt64s()) {
        if (label < 0 || label > std::numeric_limits<int>::max())
            failInput("'{}' contains {}: a label must be a class index, from 0", kLabels, label);
        labels.push_back(static_cast<int>(label));
    }
    return labels;
}

ConstantPtr arrayFor(const InputSpec& input, const std::map<std::string, ConstantPtr>& arrays,
                     bool onlyInput) {
    if (const auto found = arrays.find(input.name); found != arrays.end()) return found->second;
    if (onlyInput && arrays.contains("arr_0")) return arrays.at("arr_0");
    std::string names;
    for (const auto& [name, array] : arrays) names += fmt::format("{}'{}'", names.empty() ? "" : ", ", name);
    failInput("there is no array for input '{}'; the arrays are {}", input.name,
              names.empty() ? "none" : names);
}

/// Names of the arrays that nothing reads, for example because of a typo.
std::string unusedArrays(const std::map<std::string, ConstantPtr>& arrays,
                         const std::vector<ConstantPtr>& inputs) {
    std::vector<std::string> unused;
    for (const auto& [name, array] : arrays)
        if (name != kLabels && std::ranges::find(inputs, array) == inputs.end())
            unused.push_back(fmt::format("'{}'", name));
    return shortList(unused);
}

/// If a sample is one set of inputs (model/sample_axes.h), arrays may contain one set or, with one more
/// dimension, several sets.
std::vector<InputSpec> withSetsStacked(std::vector<InputSpec> inputs,
                                       const std::vector<ConstantPtr>& arrays) {
    for (std::size_t i = 0; i < inputs.size(); ++i)
        if (inputs[i].sampleAxis || arrays[i]->dims().size() != inputs[i].shape.size() + 1) return inputs;
    for (InputSpec& input : inputs) {
        input.shape.insert(input.shape.begin(), Dim{});
        input.sampleAxis = 0;
    }
    return inputs;
}

/// Labels that are not one number per sample are an error if they are `required`, and ignored otherwise.
DatasetPtr makeDataset(const std::map<std::string, ConstantPtr>& arrays, const ConstantPtr& labels,
                       bool required, const std::vector<InputSpec>& graphInputs,
                       const std::vector<std::string>& texts = {}) {
    std::vector<ConstantPtr> chosen;
    for (const InputSpec& input : graphInputs)
        chosen.push_back(arrayFor(input, arrays, graphInputs.size() == 1));
    const std::vector<InputSpec> inputs = withSetsStacked(graphInputs, chosen);
    for (std::size_t i = 0; i < inputs.size(); ++i) checkArrayFits(*chosen[i], inputs[i], inputs[i].name);
    std::vector<int> classes;
    std::string notice;
    const std::size_t samples = samplesIn(chosen, inputs, "the arrays");
    if (labels && isOnePerSample(*labels, samples))
        classes = labelsOf(*labels);
    else if (labels && required)
        failInput("'{}' is {} but there are {} samples: it must contain one number per sample", kLabels,
                  toString(labels->dims()), samples);
    else if (labels)
        notice = fmt::format(
            "'{}' is ignored: its shape is {}, but class labels are one number for each of the {} samples",
            kLabels, toString(labels->dims()), samples);
    if (std::ranges::count(texts, kLabels) > 0)
        notice = fmt::format("'{}' is ignored: its values are not numbers but, for example, text", kLabels);
    if (const std::string others = unusedArrays(arrays, chosen); !others.empty())
        notice += fmt::format("{}arrays that are neither inputs nor '{}' are ignored: {}",
                              notice.empty() ? "" : "\n", kLabels, others);
    return std::make_shared<ArrayDataset>(inputs, std::move(chosen), samples, std::move(classes),
                                          std::move(notice));
}

}  // namespace

DatasetPtr openArrays(const std::filesystem::path& file, const std::vector<InputSpec>& inputs) {
    std::map<std::string, ConstantPtr> arrays;
    std::vector<std::string> texts;  // arrays that contain no numbers
    if (file.extension() == ".npy") {
        if (inputs.size() != 1)
            failInput(
                "the network has {} inputs but a .npy contains only one array: save a .npz with an array for "
                "each",
                inputs.size());
        arrays[inputs.front().name] = loadNpy(file);
    } else {
        arrays = loadNpz(file, &texts);
    }
    bool labelsAreInput = false;
    for (const InputSpec& input : inputs) labelsAreInput = labelsAreInput || input.name == kLabels;
    const auto labels = arrays.find(kLabels);
    return makeDataset(arrays, labels == arrays.end() || labelsAreInput ? nullptr : labels->second, false,
                       inputs, texts);
}

DatasetPtr arrayDataset(const std::map<std::string, ConstantPtr>& arrays, const ConstantPtr& labels,
                        const std::vector<InputSpec>& inputs) {
    return makeDataset(arrays, labels, true, inputs);
}

}  // namespace quantloupe
