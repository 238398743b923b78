// SPDX-License-Identifier: Apache-2.0
// Migration of outliers from activations into weights.
//
// The activations of transformers have a few channels with much larger ranges than the others, the same for
// every input. A per-tensor scale then wastes most codes on them. y = x W = (x / s) (s W) for any s > 0 per
// channel. With s = max|x|^a / max|w|^(1-a) both ranges become more similar; the strength a controls which
// one becomes flatter (1: only the activation). The division is folded where it costs nothing: into scale and
// shift of a LayerNormalization, or into the constant of a Mul. Otherwise a Mul is inserted, which stays in
// float. Source: Xiao et al., "SmoothQuant" (2022), section 4; AMCT's DMQ works similarly. Cost: a float pass
// over the calibration samples, then O(weights). Weaknesses: the maxima are sensitive to a single rare
// calibration sample; with per-tensor weights a channel with a large factor widens the scale of all channels,
// which at 4 bits costs more than the activation gains; weights of convolutions are not supported
// (equalization is for these).
#include "quantize/refine/migrate_outliers.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/short_text.h"
#include "model/graph_builder.h"
#include "model/operator_traits.h"
#include "quantize/units.h"
#include "transform/adopt_built.h"
#include "transform/scalable_layer.h"

namespace quantloupe {
namespace {

/// As in equalization: factors outside these limits harm float precision without helping quantization.
constexpr double kSmallestFactor = 1e-4, kLargestFactor = 1e4;
constexpr std::size_t kShownReasons = 3;

/// Returns whether the node has its own constant matrix, with `tensor` as the left operand.
bool takesFactors(const Graph& graph, NodeId id, TensorId tensor) {
    const Node& node = graph.node(id);
    if (traitsOf(node).kind != OperatorKind::Product) return false;
    if (!readsAsData(node, tensor) || !isFloatConstant(graph, node.input(1)) || !layoutOf(graph, id))
        return false;
    if (node.attributes.integer("transA", 0) != 0) return false;
    return graph.onlyConsumer(node.input(1)) == id;
}

struct Site {
    TensorId tensor;
    std::vector<NodeId> readers;  ///< nodes whose weights can absorb factors
    bool onlyReaders = true;      ///< nothing else reads the values
};

Site siteOf(const Graph& graph, TensorId tensor) {
    Site site{tensor, {}, !graph.tensor(tensor).graphOutput};
    for (const NodeId reader : graph.tensor(tensor).consumers) {
        if (takesFactors(graph, reader, tensor))
            site.readers.push_back(reader);
        else if (!readsOnlyShape(graph.node(reader)))
            site.onlyReaders = false;
    }
    return site;
}

/// Returns one value per channel from a constant with a single value or one value per channel (its last
/// axis); otherwise empty.
std::vector<float> channelValues(const Graph& graph, TensorId id, std::size_t channels) {
    if (!isFloatConstant(graph, id)) return {};
    const Constant& constant = *graph.constantOf(id);
    if (constant.size() == 1 && constant.dims().size() <= 1)
        return std::vector<float>(channels, constant.floats()[0]);
    if (!isPerChannel(constant, channels)) return {};
    return {constant.floats().begin(), constant.floats().end()};
}

class Migration {
  public:
    Migration(Prepared prepared, const ChannelMaxima& maxima, double strength, Placement placement)
        : m_prepared(std::move(prepared)),
          m_graph(m_prepared.graph),
          m_builder(*m_graph),
          m_maxima(maxima),
          m_strength(strength) {
        SkipDecisions none;
        none.reasons.resize(m_prepared.source->nodeCount());
        if (placement == Placement::InputsAndOutputs) m_units = findUnits(m_prepared, none);
    }

    Prepared run() {
        const std::vector<TensorId> tensors = migratableTensors(m_prepared);
        for (const TensorId tensor : tensors) {
            const Site site = siteOf(*m_graph, tensor);
            if (const std::string reason = migrate(site); !reason.empty())
                m_left.push_back(fmt::format("'{}' of {}: {}", m_graph->tensor(tensor).name,
                                             namesOf(*m_graph, site.readers), reason));
        }
        if (tensors.empty())
            m_prepared.notices.emplace_back(
                "no outliers to migrate: no Gemm or MatMul has its own constant matrix");
        if (!m_left.empty()) tell();
        if (!m_prepared.migrations.empty()) rebuild();
        m_prepared.version = VersionBuilder()
                                 .add(m_prepared.version)
                                 .add(m_prepared.graph->version())
                                 .add(m_strength)
                                 .finish();
        return std::move(m_prepared);
    }

