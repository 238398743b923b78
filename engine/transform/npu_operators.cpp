// SPDX-License-Identifier: Apache-2.0
// The NPU's own operators, as AMD Quark's SimulateDPU writes them into a model:
//
// - AveragePool and GlobalAveragePool with square kernels and ReduceMean are followed by a Mul by
//   count * k / 2^n.
// - The alpha of LeakyRelu becomes round(256 alpha) / 256.
// - Sigmoid becomes HardSigmoid(1/6, 1/2). Every such HardSigmoid is followed by a Mul by 6 * 2731 / 16384.
//
// Quark does this after calibration, so ranges are measured without these operators
// (quantize/calibrated_network.h). The drift of the prepared model against the source shows their effect. A
// Mul belongs to the layer before it; a Mul by 1 is omitted. Cost: O(nodes).
#include "transform/npu_operators.h"

#include <cmath>

#include "model/graph_builder.h"
#include "model/operator_traits.h"
#include "transform/adopt_built.h"

namespace quantloupe {
namespace {

constexpr double kHardSigmoidFactor = (2731.0 / 16384.0) / (1.0 / 6.0);

bool nearly(float a, double b) { return std::fabs(static_cast<double>(a) - b) < 1e-6; }

/// The window over which a node averages.
struct Mean {
    std::int64_t height = 1, width = 1;
    bool square = false;
};

class NpuWriter {
  public:
    NpuWriter(Prepared& prepared, const NpuOperators& options, const std::vector<bool>& skipped)
        : m_prepared(prepared),
          m_options(options),
          m_skipped(skipped),
          m_graph(*prepared.graph),
          m_builder(m_graph) {}

    /// Replaces the operators; returns false if nothing changed.
    bool write() {
        for (std::size_t i = 0; i < m_graph.nodeCount(); ++i) {
            const NodeId id(i);
            const Node& node = m_graph.node(id);
            if (!m_skipped.empty() && m_skipped[m_prepared.sourceOf[i].index()]) continue;
            if (m_options.leakyRelu && isOp(node, "LeakyRelu")) leakyRelu(id);
            if (m_options.sigmoid && (isOp(node, "Sigmoid") || isOp(node, "HardSigmoid"))) sigmoid(id);
            if (m_options.averagePool) mean(id);
        }
        return m_changed;
    }

    void finish() {
        BuiltIds ids;
        GraphPtr built = m_builder.build(&ids);
        adoptBuilt(m_prepared, std::move(built), ids, m_hosts);
    }

  private:
    void tell(NodeId id, const std::string& what) {
        std::string& note = m_prepared.layerMappings[m_prepared.sourceOf[id.index()].index()].note;
        note += (note.empty() ? "" : "; ") + what;
        m_changed = true;
    }

    void leakyRelu(NodeId id) {
        const float alpha = m_graph.node(id).attributes.real("alpha", 0.01f);
        const float rounded = static_cast<float>(std::nearbyint(static_cast<double>(alpha) * 256) / 256);
        if (rounded == alpha) return;
        m_builder.node(id).attributes.set("alpha", rounded);
        tell(id, fmt::format("the NPU's slope is {:g} instead of {:g}", rounded, alpha));
    }

    void sigmoid(NodeId id) {
        const Node& node = m_graph.node(id);
        if (isOp(node, "HardSigmoid")) {
            // The NPU supports only this HardSigmoid.
            if (!nearly(node.attributes.real("alpha", 0.2f), 1.0 / 6) ||
                !nearly(node.attributes.real("beta", 0.5f), 0.5))
                return;
        } else {
            Node& changed = m_builder.node(id);
            changed.op = "HardSigmoid";
            changed.attributes.set("alpha", static_cast<float>(1.0 / 6.0));
        }
        multiply(id, kHardSigmoidFactor);
        tell(id, "the NPU computes HardSigmoid with the slope 2731/16384");
    }

    void mean(NodeId id) {
        const Node& node = m_graph.node(id);
        const bool pool = isOp(node, "AveragePool"), global = isOp(node, "GlobalAveragePool"),
                   reduce = isOp(node, "ReduceMean");
        if (!pool && !global && !reduce) return;
        const std::optional<Mean> over = pool ? ofKernel(node) : global ? ofInput(node) : ofAxes(node);
        if (!over) {
            m_prepared.notices.push_back(fmt::format(
                "'{}': its averaging window is unknown or not square, so the NPU's divisor is not simulated",
                node.name));
            return;
        }
        const double factor = npuMeanFactor(over->height, over->width, over->square);
        if (factor == 1) return;
        multiply(id, factor);
        tell(id, fmt::format("the NPU's mean is {:.6g} times as large", factor));
    }

