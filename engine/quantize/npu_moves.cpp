// SPDX-License-Identifier: Apache-2.0
#include "quantize/npu_moves.h"

#include "quantize/calibration/power_of_two.h"
#include "quantize/npu_positions.h"

namespace quantloupe {
namespace {

class MoveFinder {
  public:
    MoveFinder(const Plan& plan, const NpuPositions& rules)
        : m_plan(plan), m_graph(*plan.prepared->graph), m_rules(rules) {}

    NpuMoves find() {
        for (std::size_t u = 0; u < m_plan.units.units.size(); ++u)
            if (m_plan.units.units[u].quantized)
                m_operators.push_back(operatorOf(m_plan.units.units[u], m_plan.quantizers[u]));
        const std::vector<int> before = m_positions;
        if (!adjustPositions(m_operators, m_rules, m_positions))
            tell("npu_positions: after {} rounds, some of the NPU's rules may still be violated",
                 m_rules.maxLoops);
        if (!m_others.empty())
            tell("npu_positions: the scales of {} tensors are not powers of two and stay unchanged: '{}'{}",
                 m_others.size(), m_others[0], m_others.size() > 1 ? "..." : "");
        for (const auto& [tensor, place] : m_places)
            if (place >= 0 && now(place) != before[static_cast<std::size_t>(place)])
                m_moves.activations[tensor] = scaleOf(now(place));
        if (!m_moves.activations.empty())
            tell("npu_positions: number of activations whose scales were changed: {}",
                 m_moves.activations.size());
        for (const OwnConstant& constant : m_constants) {
            const int from = before[static_cast<std::size_t>(constant.place)], to = now(constant.place);
            if (from == to) continue;
            m_moves.constants[constant.tensor] = scaleOf(to);
            tell(
                "layer '{}': the NPU's rules change the {} from 2^{} to 2^{} but not its codes, as in Quark, "
                "so its values are multiplied by 2^{}; keep the layer in float, or disable the rule",
                m_graph.node(constant.layer).name, constant.what, -from, -to, from - to);
        }
        return std::move(m_moves);
    }

  private:
    struct OwnConstant {
        NodeId layer;
        TensorId tensor;
        const char* what;
        int place;
    };

    int now(int place) const { return m_positions[static_cast<std::size_t>(place)]; }

    template <typename... Args>
    void tell(fmt::format_string<Args...> text, Args&&... args) {
        m_moves.notices.push_back(fmt::format(text, std::forward<Args>(args)...));
    }

    int newPlace(float scale) {
        const int position = positionOf(static_cast<double>(scale));
        if (scaleOf(position) != scale) return -1;
        m_positions.push_back(position);
        return static_cast<int>(m_positions.size()) - 1;
    }

    int placeOf(TensorId tensor, const TensorQuantizer& quantizer) {
        if (const auto found = m_places.find(tensor); found != m_places.end()) return found->second;
        const int place = newPlace(quantizer.scale);
        if (place < 0) m_others.push_back(m_graph.tensor(tensor).name);
        return m_places[tensor] = place;
    }

    int placeOf(const Unit& unit, TensorId tensor, const char* what, const ConstantQuantizer& quantizer) {
        const int place = quantizer.scales.size() == 1 ? newPlace(quantizer.scales[0]) : -1;
        if (place >= 0) m_constants.push_back({unit.layer, tensor, what, place});
        return place;
    }

    NpuOperator operatorOf(const Unit& unit, const UnitQuantizers& own) {
        NpuOperator op;
        op.op = m_graph.node(unit.layer).op;
        for (std::size_t i = 0; i < unit.inputs.size(); ++i)
            op.inputs.push_back(placeOf(unit.inputs[i], own.inputs[i]));
        op.swish = op.op == "Mul" && unit.inputs.size() == 2 && readsHardSigmoid(unit);
        if (own.weight) op.weight = placeOf(unit, unit.weight, "scale of its weight", *own.weight);
        if (own.bias && !own.bias->inProductScale)
            op.bias = placeOf(unit, unit.bias, "scale of its bias", *own.bias);
        for (std::size_t i = 0; i < unit.constants.size(); ++i)
            if (unit.constants[i].role == ConstantRole::Operand && own.constants[i])
                op.inputs.push_back(
                    placeOf(unit, unit.constants[i].tensor, "scale of its constant", *own.constants[i]));
        op.leaky = unit.activation.valid() && m_graph.node(unit.activation).op == "LeakyRelu";
        if (!unit.quantizesOutput) return op;
        if (unit.kind != UnitKind::PassesScale) {
            op.output = placeOf(unit.output, own.output);
            return op;
        }
        op.output = m_places[unit.output] = op.inputs[0];
        for (const TensorId other : unit.otherOutputs) m_places[other] = op.output;
        return op;
    }

    /// Returns whether one factor of a Mul is a HardSigmoid of another of its inputs.
    bool readsHardSigmoid(const Unit& unit) const {
        for (const TensorId input : unit.inputs)
            for (const NodeId reader : m_graph.tensor(input).consumers)
                if (m_graph.node(reader).op == "HardSigmoid") return true;
        return false;
    }

    const Plan& m_plan;
    const Graph& m_graph;
    const NpuPositions& m_rules;
    std::vector<int> m_positions;
    std::unordered_map<TensorId, int> m_places;
    std::vector<OwnConstant> m_constants;
    std::vector<std::string> m_others;
    std::vector<NpuOperator> m_operators;
    NpuMoves m_moves;
};

}  // namespace

ConstantQuantizer withScale(const ConstantQuantizer& known, float scale) {
    ConstantQuantizer quantizer = known;
    quantizer.scales.assign(known.scales.size(), scale);
    std::vector<float> dequantized;
    dequantized.reserve(known.codes.size());
    for (std::size_t i = 0; i < known.codes.size(); ++i)
        dequantized.push_back(static_cast<float>(known.codes[i]) * scale);
    quantizer.dequantized = Constant::fromFloats(known.dequantized->dims(), std::move(dequantized));
    return quantizer;
}

NpuMoves npuMoves(const Plan& plan, const NpuPositions& rules) { return MoveFinder(plan, rules).find(); }

}  // namespace quantloupe
