// SPDX-License-Identifier: Apache-2.0
#pragma once
// What one integer kernel would compute: a layer, its bias and the activation fused behind it. Quantizers sit at the
// unit's edges. Every quantizable layer is (in) a unit, whether it is quantized now or skipped.

#include <optional>
#include <string>
#include <vector>

#include "config/skip_rules.h"
#include "transform/prepare.h"

namespace quantloupe {

enum class UnitKind {
    Weighted,      ///< Conv, ConvTranspose, Gemm, MatMul with a constant weight
    Arithmetic,    ///< Add, Mul, Concat, GlobalAveragePool, Softmax...: own range for the output; LSTM, GRU, RNN
    PassesScale,   ///< MaxPool, AveragePool, Flatten, Reshape, Split...: the output has its input's quantizer;
                   ///< quantized only if its input is (as ONNX Runtime's quantizer does it)
};

/// How a constant that is no layer's weight is quantized.
enum class ConstantRole {
    Operand,   ///< of an Add, a Mul: as an activation, from its own range
    Weight,    ///< of an LSTM, or the scale of a LayerNormalization: as a weight, per tensor
    NormBias,  ///< of a LayerNormalization: as a bias
};

struct UnitConstant {
    TensorId tensor;
    ConstantRole role = ConstantRole::Operand;
};

struct Unit {
    UnitKind kind = UnitKind::Arithmetic;
    NodeId layer;                   ///< in the prepared graph
    NodeId activation;              ///< a Relu, Clip or the NPU's factor that runs inside; invalid if there is none
    std::vector<TensorId> inputs;   ///< activations that it reads
    TensorId weight, bias;          ///< constants; invalid if there are none
    int weightAxis = 0;             ///< of the output channels
    TensorId output;                ///< behind the activation
    std::vector<TensorId> otherOutputs;   ///< of a Split: they have the scale of `output`
    std::vector<UnitConstant> constants;  ///< further constants that are quantized
    TensorId rangeOf;                     ///< valid: the output's range is that tensor's (ONNX Runtime gives it a Relu's behind it; AIMET a Relu that before it)
    bool ifInputIs = false;               ///< quantized only if its input is
    bool unitRange = false;               ///< the output's range is 0 to 1, whatever was calibrated (Softmax)
    bool quantizesOutput = true;    ///< false: the output stays in float (placement weighted_inputs, recurrent layers)
    bool skipped = false;           ///< by a rule or a setting
    bool quantized = false;
    std::string reason;             ///< why it is not quantized
};

struct UnitList {
    std::vector<Unit> units;  ///< in graph order
    /// One entry a prepared node.
    std::vector<std::optional<std::size_t>> unitOf;  ///< the unit it belongs to
    std::vector<std::string> reasons;                ///< why it belongs to none
};

/// Finds the units and decides which are quantized. An activation is fused unless it alone was skipped.
UnitList findUnits(const Prepared& prepared, const SkipDecisions& skips);

/// For each unit, the one whose scale its output has: itself, or, behind quantized operators that pass scales on, the quantized unit
/// that their chain begins with.
std::vector<std::size_t> scaleOwners(const UnitList& units);

}  // namespace quantloupe