    static std::optional<Mean> ofKernel(const Node& node) {
        const Dims kernel = node.attributes.integers("kernel_shape");
        if (kernel.size() != 2 || kernel[0] != kernel[1] || kernel[0] < 1) return std::nullopt;
        return Mean{kernel[0], kernel[1], true};
    }

    std::optional<Mean> ofInput(const Node& node) const {
        const auto& shape = m_graph.tensor(node.input(0)).shape;
        if (!shape || shape->size() != 4) return std::nullopt;
        const std::int64_t height = (*shape)[2].value, width = (*shape)[3].value;
        if (height < 1 || height != width) return std::nullopt;
        return Mean{height, width, true};
    }

    std::optional<Mean> ofAxes(const Node& node) const {
        const auto& shape = m_graph.tensor(node.input(0)).shape;
        Dims axes = node.attributes.integers("axes");
        if (const Constant* given = node.input(1).valid() ? m_graph.constantOf(node.input(1)) : nullptr)
            axes = given->toInt64s();
        if (!shape || axes.empty()) return std::nullopt;
        Mean over;
        const auto rank = static_cast<std::int64_t>(shape->size());
        for (const std::int64_t axis : axes) {
            const std::int64_t at = axis < 0 ? axis + rank : axis;
            const std::int64_t extent =
                at >= 0 && at < rank ? (*shape)[static_cast<std::size_t>(at)].value : -1;
            if (extent < 1) return std::nullopt;
            over.width *= extent;
        }
        return over;
    }

    void multiply(NodeId id, double factor) {
        const Node& host = m_graph.node(id);
        const TensorId result = host.output();
        const TensorInfo& info = m_graph.tensor(result);
        const TensorId raw = m_builder.tensor(m_builder.unusedTensorName(info.name + "_npu"));
        m_builder.tensorInfo(raw).type = info.type;
        m_builder.tensorInfo(raw).shape = info.shape;
        const TensorId value = m_builder.addConstant(m_builder.unusedTensorName(info.name + "_npu_factor"),
                                                     Constant::fromFloats({}, {static_cast<float>(factor)}));
        m_builder.node(id).outputs[0] = raw;
        Node node;
        node.op = "Mul";
        node.name = m_builder.unusedNodeName(host.name + "_npu_factor");
        node.inputs = {raw, value};
        node.outputs = {result};
        m_builder.addNode(std::move(node));
        m_hosts.push_back(id);
    }

    Prepared& m_prepared;
    const NpuOperators& m_options;
    const std::vector<bool>& m_skipped;
    const Graph& m_graph;
    GraphBuilder m_builder;
    std::vector<NodeId> m_hosts;  ///< hosts of the added nodes, in order of addition
    bool m_changed = false;
};

}  // namespace

double npuMeanFactor(std::int64_t height, std::int64_t width, bool square) {
    if (height > 255 || (square && width > 255)) return 1;
    if (square && height == width) switch (height) {
            case 3:
                return 9 * 7.0 / 64;
            case 5:
                return 25 * 10.0 / 256;
            case 6:
                return 36 * 7.0 / 256;
            case 7:
                return 49 * 21.0 / 1024;
            case 14:
                return 196 * 21.0 / 4096;
            default:
                break;
        }
    const double count = static_cast<double>(height * width);
    const int powers = 7 + static_cast<int>(std::ceil(std::log2(count)));
    double best = 0, least = -1;
    for (int n = 0; n < powers; ++n) {
        const double power = std::ldexp(1.0, n);
        const double share = std::nearbyint(power / count) / power;
        const double error = std::fabs(share - 1 / count);
        if (least >= 0 && error >= least) continue;
        least = error;
        best = share;
    }
    return best * count;
}

Prepared withNpuOperators(Prepared prepared, const NpuOperators& options, const std::vector<bool>& skipped) {
    NpuWriter writer(prepared, options, skipped);
    if (writer.write()) writer.finish();
    return prepared;
}

}  // namespace quantloupe
