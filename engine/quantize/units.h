// SPDX-License-Identifier: Apache-2.0
#pragma once
// A unit is what one integer kernel would compute: a layer, its bias and the activation fused into it.
// Quantizers are at the unit's inputs and outputs. Every quantizable layer belongs to a unit, whether it is
// quantized or skipped.

#include <optional>
#include <string>
#include <vector>

#include "config/skip_rules.h"
#include "transform/prepare.h"

namespace quantloupe {

enum class UnitKind {
    Weighted,  ///< Conv, ConvTranspose, Gemm, MatMul with a constant weight
    /// Add, Mul, Concat, GlobalAveragePool, Softmax...: the output has its own range; LSTM, GRU, RNN
    Arithmetic,
    /// MaxPool, AveragePool, Flatten, Reshape, Split...: the output has its input's quantizer; quantized only
    /// if its input is quantized (as in ONNX Runtime's quantizer)
    PassesScale,
};

/// How a constant other than a layer's weight is quantized.
enum class ConstantRole {
    Operand,   ///< operand of an Add or Mul: like an activation, from its own range
    Weight,    ///< weight of an LSTM or scale of a LayerNormalization: like a weight, per tensor
    Matrix,    ///< left operand of a MatMul in ONNX Runtime: like a weight, with channels on axis 1
    NormBias,  ///< bias of a LayerNormalization: like a bias
};

struct UnitConstant {
    TensorId tensor;
    ConstantRole role = ConstantRole::Operand;
};

struct Unit {
    UnitKind kind = UnitKind::Arithmetic;
    NodeId layer;                         ///< in the prepared graph
    NodeId activation;                    ///< the fused Relu, Clip or NPU factor; invalid if there is none
    std::vector<TensorId> inputs;         ///< activations that the unit reads
    TensorId weight, bias;                ///< constants; invalid if there are none
    int weightAxis = 0;                   ///< axis of the output channels
    TensorId output;                      ///< the output of the activation, if there is one
    std::vector<TensorId> otherOutputs;   ///< other outputs of a Split; they have the scale of `output`
    std::vector<UnitConstant> constants;  ///< further constants that are quantized
    /// If valid, the output has the range of this tensor: in ONNX Runtime a layer takes the range of the Relu
    /// after it, in AIMET a Relu takes the range of the layer before it.
    TensorId rangeOf;
    bool ifInputIs = false;  ///< quantized only if its input is quantized
    /// The output's range is 0 to 1, regardless of calibration (Softmax).
    bool unitRange = false;
    /// False if the output stays in float (placement weighted_inputs, recurrent layers).
    bool quantizesOutput = true;
    bool skipped = false;  ///< by a skip rule or a layer setting
    bool float16 = false;  ///< skipped, and computed in float16
    bool quantized = false;
    std::string reason;  ///< why it is not quantized
};

struct UnitList {
    std::vector<Unit> units;  ///< in graph order
    // One entry per node of the prepared graph:
    std::vector<std::optional<std::size_t>> unitOf;  ///< the unit that the node belongs to
    std::vector<std::string> reasons;                ///< why it belongs to none
};

/// Returns whether the unit is quantized only if its input is quantized; it then normally has the bits of its
/// input.
bool followsInput(const Unit& unit);

/// Finds the units and decides which are quantized. An activation is fused unless it is skipped separately.
UnitList findUnits(const Prepared& prepared, const SkipDecisions& skips);

/// Returns for each unit the unit that determines the scale of its output: the unit itself or, for quantized
/// operators that pass their input's scale on, the quantized unit at the start of their chain.
std::vector<std::size_t> scaleOwners(const UnitList& units);

}  // namespace quantloupe
