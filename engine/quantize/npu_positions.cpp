// SPDX-License-Identifier: Apache-2.0
// The NPU's rules on positions, in the order of AMD Quark's NPULimitationCheck. Names stand for positions:
//
// - Alignment: the inputs and the output of an operator that moves values get the same position, the smallest
//   one, so that no value is clipped.
// - Shift read, of a sum: the largest minus the smallest input; the largest input is adjusted.
// - Shift write: of a sum, the smallest input minus the output; of a product, the sum of the inputs minus the
//   output. The output is adjusted.
// - Shift cut: weight + input - output, the shift of the accumulator. The weight is adjusted.
// - Shift bias: weight + input - bias, the shift from the bias to the accumulator. The bias is adjusted.
//
// Source: behavior of Quark 0.11.2; npu_positions_test compares with its results on small graphs. Cost:
// O(operators) per round. Weakness: a rule can violate an earlier one, which five rounds do not always
// resolve.
#include "quantize/npu_positions.h"

#include <algorithm>

#include "base/is_one_of.h"
#include "quantize/calibration/power_of_two.h"

namespace quantloupe {
namespace {

class Adjuster {
  public:
    Adjuster(const NpuPositions& rules, std::vector<int>& positions)
        : m_rules(rules), m_positions(positions) {}

    /// Applies all rules once; returns whether a position changed.
    bool round(const std::vector<NpuOperator>& operators) {
        m_changed = false;
        const auto each = [&](bool on, void (Adjuster::*rule)(const NpuOperator&)) {
            if (!on) return;
            for (const NpuOperator& op : operators) (this->*rule)(op);
        };
        each(m_rules.alignConcat, &Adjuster::alignConcat);
        each(m_rules.alignPool, &Adjuster::alignPool);
        each(m_rules.alignPad, &Adjuster::alignPad);
        each(m_rules.alignSlice, &Adjuster::alignSlice);
        each(m_rules.adjustShiftRead, &Adjuster::shiftRead);
        each(m_rules.adjustShiftWrite, &Adjuster::shiftWrite);
        each(m_rules.adjustShiftCut, &Adjuster::shiftCut);
        each(m_rules.adjustShiftBias, &Adjuster::shiftBias);
        each(m_rules.adjustHardSigmoid, &Adjuster::hardSigmoid);
        each(m_rules.adjustShiftSwish, &Adjuster::shiftSwish);
        return m_changed;
    }

  private:
    int at(int place) const { return m_positions[static_cast<std::size_t>(place)]; }
    void set(int place, int position) {
        position = std::clamp(position, -kLargestPosition, kLargestPosition);
        if (at(place) == position) return;
        m_positions[static_cast<std::size_t>(place)] = position;
        m_changed = true;
    }
    static bool knownInputs(const NpuOperator& op) {
        return !op.inputs.empty() &&
               std::all_of(op.inputs.begin(), op.inputs.end(), [](int place) { return place >= 0; });
    }
    int sumOfInputs(const NpuOperator& op) const {
        int sum = 0;
        for (const int place : op.inputs) sum += at(place);
        return sum;
    }

    void alignConcat(const NpuOperator& op) {
        if (op.op != "Concat" || op.output < 0) return;
        int least = at(op.output);
        for (const int place : op.inputs)
            if (place >= 0) least = std::min(least, at(place));
        set(op.output, least);
        for (const int place : op.inputs)
            if (place >= 0) set(place, least);
    }

    void align(const NpuOperator& op) {
        if (!knownInputs(op) || op.output < 0) return;
        const int least = std::min(at(op.inputs[0]), at(op.output));
        set(op.inputs[0], least);
        set(op.output, least);
    }
    void alignPool(const NpuOperator& op) {
        if (isOneOf(op.op, {"MaxPool", "AveragePool", "GlobalAveragePool"})) align(op);
    }
    void alignPad(const NpuOperator& op) {
        if (op.op == "Pad") align(op);
    }
    void alignSlice(const NpuOperator& op) {
        if (op.op == "Slice") align(op);
    }

    void shiftRead(const NpuOperator& op) {
        if (!isOneOf(op.op, {"Add", "Sub"}) || !knownInputs(op)) return;
        const auto less = [this](int a, int b) { return at(a) < at(b); };
        const int least = *std::min_element(op.inputs.begin(), op.inputs.end(), less);
        const int most = *std::max_element(op.inputs.begin(), op.inputs.end(), less);
        set(most, std::min(at(most), at(least) + 7));
    }

    void shiftWrite(const NpuOperator& op) {
        if (!isOneOf(op.op, {"Add", "Mul"}) || !knownInputs(op) || op.output < 0) return;
        if (op.op == "Mul") {
            const int sum = sumOfInputs(op);
            set(op.output, sum - std::clamp(sum - at(op.output), 0, 32));
            return;
        }
        int least = at(op.inputs[0]);
        for (const int place : op.inputs) least = std::min(least, at(place));
        set(op.output, least - std::clamp(least - at(op.output), -7, 25));
    }

    void shiftCut(const NpuOperator& op) {
        if (!isOneOf(op.op, {"Conv", "Gemm"}) || !knownInputs(op) || op.output < 0 || op.weight < 0) return;
        const int rest = at(op.inputs[0]) - at(op.output);
        set(op.weight, std::clamp(at(op.weight) + rest, 0, 16) - rest);
    }

    void shiftBias(const NpuOperator& op) {
        if (!isOneOf(op.op, {"Conv", "Gemm"}) || !knownInputs(op) || op.output < 0 || op.weight < 0 ||
            op.bias < 0)
            return;
        const int product = at(op.weight) + at(op.inputs[0]);
        const int cut = product - at(op.output);
        const int low = op.leaky ? 0 : std::min(0, cut - 16), high = 15;
        const int shift = product - at(op.bias);
        if (shift < low)
            set(op.bias, product - low);
        else if (shift > high)
            set(op.bias, product - high);
    }

    void hardSigmoid(const NpuOperator& op) {
        if (op.op != "HardSigmoid" || !knownInputs(op) || op.output < 0) return;
        const int input = std::clamp(at(op.inputs[0]), 0, 15);
        const int output = std::max(at(op.output), 7);
        set(op.output, std::min(output, 14 + input));
        set(op.inputs[0], input);
    }

    void shiftSwish(const NpuOperator& op) {
        if (!op.swish || !knownInputs(op) || op.output < 0) return;
        const int sum = sumOfInputs(op);
        set(op.output, sum - std::clamp(sum - at(op.output), 0, 15));
    }

    const NpuPositions& m_rules;
    std::vector<int>& m_positions;
    bool m_changed = false;
};

}  // namespace

bool adjustPositions(const std::vector<NpuOperator>& operators, const NpuPositions& rules,
                     std::vector<int>& positions) {
    Adjuster adjuster(rules, positions);
    for (int loop = 0; loop < rules.maxLoops; ++loop)
        if (!adjuster.round(operators)) return true;
    return false;
}

bool anyRule(const NpuPositions& rules) {
    return rules.alignConcat || rules.alignPool || rules.alignPad || rules.alignSlice ||
           rules.adjustShiftRead || rules.adjustShiftWrite || rules.adjustShiftCut || rules.adjustShiftBias ||
           rules.adjustHardSigmoid || rules.adjustShiftSwish;
}

}  // namespace quantloupe
