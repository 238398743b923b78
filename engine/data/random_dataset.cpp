// SPDX-License-Identifier: Apache-2.0
#include "data/random_dataset.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numbers>

#include "base/error.h"
#include "base/memory_limit.h"
#include "base/text.h"
#include "model/assumed_sizes.h"
#include "model/sample_axes.h"

namespace quantloupe {
namespace {

/// The finalizer of SplitMix64 (G. L. Steele, D. Lea, C. H. Flood, OOPSLA 2014): every input bit moves every
/// output bit.
std::uint64_t mixed(std::uint64_t x) {
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

std::uint64_t hashOf(std::uint64_t stream, std::uint64_t index) {
    return mixed(stream + (index + 1) * 0x9e3779b97f4a7c15u);
}

/// Returns a number in (0, 1].
double unit(std::uint64_t bits) { return (static_cast<double>(bits >> 11) + 1) * 0x1p-53; }

/// Returns a standard normal number (G. E. P. Box, M. E. Muller, 1958).
float normal(std::uint64_t stream, std::uint64_t index) {
    const double radius = std::sqrt(-2 * std::log(unit(hashOf(stream, 2 * index))));
    return static_cast<float>(radius * std::cos(2 * std::numbers::pi * unit(hashOf(stream, 2 * index + 1))));
}

struct RandomInput {
    DataType type = DataType::Float32;
    Dims dims;  ///< of a sample
    bool ones = false;
    bool shared = false;              ///< all samples have the same value
    std::int64_t low = 0, count = 2;  ///< integers: low to low + count - 1
};

/// Returns the number of rows of the smallest table that the tensor's values index, directly or through
/// operators that keep values; -1 if there is none.
std::int64_t rowsIndexedBy(const Graph& graph, TensorId tensor) {
    std::int64_t fewest = -1;
    const auto take = [&](std::int64_t rows) {
        if (rows > 0 && (fewest < 0 || rows < fewest)) fewest = rows;
    };
    for (const NodeId id : graph.tensor(tensor).consumers) {
        const Node& node = graph.node(id);
        if (!node.domain.empty()) continue;
        if (node.op == "Gather" && node.input(1) == tensor) {
            const Constant* table = graph.constantOf(node.input(0));
            if (table == nullptr || table->dims().empty()) continue;
            const auto rank = static_cast<std::int64_t>(table->dims().size());
            const std::int64_t axis = node.attributes.integer("axis", 0);
            const std::int64_t positive = axis < 0 ? axis + rank : axis;
            if (positive >= 0 && positive < rank) take(table->dims()[static_cast<std::size_t>(positive)]);
        } else if (node.op == "Cast" || node.op == "Reshape" || node.op == "Squeeze" ||
                   node.op == "Unsqueeze" || node.op == "Identity") {
            if (node.input(0) == tensor && node.output().valid()) take(rowsIndexedBy(graph, node.output()));
        }
    }
    return fewest;
}

RandomInput inputOf(const Graph& graph, TensorId id, const Dims& dims,
                    std::optional<std::size_t> sampleAxis) {
    const TensorInfo& tensor = graph.tensor(id);
    if (!tensor.shape)
        failInput(
            "the model does not specify the shape of its input '{}', so random inputs cannot be generated "
            "for it; provide data",
            tensor.name);
    RandomInput input;
    if (tensor.type != DataType::Undefined) input.type = tensor.type;
    input.dims = dims;
    if (sampleAxis) input.dims.erase(input.dims.begin() + static_cast<std::ptrdiff_t>(*sampleAxis));
    input.ones = lowerCase(tensor.name).find("mask") != std::string::npos || input.type == DataType::Bool;
    switch (input.type) {
        case DataType::Float32:
        case DataType::Bool:
            return input;
        case DataType::UInt8:
            input.count = 256;
            break;
        case DataType::Int8:
            input.low = -128;
            input.count = 256;
            break;
        case DataType::Int16:
        case DataType::UInt16:
        case DataType::Int32:
        case DataType::UInt32:
        case DataType::Int64:
        case DataType::UInt64:
            break;
        case DataType::String:
            fail(ErrorKind::Unsupported, "the input '{}' contains strings, which are not supported",
                 tensor.name);
        default:
            fail(ErrorKind::Unsupported,
                 "the input '{}' is {}: random inputs can only be generated for float32, integers and bool; "
                 "provide data",
                 tensor.name, dataTypeName(input.type));
    }
    if (const std::int64_t rows = rowsIndexedBy(graph, id); rows > 0) {
        // also representable in a signed type
        const int bits = 8 * static_cast<int>(elementSize(input.type)) - 1;
        input.low = 0;
        input.count = bits < 62 ? std::min(rows, std::int64_t{1} << bits) : rows;
    }
    return input;
}

class RandomDataset : public Dataset {
  public:
    RandomDataset(const Graph& graph, std::size_t samples, std::uint64_t seed)
        : m_samples(samples), m_seed(seed) {
        const std::vector<Dims> dims = assumedInputDims(graph);
        const SampleAxes axes = sampleAxes(graph);
        for (std::size_t i = 0; i < dims.size(); ++i)
            m_inputs.push_back(inputOf(graph, graph.inputs()[i], dims[i], axes[i]));
        for (std::size_t i = 0; i < axes.size(); ++i) m_inputs[i].shared = !axes[i] && !sampleIsOneSet(axes);
        if (sampleIsOneSet(axes)) connectNodes(graph);
    }

    std::size_t size() const override { return m_samples; }

    std::vector<SampleTensor> sample(std::size_t index) const override {
        std::vector<SampleTensor> tensors;
        for (std::size_t i = 0; i < m_inputs.size(); ++i) {
            const RandomInput& input = m_inputs[i];
            const std::uint64_t stream =
                input.shared ? mixed(i + 1)
                             : mixed(mixed(m_seed) + 0x100000001b3u * (index * m_inputs.size() + i + 1));
            const auto count = static_cast<std::size_t>(elementCount(input.dims));
            const std::size_t size = elementSize(input.type);
            requireMemory(count * size);
            SampleTensor tensor{input.type, input.dims, std::vector<std::byte>(count * size)};
            for (std::size_t e = 0; e < count; ++e) {
                std::byte* place = tensor.bytes.data() + e * size;
                if (input.type == DataType::Float32) {
                    const float value = input.ones ? 1.0f : normal(stream, e);
                    std::memcpy(place, &value, sizeof value);
                } else {
                    const auto within = static_cast<std::int64_t>(hashOf(stream, e) %
                                                                  static_cast<std::uint64_t>(input.count));
                    const std::int64_t value = input.ones ? 1 : input.low + within;
                    std::memcpy(place, &value, size);  // little endian, as all of the engine
                }
            }
            tensors.push_back(std::move(tensor));
        }
        return tensors;
    }

    std::string sampleName(std::size_t index) const override { return fmt::format("random input {}", index); }
    std::optional<int> label(std::size_t) const override { return std::nullopt; }
    const std::vector<std::string>& classNames() const override { return m_noClasses; }
    std::string description() const override { return fmt::format("{} random inputs", m_samples); }

    Version version() const override {
        VersionBuilder builder;
        builder.add("random inputs").add(m_samples).add(m_seed);
        for (const RandomInput& input : m_inputs) {
            builder.add(input.type).add(input.dims.size());
            for (const std::int64_t extent : input.dims) builder.add(extent);
            builder.add(input.ones).add(input.shared).add(input.low).add(input.count);
        }
        return builder.finish();
    }

  private:
    /// Lets the lists of edges contain the numbers of all nodes: the rows of the first float32 input.
    void connectNodes(const Graph& graph) {
        const auto nodes = std::ranges::find_if(m_inputs, [](const RandomInput& input) {
            return input.type == DataType::Float32 && !input.dims.empty() && input.dims.front() > 0;
        });
        if (nodes == m_inputs.end()) return;
        for (std::size_t i = 0; i < m_inputs.size(); ++i)
            if (isEdgeList(graph.tensor(graph.inputs()[i]))) m_inputs[i].count = nodes->dims.front();
    }

    std::size_t m_samples;
    std::uint64_t m_seed;
    std::vector<RandomInput> m_inputs;
    std::vector<std::string> m_noClasses;
};

}  // namespace

DatasetPtr randomDataset(const Graph& graph, std::size_t samples, std::uint64_t seed) {
    if (graph.inputs().empty()) failInput("the network has no inputs");
    return std::make_shared<RandomDataset>(graph, samples, seed);
}

}  // namespace quantloupe
