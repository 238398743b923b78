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
                 std::vector<int> labels, ConstantPtr targets, std::vector<SampleAnnotation> tokens,
                 std::string notice)
        : m_inputs(std::move(inputs)),
          m_arrays(std::move(arrays)),
          m_labels(std::move(labels)),
          m_targets(std::move(targets)),
          m_tokens(std::move(tokens)),
          m_notice(std::move(notice)),
          m_size(samples) {
        VersionBuilder version;
        version.add("arrays");
        for (std::size_t i = 0; i < m_arrays.size(); ++i)
            version.add(m_inputs[i].name).add(m_inputs[i].type).add(m_arrays[i]->version());
        for (const int label : m_labels) version.add(label);
        if (m_targets) version.add(m_targets->version());
        for (const SampleAnnotation& sample : m_tokens)
            version.addBytes(sample.tokens.data(), sample.tokens.size() * sizeof(std::int32_t));
        m_version = version.finish();
        if (m_tokens.empty()) return;
        TaskLabels perToken;
        perToken.task = Task::Tokens;
        perToken.labeled = true;
        m_taskLabels = std::make_shared<const TaskLabels>(std::move(perToken));
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
    std::optional<SampleTensor> targets(std::size_t index) const override {
        if (!m_targets) return std::nullopt;
        const Dims& dims = m_targets->dims();
        const std::size_t bytes = m_targets->bytes().size() / m_size;
        const auto own = m_targets->bytes().subspan(index * bytes, bytes);
        return SampleTensor{m_targets->type(), Dims(dims.begin() + 1, dims.end()), {own.begin(), own.end()}};
    }
    const std::vector<std::string>& classNames() const override {
        static const std::vector<std::string> none;
        return none;
    }
    std::shared_ptr<const TaskLabels> taskLabels() const override { return m_taskLabels; }
    const SampleAnnotation* annotation(std::size_t index) const override {
        return m_tokens.empty() ? nullptr : &m_tokens[index];
    }
    std::string description() const override {
        return fmt::format("{} {}{}", withThousands(m_size), m_size == 1 ? "row" : "rows",
                           m_targets                              ? " with targets"
                           : m_labels.empty() && m_tokens.empty() ? ""
                                                                  : " with labels");
    }
    std::string notice() const override { return m_notice; }
    Version version() const override { return m_version; }

  private:
    std::vector<InputSpec> m_inputs;
    std::vector<ConstantPtr> m_arrays;  // one per input
    std::vector<int> m_labels;          // empty, or one per row
    ConstantPtr m_targets;              // null, or one block per row
    std::vector<SampleAnnotation> m_tokens;
    std::shared_ptr<const TaskLabels> m_taskLabels;  // null without m_tokens
    std::string m_notice;
    std::size_t m_size;
    Version m_version;
};

bool isOnePerSample(const Constant& labels, std::size_t samples) {
    const auto count = static_cast<std::int64_t>(samples);
    return labels.size() == count && !labels.dims().empty() && labels.dims().front() == count;
}

bool isFloat(const Constant& array) {
    return array.type() == DataType::Float32 || array.type() == DataType::Float64 ||
           array.type() == DataType::Float16;
}

/// Whether the labels are the targets of a regression. Floats are classes only if there is one per sample and
/// all are 0 or 1, the form in which binary cross entropy takes them.
bool areTargets(const Constant& labels, std::size_t samples) {
    if (!isFloat(labels)) return false;
    return !isOnePerSample(labels, samples) ||
           std::ranges::any_of(labels.toDoubles(), [](double value) { return value != 0 && value != 1; });
}

/// Whether the labels are one integer for each token of a sample (N × T).
bool arePerToken(const Constant& labels, std::size_t samples) {
    return !isFloat(labels) && labels.dims().size() == 2 && labels.dims()[1] > 1 &&
           labels.dims()[0] == static_cast<std::int64_t>(samples);
}