  private:
    std::string migrate(const Site& site) {
        const auto known = m_maxima.find(site.tensor);
        if (known == m_maxima.end()) return "its range is not known";
        const std::vector<float>& widths = known->second;
        const std::size_t channels = widths.size();
        std::vector<float> weights(channels, 0.0f);
        for (const NodeId reader : site.readers) {
            const auto layout = layoutOf(*m_graph, reader);
            const auto ranges =
                inputRanges(m_graph->constantOf(m_graph->node(reader).input(1))->floats(), *layout);
            if (ranges.size() != channels) return "its number of channels differs from that of the weight";
            for (std::size_t c = 0; c < channels; ++c)
                weights[c] = std::isnan(ranges[c]) ? ranges[c] : std::max(weights[c], ranges[c]);
        }
        std::vector<float> factors(channels, 1.0f);
        for (std::size_t c = 0; c < channels; ++c) {
            const double x = static_cast<double>(widths[c]), w = static_cast<double>(weights[c]);
            if (!std::isfinite(x) || !std::isfinite(w)) return "a range is infinite or undefined";
            if (!(x > 0) || !(w > 0)) continue;  // a channel that is always 0 or has no weights
            factors[c] = static_cast<float>(std::clamp(std::pow(x, m_strength) / std::pow(w, 1 - m_strength),
                                                       kSmallestFactor, kLargestFactor));
        }
        MigratedInput done;
        NodeId producer = m_graph->tensor(site.tensor).producer;
        if (!site.onlyReaders || !producer.valid() || !divideProducer(producer, factors)) {
            if (quantizedBefore(site))
                return "it is already quantized for its producer or other readers, before a factor could be "
                       "applied";
            divideBefore(site, factors);
            producer = {};
        }
        for (const NodeId reader : site.readers) {
            multiplyWeight(reader, factors);
            done.readers.push_back(m_prepared.sourceOf[reader.index()]);
        }
        const auto [low, high] = std::minmax_element(factors.begin(), factors.end());
        const std::string note =
            fmt::format("outliers of its input were migrated into its weight (factors {:.3g} to {:.3g})",
                        static_cast<double>(*low), static_cast<double>(*high));
        for (const NodeId reader : done.readers) addNote(reader, note);
        if (producer.valid()) {
            done.producer = m_prepared.sourceOf[producer.index()];
            addNote(done.producer,
                    fmt::format("divided by the factors of {}", namesOf(*m_prepared.source, done.readers)));
        }
        done.factors = std::move(factors);
        m_prepared.migrations.push_back(std::move(done));
        return {};
    }

    /// A quantizer affects all readers of a tensor, including a Mul inserted before some of them.
    bool quantizedBefore(const Site& site) const {
        return std::ranges::any_of(m_units.units, [&](const Unit& unit) {
            if (!unit.quantized) return false;
            if (unit.output == site.tensor) return true;
            const bool reads = std::ranges::find(unit.inputs, site.tensor) != unit.inputs.end();
            return reads && std::ranges::find(site.readers, unit.layer) == site.readers.end();
        });
    }

    void addNote(NodeId source, const std::string& note) {
        std::string& mappingNote = m_prepared.layerMappings[source.index()].note;
        mappingNote += (mappingNote.empty() ? "" : "; ") + note;
    }

    /// Returns false if the node has no constant that can absorb the division.
    bool divideProducer(NodeId id, const std::vector<float>& factors) {
        const Node& node = m_graph->node(id);
        const std::size_t channels = factors.size();
        if (isOp(node, "LayerNormalization")) {
            for (std::size_t o = 1; o < node.outputs.size(); ++o)
                if (node.output(o).valid()) return false;
            const std::vector<float> scale = channelValues(*m_graph, node.input(1), channels);
            const bool shifted = node.input(2).valid();
            const std::vector<float> shift =
                shifted ? channelValues(*m_graph, node.input(2), channels) : std::vector<float>();
            const bool lastAxis = isFloatConstant(*m_graph, node.input(1)) &&
                                  m_graph->constantOf(node.input(1))->dims().size() == 1;
            if (scale.empty() || (shifted && shift.empty()) || !lastAxis) return false;
            replaceInput(id, 1, divided(scale, factors));
            if (shifted) replaceInput(id, 2, divided(shift, factors));
            return true;
        }
        if (!isOp(node, "Mul")) return false;
        for (const std::size_t i : {std::size_t(0), std::size_t(1)}) {
            if (m_graph->constantOf(node.input(i)) == nullptr ||
                m_graph->constantOf(node.input(1 - i)) != nullptr)
                continue;
            const std::vector<float> values = channelValues(*m_graph, node.input(i), channels);
            const auto& shape = m_graph->tensor(node.input(1 - i)).shape;
            // The other operand must have the channels itself and not get them by broadcasting the constant.
            const bool fits =
                shape && !shape->empty() && shape->back().value == static_cast<std::int64_t>(channels);
            if (values.empty() || !fits || shape->size() < m_graph->constantOf(node.input(i))->dims().size())
                return false;
            replaceInput(id, i, divided(values, factors));
            return true;
        }
        return false;
    }

