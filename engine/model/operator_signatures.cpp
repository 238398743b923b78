// SPDX-License-Identifier: Apache-2.0
#include "model/operator_signatures.h"

#include <map>

#include "base/error.h"
#include "model/attribute_rules.h"

namespace quantloupe {
namespace {

constexpr int kAny = 1 << 30;

/// `inputs`: one character per input: x required, ? optional, + one or more, * any number.
struct Signature {
    const char* op;
    const char* inputs;
    int leastOutputs, mostOutputs;
};

constexpr Signature kSignatures[] = {
    {"Abs", "x", 1, 1},
    {"Acos", "x", 1, 1},
    {"Acosh", "x", 1, 1},
    {"Add", "xx", 1, 1},
    {"AffineGrid", "xx", 1, 1},
    {"And", "xx", 1, 1},
    {"ArgMax", "x", 1, 1},
    {"ArgMin", "x", 1, 1},
    {"Asin", "x", 1, 1},
    {"Asinh", "x", 1, 1},
    {"Atan", "x", 1, 1},
    {"Atanh", "x", 1, 1},
    {"Attention", "xxx????", 1, 4},
    {"AveragePool", "x", 1, 1},
    {"BatchNormalization", "xxxxx", 1, 5},
    {"Bernoulli", "x", 1, 1},
    {"BitCast", "x", 1, 1},
    {"BitShift", "xx", 1, 1},
    {"BitwiseAnd", "xx", 1, 1},
    {"BitwiseNot", "x", 1, 1},
    {"BitwiseOr", "xx", 1, 1},
    {"BitwiseXor", "xx", 1, 1},
    {"BlackmanWindow", "x", 1, 1},
    {"Cast", "x", 1, 1},
    {"CastLike", "xx", 1, 1},
    {"CausalConvWithState", "xx??", 2, 2},
    {"Ceil", "x", 1, 1},
    {"Celu", "x", 1, 1},
    {"CenterCropPad", "xx", 1, 1},
    {"Clip", "x??", 1, 1},
    {"Col2Im", "xxx", 1, 1},
    {"Compress", "xx", 1, 1},
    {"Concat", "+", 1, 1},
    {"ConcatFromSequence", "x", 1, 1},
    {"Constant", "", 1, 1},
    {"ConstantOfShape", "x", 1, 1},
    {"Conv", "xx?", 1, 1},
    {"ConvInteger", "xx??", 1, 1},
    {"ConvTranspose", "xx?", 1, 1},
    {"Cos", "x", 1, 1},
    {"Cosh", "x", 1, 1},
    {"CumProd", "xx", 1, 1},
    {"CumSum", "xx", 1, 1},
    {"DFT", "x??", 1, 1},
    {"DeformConv", "xxx??", 1, 1},
    {"DepthToSpace", "x", 1, 1},
    {"DequantizeLinear", "xx?", 1, 1},
    {"Det", "x", 1, 1},
    {"Div", "xx", 1, 1},
    {"Dropout", "x??", 1, 2},
    {"DynamicQuantizeLinear", "x", 3, 3},
    {"Einsum", "+", 1, 1},
    {"Elu", "x", 1, 1},
    {"Equal", "xx", 1, 1},
    {"Erf", "x", 1, 1},
    {"Exp", "x", 1, 1},
    {"Expand", "xx", 1, 1},
    {"EyeLike", "x", 1, 1},
    {"Flatten", "x", 1, 1},
    {"Floor", "x", 1, 1},
    {"GRU", "xxx???", 0, 2},
    {"Gather", "xx", 1, 1},
    {"GatherElements", "xx", 1, 1},
    {"GatherND", "xx", 1, 1},
    {"Gelu", "x", 1, 1},
    {"Gemm", "xx?", 1, 1},
    {"GlobalAveragePool", "x", 1, 1},
    {"GlobalLpPool", "x", 1, 1},
    {"GlobalMaxPool", "x", 1, 1},
    {"Greater", "xx", 1, 1},
    {"GreaterOrEqual", "xx", 1, 1},
    {"GridSample", "xx", 1, 1},
    {"GroupNormalization", "xxx", 1, 1},
    {"HammingWindow", "x", 1, 1},
    {"HannWindow", "x", 1, 1},
    {"HardSigmoid", "x", 1, 1},
    {"HardSwish", "x", 1, 1},
    {"Hardmax", "x", 1, 1},
    {"Identity", "x", 1, 1},
    {"If", "x", 1, kAny},
    {"ImageDecoder", "x", 1, 1},
    {"InstanceNormalization", "xxx", 1, 1},
    {"IsInf", "x", 1, 1},
    {"IsNaN", "x", 1, 1},
    {"LRN", "x", 1, 1},
    {"LSTM", "xxx?????", 0, 3},
    {"LayerNormalization", "xx?", 1, 3},
    {"LeakyRelu", "x", 1, 1},
    {"Less", "xx", 1, 1},
    {"LessOrEqual", "xx", 1, 1},
    {"LinearAttention", "xxx???", 2, 2},
    {"Log", "x", 1, 1},
    {"LogSoftmax", "x", 1, 1},
    {"Loop", "??*", 1, kAny},
    {"LpNormalization", "x", 1, 1},
    {"LpPool", "x", 1, 1},
    {"MatMul", "xx", 1, 1},
    {"MatMulInteger", "xx??", 1, 1},
    {"Max", "+", 1, 1},
    {"MaxPool", "x", 1, 2},
    {"MaxRoiPool", "xx", 1, 1},
    {"MaxUnpool", "xx?", 1, 1},
    {"Mean", "+", 1, 1},
    {"MeanVarianceNormalization", "x", 1, 1},
    {"MelWeightMatrix", "xxxxx", 1, 1},
    {"Min", "+", 1, 1},
    {"Mish", "x", 1, 1},
    {"Mod", "xx", 1, 1},
    {"Mul", "xx", 1, 1},
    {"Multinomial", "x", 1, 1},
    {"Neg", "x", 1, 1},
    {"NegativeLogLikelihoodLoss", "xx?", 1, 1},
    {"NonMaxSuppression", "xx???", 1, 1},
    {"NonZero", "x", 1, 1},
    {"Not", "x", 1, 1},
    {"OneHot", "xxx", 1, 1},
    {"Optional", "?", 1, 1},
    {"OptionalGetElement", "x", 1, 1},
    {"OptionalHasElement", "?", 1, 1},
    {"Or", "xx", 1, 1},
    {"PRelu", "xx", 1, 1},
    {"Pad", "x???", 1, 1},
    {"Pow", "xx", 1, 1},
    {"QLinearConv", "xxxxxxxx?", 1, 1},
    {"QLinearMatMul", "xxxxxxxx", 1, 1},
    {"QuantizeLinear", "xx?", 1, 1},
    {"RMSNormalization", "xx", 1, 1},
    {"RNN", "xxx???", 0, 2},
    {"RandomNormal", "", 1, 1},
    {"RandomNormalLike", "x", 1, 1},
    {"RandomUniform", "", 1, 1},
    {"RandomUniformLike", "x", 1, 1},
    {"Range", "xxx", 1, 1},
    {"Reciprocal", "x", 1, 1},
    {"ReduceL1", "x?", 1, 1},
    {"ReduceL2", "x?", 1, 1},
    {"ReduceLogSum", "x?", 1, 1},
    {"ReduceLogSumExp", "x?", 1, 1},
    {"ReduceMax", "x?", 1, 1},
    {"ReduceMean", "x?", 1, 1},
    {"ReduceMin", "x?", 1, 1},
    {"ReduceProd", "x?", 1, 1},
    {"ReduceSum", "x?", 1, 1},
    {"ReduceSumSquare", "x?", 1, 1},
    {"RegexFullMatch", "x", 1, 1},
    {"Relu", "x", 1, 1},
    {"Reshape", "x?", 1, 1},
    {"Resize", "x???", 1, 1},
    {"ReverseSequence", "xx", 1, 1},
    {"RoiAlign", "xxx", 1, 1},
    {"RotaryEmbedding", "xxx?", 1, 1},
    {"Round", "x", 1, 1},
    {"STFT", "xx??", 1, 1},
    {"Scan", "?*", 1, kAny},
    {"Scatter", "xxx", 1, 1},
    {"ScatterElements", "xxx", 1, 1},
    {"ScatterND", "xxx", 1, 1},
    {"Selu", "x", 1, 1},
    {"SequenceAt", "xx", 1, 1},
    {"SequenceConstruct", "+", 1, 1},
    {"SequenceEmpty", "", 1, 1},
    {"SequenceErase", "x?", 1, 1},
    {"SequenceInsert", "xx?", 1, 1},
    {"SequenceLength", "x", 1, 1},
    {"SequenceMap", "x*", 1, kAny},
    {"Shape", "x", 1, 1},
    {"Shrink", "x", 1, 1},
    {"Sigmoid", "x", 1, 1},
    {"Sign", "x", 1, 1},
    {"SimplifiedLayerNormalization", "xx", 1, 2},
    {"Sin", "x", 1, 1},
    {"Sinh", "x", 1, 1},
    {"Size", "x", 1, 1},
    {"Slice", "x????", 1, 1},
    {"Softmax", "x", 1, 1},
    {"SoftmaxCrossEntropyLoss", "xx?", 1, 2},
    {"Softplus", "x", 1, 1},
    {"Softsign", "x", 1, 1},
    {"SpaceToDepth", "x", 1, 1},
    {"Split", "x?", 1, kAny},
    {"SplitToSequence", "x?", 1, 1},
    {"Sqrt", "x", 1, 1},
    {"Squeeze", "x?", 1, 1},
    {"StringConcat", "xx", 1, 1},
    {"StringNormalizer", "x", 1, 1},
    {"StringSplit", "x", 2, 2},
    {"Sub", "xx", 1, 1},
    {"Sum", "+", 1, 1},
    {"SwiGLU", "xx", 1, 1},
    {"Swish", "x", 1, 1},
    {"Tan", "x", 1, 1},
    {"Tanh", "x", 1, 1},
    {"TensorScatter", "xx?", 1, 1},
    {"TfIdfVectorizer", "x", 1, 1},
    {"ThresholdedRelu", "x", 1, 1},
    {"Tile", "xx?", 1, 1},
    {"TopK", "x?", 2, 2},
    {"Transpose", "x", 1, 1},
    {"Trilu", "x?", 1, 1},
    {"Unique", "x", 1, 4},
    {"Unsqueeze", "x?", 1, 1},
    {"Upsample", "x?", 1, 1},
    {"Where", "xxx", 1, 1},
    {"Xor", "xx", 1, 1},
};

const std::map<std::string_view, const Signature*>& signatures() {
    static const std::map<std::string_view, const Signature*> all = [] {
        std::map<std::string_view, const Signature*> map;
        for (const Signature& signature : kSignatures) map[signature.op] = &signature;
        return map;
    }();
    return all;
}

std::string countOf(std::size_t count, const char* what) {
    return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

}  // namespace

void checkSignature(const Node& node, std::size_t formalInputs) {
    if (!node.domain.empty()) return;
    const auto found = signatures().find(node.op);
    if (found == signatures().end()) return;
    const Signature& signature = *found->second;
    const std::string_view pattern = signature.inputs;
    const bool open = !pattern.empty() && (pattern.back() == '*' || pattern.back() == '+');
    const std::string_view fixed = open ? pattern.substr(0, pattern.size() - 1) : pattern;
    if (!open && formalInputs > pattern.size())
        failInput("it has {}, but {} takes at most {}", countOf(formalInputs, "input"), node.op,
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
        failInput("it has {}, but {} has at least {}", countOf(node.outputs.size(), "output"), node.op,
                  signature.leastOutputs);
    for (int i = 0; i < signature.leastOutputs; ++i)
        if (!node.outputs[static_cast<std::size_t>(i)].valid()) failInput("its output {} is missing", i);
    if (outputs > signature.mostOutputs)
        failInput("it has {}, but {} has at most {}", countOf(node.outputs.size(), "output"), node.op,
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

}  // namespace quantloupe
