// SPDX-License-Identifier: Apache-2.0
#include "model/sample_axes.h"

#include <algorithm>
#include <cctype>
#include <set>
#include <string>

#include "base/is_one_of.h"
#include "base/text.h"
#include "model/operator_traits.h"

namespace quantloupe {
namespace {

/// Names of one dimension, not expressions such as "batch*heads".
bool namesBatch(const Dim& dim) {
    const std::string name = lowerCase(dim.symbol);
    const bool plain = std::ranges::all_of(
        name, [](unsigned char c) { return std::isalnum(c) != 0 || c == '_' || c == '.'; });
    return plain && name.find("batch") != name.npos;
}

template <typename Condition>
std::optional<std::size_t> firstDimension(const Shape& shape, Condition condition) {
    const auto found = std::ranges::find_if(shape, condition);
    if (found == shape.end()) return {};
    return static_cast<std::size_t>(found - shape.begin());
}

/// Whether the inputs can only be those of one graph: features of nodes and lists of edges, whose numbers
/// have nothing in common. `single` are the inputs whose first dimension is fixed above 1 and cannot be the
/// batch.
bool isOneGraph(const Graph& graph, const std::vector<TensorId>& single) {
    const auto isDynamic = [](const Dim& dim) { return !dim.known() && !namesBatch(dim); };
    const auto hasNodes = [&](TensorId input) {
        const auto& shape = graph.tensor(input).shape;
        return shape && !shape->empty() && isDynamic(shape->front());
    };
    std::set<std::int64_t> sizes;
    for (const TensorId input : single) {
        const TensorInfo& tensor = graph.tensor(input);
        const Shape& shape = *tensor.shape;
        sizes.insert(shape.front().value);
        const bool dynamic = std::any_of(shape.begin() + 1, shape.end(), [&](const Dim& dim) {
            return isDynamic(dim) && (!dim.symbol.empty() || isEdgeList(tensor));
        });
        if (dynamic && std::ranges::any_of(graph.inputs(), hasNodes)) return true;
    }
    return sizes.size() > 1;
}

/// Whether a fixed shape is that of a single sample of the other one, or of its last dimensions: positions
/// "6×16" next to "batch×6×16".
bool isEndOf(const Shape& shape, const Shape& other) {
    return shape.size() < other.size() && shape.front().value != 1 &&
           std::equal(shape.rbegin(), shape.rend(), other.rbegin(),
                      [](const Dim& a, const Dim& b) { return a.known() && a.value == b.value; });
}

/// Whether the node keeps the first two dimensions of a tensor that it reads.
bool keepsLeadingDimensions(const Graph& graph, const Node& node, TensorId tensor) {
    if (isOp(node, "Gather"))  // embeddings of tokens
        return node.input(1) == tensor && graph.constantOf(node.input(0)) != nullptr &&
               node.attributes.integer("axis", 0) == 0;
    if (node.input(0) != tensor) return false;
    return traitsOf(node).sameShape || traitsOf(node).kind == OperatorKind::Elementwise ||
           isOneOf(node.op, {"Identity", "Cast", "Dropout", "MatMul", "LayerNormalization"});
}

/// Whether a recurrent operator with layout 0 reads the input as its initial state, layers×samples×values.
bool isState(const Graph& graph, TensorId input) {
    return std::ranges::any_of(graph.tensor(input).consumers, [&](NodeId reader) {
        const Node& node = graph.node(reader);
        return traitsOf(node).kind == OperatorKind::Recurrent && node.attributes.integer("layout", 0) == 0 &&
               (node.input(5) == input || node.input(6) == input);
    });
}

/// Whether the input is a batch of sequences whose first dimension contains the steps: a recurrent operator
/// with layout 0 reads it. A single step may also be one sample with steps in the second dimension.
bool isTimeMajor(const Graph& graph, TensorId input) {
    const auto& shape = graph.tensor(input).shape;
    if (!shape || shape->size() < 2 || shape->front().value == 1 || batchDimension(*shape)) return false;
    std::vector<TensorId> reached{input};
    std::set<std::uint32_t> known{input.value};
    for (std::size_t i = 0; i < reached.size(); ++i)
        for (const NodeId reader : graph.tensor(reached[i]).consumers) {
            const Node& node = graph.node(reader);
            if (traitsOf(node).kind == OperatorKind::Recurrent && node.input(0) == reached[i] &&
                node.attributes.integer("layout", 0) == 0)
                return true;
            if (node.output().valid() && keepsLeadingDimensions(graph, node, reached[i]) &&
                known.insert(node.output().value).second)
                reached.push_back(node.output());
        }
    return false;
}

/// Whether the shapes are equal, apart from the first dimension.
bool hasSameRows(const Shape& a, const Shape& b) {
    return a.size() > 1 && a.size() == b.size() && std::equal(a.begin() + 1, a.end(), b.begin() + 1);
}

/// Names of batches that all samples share: an output "images×texts", as of CLIP, has the dimensions of two
/// batches, of which the first contains the samples. The inputs may have other names for that one. If no
/// input names a batch, the first dimensions of inputs count as batches of a matrix.
std::set<std::string> sharedBatches(const Graph& graph) {
    std::set<std::string> batches, leading, shared;
    for (const TensorId input : graph.inputs()) {
        const auto& shape = graph.tensor(input).shape;
        if (!shape || shape->empty()) continue;
        if (const auto batch = batchDimension(*shape)) batches.insert((*shape)[*batch].symbol);
        if (!shape->front().symbol.empty()) leading.insert(shape->front().symbol);
        if (isTimeMajor(graph, input)) return {};
    }
    const bool named = !batches.empty();
    if (!named) batches = leading;
    const auto isBatch = [&](const Dim& dim) { return batches.contains(dim.symbol) || namesBatch(dim); };
    std::string samples;
    for (const TensorId output : graph.outputs()) {
        const auto& shape = graph.tensor(output).shape;
        if (!shape || shape->empty() || !isBatch(shape->front()) || (!named && shape->size() != 2)) continue;
        for (const Dim& dim : *shape) {
            if (!isBatch(dim) || dim.symbol == shape->front().symbol) continue;
            if (samples.empty()) samples = shape->front().symbol;
            shared.insert({shape->front().symbol, dim.symbol});
        }
    }
    shared.erase(samples);
    // PyTorch's newer exporter gives the mask of the texts a batch of its own.
    const auto hasRowsOf = [&](const Shape& own, const auto& isBatchOf) {
        return std::ranges::any_of(graph.inputs(), [&](TensorId input) {
            const auto& shape = graph.tensor(input).shape;
            return shape && hasSameRows(own, *shape) && isBatchOf(shape->front().symbol);
        });
    };
    const std::set<std::string> texts = shared;
    for (const TensorId input : graph.inputs()) {
        const auto& shape = graph.tensor(input).shape;
        if (named || !shape || shape->empty() || shape->front().symbol.empty()) continue;
        if (hasRowsOf(*shape, [&](const std::string& batch) { return texts.contains(batch); }) &&
            !hasRowsOf(*shape, [&](const std::string& batch) { return batch == samples; }))
            shared.insert(shape->front().symbol);
    }
    const bool none = std::ranges::includes(shared, batches);  // no input would contain the samples
    return none ? std::set<std::string>{} : shared;
}

}  // namespace

bool isEdgeList(const TensorInfo& tensor) {
    return tensor.type == DataType::Int64 && tensor.shape && tensor.shape->size() == 2 &&
           tensor.shape->front().value == 2;
}

bool isOneImage(const std::optional<Shape>& shape) {
    constexpr std::int64_t kLeastSide = 16;
    const auto isSide = [](const Dim& side) {
        return side.known() ? side.value >= kLeastSide : !namesBatch(side);
    };
    return shape && shape->size() == 3 && (*shape)[0].value == 3 && isSide((*shape)[1]) &&
           isSide((*shape)[2]);
}

SampleAxes sampleAxes(const Graph& graph) {
    std::set<std::string> leading;  // names of first dimensions
    std::set<std::string> others;   // names of dimensions next to one that is named after the batch
    std::vector<Shape> named;       // shapes with such a dimension
    bool one = false;               // the first dimension of an input is 1
    bool oneOrAny = false;          // it is 1 or dynamic
    bool timeMajor = false;         // the first dimension of an input contains steps
    for (const TensorId input : graph.inputs()) {
        const auto& shape = graph.tensor(input).shape;
        if (!shape || shape->empty()) continue;
        const bool steps = isTimeMajor(graph, input);
        timeMajor = timeMajor || steps;
        const Dim& first = (*shape)[steps ? 1 : 0];
        one = one || first.value == 1;
        oneOrAny = oneOrAny || !first.known() || first.value == 1;
        if (!first.symbol.empty()) leading.insert(first.symbol);
        const std::optional<std::size_t> batch = batchDimension(*shape);
        if (!batch) continue;
        named.push_back(*shape);
        for (std::size_t d = 0; d < shape->size(); ++d)
            if (d != *batch && !(*shape)[d].symbol.empty()) others.insert((*shape)[d].symbol);
    }
    const std::set<std::string> sharedNames = sharedBatches(graph);
    SampleAxes axes;
    bool common = true;            // one number of samples
    std::vector<TensorId> single;  // see isOneGraph()
    for (const TensorId input : graph.inputs()) {
        std::optional<std::size_t>& axis = axes.emplace_back(0);
        const auto& shape = graph.tensor(input).shape;
        if (!shape) continue;
        if (shape->empty()) {
            axis.reset();
            continue;
        }
        std::optional<std::size_t> found = batchDimension(*shape);
        if (sharedNames.contains((*shape)[found.value_or(0)].symbol)) {
            axis.reset();
            continue;
        }
        if (!found && (isTimeMajor(graph, input) || (timeMajor && isState(graph, input)))) found = 1;
        if (!found && shape->front().known()) {
            found = firstDimension(*shape, [&](const Dim& dim) { return leading.contains(dim.symbol); });
            common = common && (!found || leading.size() == 1);
            if (!found && shape->front().value != 1 && oneOrAny &&
                !(isEdgeList(graph.tensor(input)) && !(*shape)[1].known()))
                found = firstDimension(
                    *shape, [](const Dim& dim) { return dim.known() ? dim.value == 1 : dim.symbol.empty(); });
        }
        const Dim& first = shape->front();
        const bool positions = shape->size() == 1 && !named.empty();
        const bool shared =
            first.known() ? (one || positions) && first.value != 1 : others.contains(first.symbol);
        const bool fits =
            std::ranges::any_of(named, [&](const Shape& other) { return isEndOf(*shape, other); });
        if (found || shared || fits)
            axis = found;
        else if (shape->front().known() && shape->front().value > 1)
            single.push_back(input);
    }
    const bool images = std::ranges::all_of(
        graph.inputs(), [&](TensorId input) { return isOneImage(graph.tensor(input).shape); });
    if (!common || images || isOneGraph(graph, single)) std::ranges::fill(axes, std::nullopt);
    return axes;
}

bool sampleIsOneSet(const SampleAxes& axes) {
    return std::ranges::none_of(axes, [](const auto& axis) { return axis.has_value(); });
}

std::optional<std::size_t> batchDimension(const Shape& shape) { return firstDimension(shape, namesBatch); }

}  // namespace quantloupe