    static std::vector<float> divided(std::vector<float> values, const std::vector<float>& factors) {
        for (std::size_t c = 0; c < values.size(); ++c)
            values[c] = static_cast<float>(static_cast<double>(values[c]) / static_cast<double>(factors[c]));
        return values;
    }

    /// Adds a new constant because other nodes may read the old one.
    void replaceInput(NodeId id, std::size_t input, std::vector<float> values) {
        const std::string name = m_builder.tensorInfo(m_builder.node(id).input(input)).name + "_migrated";
        const auto channels = static_cast<std::int64_t>(values.size());
        m_builder.node(id).inputs[input] = m_builder.addConstant(
            m_builder.unusedTensorName(name), Constant::fromFloats({channels}, std::move(values)));
    }

    void divideBefore(const Site& site, const std::vector<float>& factors) {
        const TensorInfo& read = m_graph->tensor(site.tensor);
        const std::string base = m_graph->node(site.readers.front()).name + "_migrated";
        const TensorId factor = m_builder.addConstant(
            m_builder.unusedTensorName(base + "_factor"),
            Constant::fromFloats({static_cast<std::int64_t>(factors.size())},
                                 divided(std::vector<float>(factors.size(), 1.0f), factors)));
        const TensorId scaled = m_builder.tensor(m_builder.unusedTensorName(base + "_input"));
        m_builder.tensorInfo(scaled).type = read.type;
        m_builder.tensorInfo(scaled).shape = read.shape;
        Node product;
        product.op = "Mul";
        product.name = m_builder.unusedNodeName(base);
        product.inputs = {site.tensor, factor};
        product.outputs = {scaled};
        m_added.push_back(m_builder.addNode(std::move(product)));
        m_addedFor.push_back(site.readers.front());
        for (const NodeId reader : site.readers) m_builder.node(reader).inputs[0] = scaled;
    }

    void multiplyWeight(NodeId reader, const std::vector<float>& factors) {
        const auto layout = layoutOf(*m_graph, reader);
        const TensorId id = m_graph->node(reader).input(1);
        std::vector<float> weight(m_graph->constantOf(id)->floats().begin(),
                                  m_graph->constantOf(id)->floats().end());
        scaleAlong(weight, layout->dims, layout->inputAxis, factors);
        m_builder.setConstant(id, Constant::fromFloats(layout->dims, std::move(weight)));
    }

    void tell() {
        std::string text = fmt::format("outlier migration leaves out {}: ", counted(m_left.size(), "input"));
        for (std::size_t i = 0; i < std::min(kShownReasons, m_left.size()); ++i)
            text += (i == 0 ? "" : "; ") + m_left[i];
        if (m_left.size() > kShownReasons) text += "; and others";
        m_prepared.notices.push_back(std::move(text));
    }

    void rebuild() {
        BuiltIds ids;
        GraphPtr built = m_builder.build(&ids);
        adoptBuilt(m_prepared, std::move(built), ids, m_addedFor);
        for (const NodeId added : m_added) m_prepared.migrationFactors.insert(ids.nodes[added.index()]);
        m_prepared.transformed = m_prepared.graph;
    }

    Prepared m_prepared;
    const GraphPtr m_graph;
    GraphBuilder m_builder;
    const ChannelMaxima& m_maxima;
    const double m_strength;
    UnitList m_units;                ///< as if no layer were skipped; empty with placement weighted_inputs
    std::vector<NodeId> m_added;     ///< the inserted Mul nodes, in m_builder
    std::vector<NodeId> m_addedFor;  ///< for each of them, the node of m_graph that it belongs to
    std::vector<std::string> m_left;
};

}  // namespace

std::vector<TensorId> migratableTensors(const Prepared& prepared) {
    std::vector<TensorId> tensors;
    const Graph& graph = *prepared.graph;
    for (std::size_t t = 0; t < graph.tensorCount(); ++t)
        if (graph.constantOf(TensorId(t)) == nullptr && !siteOf(graph, TensorId(t)).readers.empty())
            tensors.emplace_back(t);
    return tensors;
}

Prepared migrateOutliers(Prepared prepared, const ChannelMaxima& maxima, double strength,
                         Placement placement) {
    return Migration(std::move(prepared), maxima, strength, placement).run();
}

}  // namespace quantloupe
