// SPDX-License-Identifier: Apache-2.0
#include "model/operator_signatures.h"

#include <algorithm>
#include <map>

#include "base/error.h"
#include "base/short_text.h"
#include "model/attribute_rules.h"

namespace quantloupe {
namespace {

constexpr int kAny = 1 << 30;

/// `inputs`: one character per input: x required, ? optional, + one or more, * any number. `attributes` are
/// separated by spaces. `elementwise`: see isElementwise().
struct Signature {
    const char* op;
    const char* inputs;
    int leastOutputs, mostOutputs;
    const char* attributes;
    bool elementwise = false;
};

// clang-format off
constexpr Signature kSignatures[] = {
    {"Abs", "x", 1, 1, "consumed_inputs", true},
    {"Acos", "x", 1, 1, "", true},
    {"Acosh", "x", 1, 1, "", true},
    {"Add", "xx", 1, 1, "broadcast consumed_inputs", true},
    {"AffineGrid", "xx", 1, 1, "align_corners"},
    {"And", "xx", 1, 1, "broadcast", true},
    {"ArgMax", "x", 1, 1, "axis keepdims select_last_index"},
    {"ArgMin", "x", 1, 1, "axis keepdims select_last_index"},
    {"Asin", "x", 1, 1, "", true},
    {"Asinh", "x", 1, 1, "", true},
    {"Atan", "x", 1, 1, "", true},
    {"Atanh", "x", 1, 1, "", true},
    {"Attention", "xxx????", 1, 4, "is_causal kv_num_heads left_window_size q_num_heads qk_matmul_output_mode right_window_size scale softcap softmax_precision"},
    {"AveragePool", "x", 1, 1, "auto_pad ceil_mode count_include_pad dilations kernel_shape pads strides"},
    {"BatchNormalization", "xxxxx", 1, 5, "consumed_inputs epsilon is_test momentum spatial training_mode"},
    {"Bernoulli", "x", 1, 1, "dtype seed"},
    {"BitCast", "x", 1, 1, "to"},
    {"BitShift", "xx", 1, 1, "direction", true},
    {"BitwiseAnd", "xx", 1, 1, "", true},
    {"BitwiseNot", "x", 1, 1, "", true},
    {"BitwiseOr", "xx", 1, 1, "", true},
    {"BitwiseXor", "xx", 1, 1, "", true},
    {"BlackmanWindow", "x", 1, 1, "output_datatype periodic"},
    {"Cast", "x", 1, 1, "round_mode saturate to", true},
    {"CastLike", "xx", 1, 1, "round_mode saturate"},
    {"CausalConvWithState", "xx??", 2, 2, "activation"},
    {"Ceil", "x", 1, 1, "consumed_inputs", true},
    {"Celu", "x", 1, 1, "alpha", true},
    {"CenterCropPad", "xx", 1, 1, "axes"},
    {"Clip", "x??", 1, 1, "consumed_inputs max min", true},
    {"Col2Im", "xxx", 1, 1, "dilations pads strides"},
    {"Compress", "xx", 1, 1, "axis"},
    {"Concat", "+", 1, 1, "axis"},
    {"ConcatFromSequence", "x", 1, 1, "axis new_axis"},
    {"Constant", "", 1, 1, "sparse_value value value_float value_floats value_int value_ints value_string value_strings"},
    {"ConstantOfShape", "x", 1, 1, "value"},
    {"Conv", "xx?", 1, 1, "auto_pad dilations group kernel_shape pads strides"},
    {"ConvInteger", "xx??", 1, 1, "auto_pad dilations group kernel_shape pads strides"},
    {"ConvTranspose", "xx?", 1, 1, "auto_pad dilations group kernel_shape output_padding output_shape pads strides"},
    {"Cos", "x", 1, 1, "", true},
    {"Cosh", "x", 1, 1, "", true},
    {"CumProd", "xx", 1, 1, "exclusive reverse"},
    {"CumSum", "xx", 1, 1, "exclusive reverse"},
    {"DFT", "x??", 1, 1, "axis inverse onesided"},
    {"DeformConv", "xxx??", 1, 1, "dilations group kernel_shape offset_group pads strides"},
    {"DepthToSpace", "x", 1, 1, "blocksize mode"},
    {"DequantizeLinear", "xx?", 1, 1, "axis block_size output_dtype"},
    {"Det", "x", 1, 1, ""},
    {"Div", "xx", 1, 1, "broadcast consumed_inputs", true},
    {"Dropout", "x??", 1, 2, "consumed_inputs is_test ratio seed"},
    {"DynamicQuantizeLinear", "x", 3, 3, ""},
    {"Einsum", "+", 1, 1, "equation"},
    {"Elu", "x", 1, 1, "alpha consumed_inputs", true},
    {"Equal", "xx", 1, 1, "broadcast", true},
    {"Erf", "x", 1, 1, "", true},
    {"Exp", "x", 1, 1, "consumed_inputs", true},
    {"Expand", "xx", 1, 1, ""},
    {"EyeLike", "x", 1, 1, "dtype k"},
    {"Flatten", "x", 1, 1, "axis"},
    {"Floor", "x", 1, 1, "consumed_inputs", true},
    {"GRU", "xxx???", 0, 2, "activation_alpha activation_beta activations clip direction hidden_size layout linear_before_reset output_sequence"},
    {"Gather", "xx", 1, 1, "axis"},
    {"GatherElements", "xx", 1, 1, "axis"},
    {"GatherND", "xx", 1, 1, "batch_dims"},
    {"Gelu", "x", 1, 1, "approximate", true},
    {"Gemm", "xx?", 1, 1, "alpha beta broadcast transA transB"},
    {"GlobalAveragePool", "x", 1, 1, ""},
    {"GlobalLpPool", "x", 1, 1, "p"},
    {"GlobalMaxPool", "x", 1, 1, ""},
    {"Greater", "xx", 1, 1, "broadcast", true},
    {"GreaterOrEqual", "xx", 1, 1, "", true},
    {"GridSample", "xx", 1, 1, "align_corners mode padding_mode"},
    {"GroupNormalization", "xxx", 1, 1, "epsilon num_groups stash_type"},
    {"HammingWindow", "x", 1, 1, "output_datatype periodic"},
    {"HannWindow", "x", 1, 1, "output_datatype periodic"},
    {"HardSigmoid", "x", 1, 1, "alpha beta consumed_inputs", true},
    {"HardSwish", "x", 1, 1, "", true},
    {"Hardmax", "x", 1, 1, "axis"},
    {"Identity", "x", 1, 1, ""},
    {"If", "x", 1, kAny, "else_branch then_branch"},
    {"ImageDecoder", "x", 1, 1, "pixel_format"},
    {"InstanceNormalization", "xxx", 1, 1, "consumed_inputs epsilon"},
    {"IsInf", "x", 1, 1, "detect_negative detect_positive", true},
    {"IsNaN", "x", 1, 1, "", true},
    {"LRN", "x", 1, 1, "alpha beta bias size"},
    {"LSTM", "xxx?????", 0, 3, "activation_alpha activation_beta activations clip direction hidden_size input_forget layout output_sequence"},
    {"LayerNormalization", "xx?", 1, 3, "axis epsilon stash_type"},
    {"LeakyRelu", "x", 1, 1, "alpha consumed_inputs", true},
    {"Less", "xx", 1, 1, "broadcast", true},
    {"LessOrEqual", "xx", 1, 1, "", true},
    {"LinearAttention", "xxx???", 2, 2, "chunk_size kv_num_heads q_num_heads scale update_rule"},
    {"Log", "x", 1, 1, "consumed_inputs", true},
    {"LogSoftmax", "x", 1, 1, "axis"},
    {"Loop", "??*", 1, kAny, "body"},
    {"LpNormalization", "x", 1, 1, "axis p"},
    {"LpPool", "x", 1, 1, "auto_pad ceil_mode dilations kernel_shape p pads strides"},
    {"MatMul", "xx", 1, 1, ""},
    {"MatMulInteger", "xx??", 1, 1, ""},
    {"Max", "+", 1, 1, "consumed_inputs", true},
    {"MaxPool", "x", 1, 2, "auto_pad ceil_mode dilations kernel_shape pads storage_order strides"},
    {"MaxRoiPool", "xx", 1, 1, "pooled_shape spatial_scale"},
    {"MaxUnpool", "xx?", 1, 1, "kernel_shape pads strides"},
    {"Mean", "+", 1, 1, "consumed_inputs", true},
    {"MeanVarianceNormalization", "x", 1, 1, "axes"},
    {"MelWeightMatrix", "xxxxx", 1, 1, "output_datatype"},
    {"Min", "+", 1, 1, "consumed_inputs", true},
    {"Mish", "x", 1, 1, "", true},
    {"Mod", "xx", 1, 1, "fmod", true},
    {"Mul", "xx", 1, 1, "broadcast consumed_inputs", true},
    {"Multinomial", "x", 1, 1, "dtype sample_size seed"},
    {"Neg", "x", 1, 1, "consumed_inputs", true},
    {"NegativeLogLikelihoodLoss", "xx?", 1, 1, "ignore_index reduction"},
    {"NonMaxSuppression", "xx???", 1, 1, "center_point_box"},
    {"NonZero", "x", 1, 1, ""},
    {"Not", "x", 1, 1, "", true},
    {"OneHot", "xxx", 1, 1, "axis"},
    {"Optional", "?", 1, 1, "type"},
    {"OptionalGetElement", "x", 1, 1, ""},
    {"OptionalHasElement", "?", 1, 1, ""},
    {"Or", "xx", 1, 1, "broadcast", true},
    {"PRelu", "xx", 1, 1, "consumed_inputs", true},
    {"Pad", "x???", 1, 1, "mode paddings pads value"},
    {"Pow", "xx", 1, 1, "broadcast", true},
    {"QLinearConv", "xxxxxxxx?", 1, 1, "auto_pad dilations group kernel_shape pads strides"},
    {"QLinearMatMul", "xxxxxxxx", 1, 1, ""},
    {"QuantizeLinear", "xx?", 1, 1, "axis block_size output_dtype precision saturate"},
    {"RMSNormalization", "xx", 1, 1, "axis epsilon stash_type"},
    {"RNN", "xxx???", 0, 2, "activation_alpha activation_beta activations clip direction hidden_size layout output_sequence"},
    {"RandomNormal", "", 1, 1, "dtype mean scale seed shape"},
    {"RandomNormalLike", "x", 1, 1, "dtype mean scale seed"},
    {"RandomUniform", "", 1, 1, "dtype high low seed shape"},
    {"RandomUniformLike", "x", 1, 1, "dtype high low seed"},
    {"Range", "xxx", 1, 1, "stash_type"},
    {"Reciprocal", "x", 1, 1, "consumed_inputs", true},
    {"ReduceL1", "x?", 1, 1, "axes keepdims noop_with_empty_axes"},
    {"ReduceL2", "x?", 1, 1, "axes keepdims noop_with_empty_axes"},
    {"ReduceLogSum", "x?", 1, 1, "axes keepdims noop_with_empty_axes"},
    {"ReduceLogSumExp", "x?", 1, 1, "axes keepdims noop_with_empty_axes"},
    {"ReduceMax", "x?", 1, 1, "axes keepdims noop_with_empty_axes"},
    {"ReduceMean", "x?", 1, 1, "axes keepdims noop_with_empty_axes"},
    {"ReduceMin", "x?", 1, 1, "axes keepdims noop_with_empty_axes"},
    {"ReduceProd", "x?", 1, 1, "axes keepdims noop_with_empty_axes"},
    {"ReduceSum", "x?", 1, 1, "axes keepdims noop_with_empty_axes"},
    {"ReduceSumSquare", "x?", 1, 1, "axes keepdims noop_with_empty_axes"},
    {"RegexFullMatch", "x", 1, 1, "pattern"},
    {"Relu", "x", 1, 1, "consumed_inputs", true},
    {"Reshape", "x?", 1, 1, "allowzero consumed_inputs shape"},
    {"Resize", "x???", 1, 1, "antialias axes coordinate_transformation_mode cubic_coeff_a exclude_outside extrapolation_value keep_aspect_ratio_policy mode nearest_mode"},
    {"ReverseSequence", "xx", 1, 1, "batch_axis time_axis"},
    {"RoiAlign", "xxx", 1, 1, "coordinate_transformation_mode mode output_height output_width sampling_ratio spatial_scale"},
    {"RotaryEmbedding", "xxx?", 1, 1, "interleaved num_heads rotary_embedding_dim"},
    {"Round", "x", 1, 1, "", true},
    {"STFT", "xx??", 1, 1, "onesided"},
    {"Scan", "?*", 1, kAny, "body directions num_scan_inputs scan_input_axes scan_input_directions scan_output_axes scan_output_directions"},
    {"Scatter", "xxx", 1, 1, "axis"},
    {"ScatterElements", "xxx", 1, 1, "axis reduction"},
    {"ScatterND", "xxx", 1, 1, "reduction"},
    {"Selu", "x", 1, 1, "alpha consumed_inputs gamma", true},
    {"SequenceAt", "xx", 1, 1, ""},
    {"SequenceConstruct", "+", 1, 1, ""},
    {"SequenceEmpty", "", 1, 1, "dtype"},
    {"SequenceErase", "x?", 1, 1, ""},
    {"SequenceInsert", "xx?", 1, 1, ""},
    {"SequenceLength", "x", 1, 1, ""},
    {"SequenceMap", "x*", 1, kAny, "body"},
    {"Shape", "x", 1, 1, "end start"},
    {"Shrink", "x", 1, 1, "bias lambd", true},
    {"Sigmoid", "x", 1, 1, "consumed_inputs", true},
    {"Sign", "x", 1, 1, "", true},
    {"SimplifiedLayerNormalization", "xx", 1, 2, "axis epsilon stash_type"},
    {"Sin", "x", 1, 1, "", true},
    {"Sinh", "x", 1, 1, "", true},
    {"Size", "x", 1, 1, ""},
    {"Slice", "x????", 1, 1, "axes ends starts"},
    {"Softmax", "x", 1, 1, "axis"},
    {"SoftmaxCrossEntropyLoss", "xx?", 1, 2, "ignore_index reduction"},
    {"Softplus", "x", 1, 1, "", true},
    {"Softsign", "x", 1, 1, "", true},
    {"SpaceToDepth", "x", 1, 1, "blocksize mode"},
    {"Split", "x?", 1, kAny, "axis num_outputs split"},
    {"SplitToSequence", "x?", 1, 1, "axis keepdims"},
    {"Sqrt", "x", 1, 1, "consumed_inputs", true},
    {"Squeeze", "x?", 1, 1, "axes"},
    {"StringConcat", "xx", 1, 1, ""},
    {"StringNormalizer", "x", 1, 1, "case_change_action is_case_sensitive locale stopwords"},
    {"StringSplit", "x", 2, 2, "delimiter maxsplit"},
    {"Sub", "xx", 1, 1, "broadcast consumed_inputs", true},
    {"Sum", "+", 1, 1, "consumed_inputs", true},
    {"SwiGLU", "xx", 1, 1, "alpha"},
    {"Swish", "x", 1, 1, "alpha", true},
    {"Tan", "x", 1, 1, "", true},
    {"Tanh", "x", 1, 1, "consumed_inputs", true},
    {"TensorScatter", "xx?", 1, 1, "axis mode"},
    {"TfIdfVectorizer", "x", 1, 1, "max_gram_length max_skip_count min_gram_length mode ngram_counts ngram_indexes pool_int64s pool_strings weights"},
    {"ThresholdedRelu", "x", 1, 1, "alpha", true},
    {"Tile", "xx?", 1, 1, ""},
    {"TopK", "x?", 2, 2, "axis k largest sorted"},
    {"Transpose", "x", 1, 1, "perm"},
    {"Trilu", "x?", 1, 1, "upper"},
    {"Unique", "x", 1, 4, "axis sorted"},
    {"Unsqueeze", "x?", 1, 1, "axes"},
    {"Upsample", "x?", 1, 1, "height_scale mode scales width_scale"},
    {"Where", "xxx", 1, 1, "", true},
    {"Xor", "xx", 1, 1, "broadcast", true},
};
// clang-format on

const std::map<std::string_view, const Signature*>& signatures() {
    static const std::map<std::string_view, const Signature*> all = [] {
        std::map<std::string_view, const Signature*> map;
        for (const Signature& signature : kSignatures) map[signature.op] = &signature;
        return map;
    }();
    return all;
}

/// Operators and attributes that fusions add when a program is compiled begin like this (operators.h).
constexpr std::string_view kReserved = "quantloupe.";

/// Whether the words contain the name.
bool listed(std::string_view words, std::string_view name) {
    for (std::size_t begin = 0; begin < words.size();) {
        const std::size_t end = std::min(words.find(' ', begin), words.size());
        if (words.substr(begin, end - begin) == name) return true;
        begin = end + 1;
    }
    return false;
}

}  // namespace

bool isOperator(std::string_view op) { return signatures().contains(op); }

bool isElementwise(std::string_view op) {
    const auto found = signatures().find(op);
    return found != signatures().end() && found->second->elementwise;
}

void checkSignature(const Node& node, std::size_t formalInputs) {
    if (node.op.starts_with(kReserved))
        failInput("the name of its operator begins with '{}', which is reserved", kReserved);
    for (const auto& [name, value] : node.attributes)
        if (name.starts_with(kReserved))
            failInput("the name of an attribute begins with '{}', which is reserved", kReserved);
    if (!node.domain.empty()) return;
    const auto found = signatures().find(node.op);
    if (found == signatures().end()) return;
    const Signature& signature = *found->second;
    const std::string_view pattern = signature.inputs;
    const bool open = !pattern.empty() && (pattern.back() == '*' || pattern.back() == '+');
    const std::string_view fixed = open ? pattern.substr(0, pattern.size() - 1) : pattern;
    if (!open && formalInputs > pattern.size())
        failInput("it has {}, but {} takes at most {}", counted(formalInputs, "input"), node.op,
                  pattern.size());
    for (std::size_t i = 0; i < fixed.size(); ++i)
        if (fixed[i] == 'x' && (i >= formalInputs || !node.inputs[i].valid()))
            failInput("its input {} is missing", i);
    if (open && pattern.back() == '+') {
        if (formalInputs <= fixed.size()) failInput("it has no inputs, but {} needs at least one", node.op);
        for (std::size_t i = fixed.size(); i < formalInputs; ++i)
            if (!node.inputs[i].valid()) failInput("its input {} is missing", i);
    }
    const auto outputs = static_cast<int>(node.outputs.size());
    if (outputs < signature.leastOutputs)
        failInput("it has {}, but {} has at least {}", counted(node.outputs.size(), "output"), node.op,
                  signature.leastOutputs);
    for (int i = 0; i < signature.leastOutputs; ++i)
        if (!node.outputs[static_cast<std::size_t>(i)].valid()) failInput("its output {} is missing", i);
    if (outputs > signature.mostOutputs)
        failInput("it has {}, but {} has at most {}", counted(node.outputs.size(), "output"), node.op,
                  signature.mostOutputs);
    for (const auto& [name, value] : node.attributes) checkAttribute(node.op, name, value);
    static const std::map<std::string_view, std::vector<const char*>> subgraphs = {
        {"If", {"then_branch", "else_branch"}},
        {"Loop", {"body"}},
        {"Scan", {"body"}},
        {"SequenceMap", {"body"}}};
    if (const auto needed = subgraphs.find(node.op); needed != subgraphs.end())
        for (const char* name : needed->second)
            if (!node.attributes.has(name)) failInput("its subgraph '{}' is missing", name);
}

void requireKnownAttributes(const Node& node) {
    if (!node.domain.empty()) return;
    const auto found = signatures().find(node.op);
    if (found == signatures().end()) return;
    for (const auto& [name, value] : node.attributes) {
        if (name.starts_with(kReserved)) continue;
        if (listed(found->second->attributes, name)) continue;
        if (name == "axis" && (node.op == "PRelu" || listed(found->second->attributes, "broadcast")))
            fail(ErrorKind::Unsupported,
                 "the second operand of {} cannot be aligned with an axis of the first (opset 6 and below): "
                 "their numbers of dimensions are unknown",
                 node.op);
        fail(ErrorKind::Unsupported, "the attribute '{:.40}' of {} is not supported", name, node.op);
    }
}

}  // namespace quantloupe