std::vector<SampleAnnotation> tokensOf(const Constant& array) {
    const std::vector<std::int64_t> labels = array.toInt64s();
    const auto tokens = static_cast<std::size_t>(array.dims()[1]);
    std::vector<SampleAnnotation> samples(static_cast<std::size_t>(array.dims()[0]));
    for (std::size_t i = 0; i < labels.size(); ++i) {
        if (labels[i] > std::numeric_limits<std::int32_t>::max())
            failInput("'{}' contains {}: a label must be a class index", kLabels, labels[i]);
        samples[i / tokens].tokens.push_back(
            static_cast<std::int32_t>(std::max<std::int64_t>(labels[i], -1)));
    }
    return samples;
}

/// The input that has the same values as the labels; empty if there is none.
std::string inputEqualTo(const Constant& labels, const std::vector<ConstantPtr>& arrays,
                         const std::vector<InputSpec>& inputs) {
    for (std::size_t i = 0; i < arrays.size(); ++i)
        if (arrays[i]->dims() == labels.dims() && arrays[i]->type() == labels.type() &&
            arrays[i]->toInt64s() == labels.toInt64s())
            return inputs[i].name;
    return {};
}

std::vector<int> labelsOf(const Constant& array) {
    std::vector<int> labels;
    if (isFloat(array)) {
        for (const double label : array.toDoubles()) {
            if (label != 0 && label != 1)
                failInput("'{}' is {}: labels must be integers; floats are accepted only if all are 0 or 1",
                          kLabels, dataTypeName(array.type()));
            labels.push_back(static_cast<int>(label));
        }
        return labels;
    }
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
    if (input.type == DataType::String)
        fail(ErrorKind::Unsupported, "the input '{}' contains strings, which are not supported", input.name);
    if (arrays.empty())
        failInput("there is no array for input '{}': the file contains no arrays of numbers", input.name);
    std::string names;
    for (const auto& [name, array] : arrays) names += fmt::format("{}'{}'", names.empty() ? "" : ", ", name);
    failInput("there is no array for input '{}'; the arrays are {}", input.name, names);
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
    std::vector<SampleAnnotation> tokens;
    ConstantPtr targets;
    if (labels && !required && areTargets(*labels, samples)) {
        const bool fits = !labels->dims().empty() && labels->dims()[0] == static_cast<std::int64_t>(samples);
        if (fits) targets = labels;
        notice = fmt::format(
            "'{}' is {} and not used as classes, which must be integers, or 0 and 1 for each sample{}",
            kLabels, dataTypeName(labels->type()), fits ? ": only a metric program uses these values" : "");
    } else if (labels && isOnePerSample(*labels, samples)) {
        classes = labelsOf(*labels);
    } else if (labels && arePerToken(*labels, samples)) {
        tokens = tokensOf(*labels);
        if (const std::string input = inputEqualTo(*labels, chosen, inputs); !input.empty())
            notice = fmt::format(
                "'{}' has the same values as the input '{}': the label of a token is the class that the "
                "network should give for it, so for a language model it is the next token (shift the labels "
                "by one, and set the last one to -100)",
                kLabels, shortName(input));
    } else if (labels && required) {
        failInput(
            "'{}' is {} but there are {} samples: it must contain one whole number per sample or per token",
            kLabels, toString(labels->dims()), samples);
    } else if (labels) {
        notice = fmt::format(
            "'{}' is ignored: its shape is {}, but class labels are one number for each of the {} samples, "
            "or one whole number for each of their tokens",
            kLabels, toString(labels->dims()), samples);
    }
    if (std::ranges::count(texts, kLabels) > 0)
        notice = fmt::format("'{}' is ignored: its values are not numbers but, for example, text", kLabels);
    if (const std::string others = unusedArrays(arrays, chosen); !others.empty())
        notice += fmt::format("{}arrays that are neither inputs nor '{}' are ignored: {}",
                              notice.empty() ? "" : "\n", kLabels, others);
    return std::make_shared<ArrayDataset>(inputs, std::move(chosen), samples, std::move(classes),
                                          std::move(targets), std::move(tokens), std::move(notice));
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
