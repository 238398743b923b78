// SPDX-License-Identifier: Apache-2.0
#pragma once
// Properties of each operator for the quantizer, the transforms and the cost model: one row per operator in
// operator_traits.cpp. Kernels are in runtime/operators/, numbers of inputs in operator_signatures.h.

#include <cstdint>
#include <string_view>

#include "model/graph.h"

namespace quantloupe {

enum class OperatorKind : std::uint8_t {
    Other,
    Convolution,  ///< Conv, ConvTranspose
    Product,      ///< Gemm, MatMul
    Recurrent,    ///< LSTM, GRU, RNN
    Clipping,     ///< Relu, Clip: computed by the kernel of the layer before it
    Slope,        ///< LeakyRelu, PRelu: likewise in Quark
    Elementwise,  ///< Add, Sub, Mul, Div
};

/// The scale of the output of a quantized operator.
enum class OutputScale : std::uint8_t {
    None,        ///< the operator stays in float
    Own,         ///< a scale of its own
    FromInput,   ///< the scale of its input; quantized only if its input is
    Normalized,  ///< a scale of its own; the operator's scale and bias are quantized like weights and biases
};

struct OperatorTraits {
    std::string_view op;
    OperatorKind kind = OperatorKind::Other;
    /// The scale in each set of operators (config/quantization_config.h: OperatorSet). Weighted layers,
    /// recurrent layers and activations have rules of their own in quantize/units.cpp.
    OutputScale layers = OutputScale::None, onnxRuntime = OutputScale::None, quark = OutputScale::None,
                aimet = OutputScale::None;
    bool everyInput = false;  ///< all inputs are activations, not only the first
    bool sameShape = false;   ///< the output has the shape of the first input
    /// A positive factor on a channel of the input becomes a factor on the same channel of the output,
    /// whatever the attributes and constants are (operators that pass factors only under conditions are in
    /// transform/pass_through.cpp).
    bool passesFactor = false;
    bool copiesValues = false;  ///< each value of the output is a value of an input
};

/// Returns the row of the node's operator. An operator without a row, or of another domain, has no traits.
const OperatorTraits& traitsOf(const Node& node);

/// Whether the node is the ai.onnx operator `op`.
bool isOp(const Node& node, std::string_view op);
/// Whether the node is a Conv or ConvTranspose.
bool isConvolution(const Node& node);
/// Whether the node is a ConvTranspose with strides other than 1.
bool isStridedTranspose(const Node& node);
/// Whether the node multiplies its input by a weight: Conv, ConvTranspose, Gemm, MatMul.
bool multipliesWeight(const Node& node);
/// Whether the settings of weights apply to constants of the node: also of recurrent layers and
/// normalizations.
bool canHaveWeights(const Node& node);
/// Returns whether the node is a Conv with a constant weight that filters each channel separately.
bool isDepthwise(const Graph& graph, const Node& node);
/// Whether the operator only arranges its values in another shape or order: Flatten, Reshape, Squeeze,
/// Transpose, Unsqueeze.
bool onlyRearranges(std::string_view op);
/// Whether the operator reads only the shape of its input: Shape, Size.
bool readsOnlyShape(std::string_view op);
bool readsOnlyShape(const Node& node);
/// Whether the node is a Relu or Clip.
bool isClipping(const Node& node);
/// Whether a Relu or Clip that follows the node can be fused with it: Conv, ConvTranspose, Gemm, MatMul, Add,
/// Mul, BatchNormalization.
bool canFuseActivation(const Node& node);

}  // namespace quantloupe
