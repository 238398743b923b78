// SPDX-License-Identifier: Apache-2.0
// DynamicQuantizeLSTM of com.microsoft, which ONNX Runtime's dynamic quantization writes. ONNX Runtime
// quantizes the input as a whole, and the state in every step. Here, the state stays in float, because an
// LSTM of ONNX computes all steps at once.
#include "model/fused_body.h"
#include "model/fused_operators.h"

namespace quantloupe {
namespace {

using Operand = FusedBody::Operand;

/// Stored as directions × columns × gates. There is one scale for each direction, or for each gate of it.
Operand floatWeight(FusedBody& body, int weight, int scales, int zeros) {
    const onnx::TensorProto* known = body.initializer(scales);
    refuse(known == nullptr, "computed scales of a weight");
    const bool perGate = known->dims_size() == 2;
    const auto transposed = [&](const Operand& stored) {
        return body.add("Transpose", {stored}, {{"perm", std::vector<std::int64_t>{0, 2, 1}}});
    };
    if (perGate && known->dims(0) != 1) {  // DequantizeLinear has one axis
        const auto spread = [&](int input) {
            return body.add("Reshape", {body.in(input), body.numbers({0, 1, -1})});
        };
        Operand codes = body.inFloat(body.in(weight));
        if (body.has(zeros)) codes = body.add("Sub", {codes, body.inFloat(spread(zeros))});
        return transposed(body.add("Mul", {codes, spread(scales)}));
    }
    const auto list = [&](int input) {
        return perGate && body.has(input) ? body.add("Reshape", {body.in(input), body.numbers({-1})})
                                          : body.in(input);
    };
    const Operand scale = list(scales), zero = list(zeros);
    const Operand stored = body.add("DequantizeLinear", {body.in(weight), scale, zero},
                                    {{"axis", std::int64_t{perGate ? 2 : 0}}});
    return transposed(stored);
}

}  // namespace

void expandDynamicLstm(FusedBody& body) {
    const Operand codes = body.add("DynamicQuantizeLinear", {body.in(0)});
    body.last().add_output("scale");
    body.last().add_output("zero");
    const Operand input =
        body.add("Mul", {body.add("Sub", {body.inFloat(codes), body.inFloat("zero")}), "scale"});
    const Operand weight = floatWeight(body, 1, 8, 9), recurrence = floatWeight(body, 2, 10, 11);
    const Operand steps = body.add(
        "LSTM", {input, weight, recurrence, body.in(3), body.in(4), body.in(5), body.in(6), body.in(7)});
    for (const char* name : {"activation_alpha", "activation_beta", "activations", "clip", "direction",
                             "hidden_size", "input_forget"})
        if (const auto* attribute = body.attribute(name)) *body.last().add_attribute() = *attribute;
    body.last().add_output("last_state");
    body.last().add_output("last_cell");
    body.setOutput(0, steps);
    body.setOutput(1, "last_state");
    body.setOutput(2, "last_cell");
}

}  // namespace quantloupe
