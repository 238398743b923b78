// SPDX-License-Identifier: Apache-2.0
#include "model/fused_operators.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <set>

#include "base/error.h"
#include "model/changed_constants.h"
#include "model/fused_body.h"
#include "model/inline_functions.h"
#include "model/onnx_proto.h"
#include "model/operator_signatures.h"

namespace quantloupe {
namespace {

using Operand = FusedBody::Operand;

constexpr const char* kMicrosoft = "com.microsoft";
constexpr const char* kOwnDomain = "quantloupe.fused";

/// The activation of a FusedConv or FusedGemm, with its parameters in ONNX's order.
Operand activated(FusedBody& body, const Operand& x, const std::vector<float>& parameters) {
    if (body.attribute("activation") == nullptr) return x;
    const std::string kind = body.text("activation");
    const auto parameter = [&](std::size_t i, float otherwise) {
        return i < parameters.size() ? parameters[i] : otherwise;
    };
    if (kind == "Relu" || kind == "Sigmoid" || kind == "Tanh" || kind == "Softplus" || kind == "Softsign")
        return body.add(kind, {x});
    if (kind == "Elu" || kind == "ThresholdedRelu")
        return body.add(kind, {x}, {{"alpha", parameter(0, 1.0f)}});
    if (kind == "Selu")
        return body.add(kind, {x},
                        {{"alpha", parameter(0, 1.67326319f)}, {"gamma", parameter(1, 1.05070102f)}});
    if (kind == "LeakyRelu") return body.add(kind, {x}, {{"alpha", parameter(0, 0.01f)}});
    if (kind == "HardSigmoid")
        return body.add(kind, {x}, {{"alpha", parameter(0, 0.2f)}, {"beta", parameter(1, 0.5f)}});
    if (kind == "HardSwish")
        return body.add("Mul", {x, body.add("HardSigmoid", {x}, {{"alpha", 1.0f / 6}, {"beta", 0.5f}})});
    if (kind == "Clip" && parameters.size() == 2) return body.clip(x, parameters[0], parameters[1]);
    fail(ErrorKind::Unsupported, "the activation '{}' is not supported", kind);
}

void copyAttributes(FusedBody& body, std::initializer_list<const char*> names) {
    for (const char* name : names)
        if (const auto* attribute = body.attribute(name)) *body.last().add_attribute() = *attribute;
}

void expandConv(FusedBody& body) {
    Operand y = body.add("Conv", {body.in(0), body.in(1), body.in(2)});
    copyAttributes(body, {"auto_pad", "dilations", "group", "kernel_shape", "pads", "strides"});
    if (body.has(3)) y = body.add("Add", {y, body.in(3)});
    std::vector<float> parameters;
    if (const auto* given = body.attribute("activation_params"))
        parameters.assign(given->floats().begin(), given->floats().end());
    body.setOutput(0, activated(body, y, parameters));
}

void expandGemm(FusedBody& body) {
    const Operand y = body.add("Gemm", {body.in(0), body.in(1), body.in(2)});
    copyAttributes(body, {"alpha", "beta", "transA", "transB"});
    std::vector<float> parameters;
    for (const char* name : {"activation_alpha", "activation_beta", "activation_gamma"})
        if (const auto* given = body.attribute(name)) parameters.push_back(given->f());
    body.setOutput(0, activated(body, y, parameters));
}

/// An operand of FusedMatMul with other dimensions: `transpose` exchanges the last two, and with `batches`
/// the first one comes after the other leading ones.
Operand transposed(FusedBody& body, int input, bool transpose, bool batches, std::size_t rank) {
    if (!transpose && !batches) return body.in(input);
    std::vector<std::int64_t> order(rank);
    std::iota(order.begin(), order.end(), 0);
    if (rank >= 2 && batches) std::rotate(order.begin(), order.begin() + 1, order.end() - 1);
    if (rank >= 2 && transpose) std::swap(order[rank - 1], order[rank - 2]);
    return body.add("Transpose", {body.in(input)}, {{"perm", order}});
}

/// If the number of dimensions is unknown, Einsum computes the same, but is not a layer with weights.
void expandMatMul(FusedBody& body) {
    const auto on = [&](const char* name) { return body.integer(name, 0) != 0; };
    const bool left = on("transA"), right = on("transB"), leftBatches = on("transBatchA"),
               rightBatches = on("transBatchB");
    const auto leftRank = body.rank(0), rightRank = body.rank(1);
    const bool known = (leftRank || !(left || leftBatches)) && (rightRank || !(right || rightBatches));
    refuse(!known && (leftBatches || rightBatches), "transposing batches of unknown rank");
    Operand y;
    if (known) {
        y = body.add("MatMul", {transposed(body, 0, left, leftBatches, leftRank.value_or(0)),
                                transposed(body, 1, right, rightBatches, rightRank.value_or(0))});
    } else {  // ONNX Runtime requires that "..." stands for the same dimensions everywhere
        const auto term = [](const std::optional<std::size_t>& rank, const char* matrix) {
            return (rank == std::size_t{2} ? "" : "...") + std::string(matrix);
        };
        y = body.add("Einsum", {body.in(0), body.in(1)},
                     {{"equation", term(leftRank, left ? "ki" : "ik") + "," +
                                       term(rightRank, right ? "jk" : "kj") + "->...ij"}});
    }
    if (const float alpha = body.real("alpha", 1); alpha != 1) y = body.add("Mul", {y, body.number(alpha)});
    body.setOutput(0, y);
}

void expandBiasGelu(FusedBody& body) {
    body.setOutput(0, body.add("Gelu", {body.add("Add", {body.in(0), body.in(1)})}, {}, kMicrosoft));
}

/// The bias of FastGelu is optional. Gelu with approximation is an operator of ONNX from opset 20 on.
void expandFastGelu(FusedBody& body) {
    const Operand x = body.has(1) ? body.add("Add", {body.in(0), body.in(1)}) : body.in(0);
    if (body.opset() >= 20) {
        body.setOutput(0, body.add("Gelu", {x}, {{"approximate", std::string("tanh")}}));
        return;
    }
    const Operand cube = body.add("Mul", {body.add("Mul", {x, x}), x});
    const Operand sum = body.add("Add", {x, body.add("Mul", {cube, body.number(0.044715f)})});
    const Operand tanh = body.add("Tanh", {body.add("Mul", {sum, body.number(0.7978845608f)})});
    const Operand half = body.add("Mul", {x, body.number(0.5f)});
    body.setOutput(0, body.add("Mul", {half, body.add("Add", {tanh, body.number(1)})}));
}

/// Outputs 1 and 2, the mean and the deviation, are for training.
void expandSkipNormalization(FusedBody& body, const char* normalization, int bias) {
    Operand sum = body.add("Add", {body.in(0), body.in(1)});
    if (body.has(bias)) sum = body.add("Add", {sum, body.in(bias)});
    const float epsilon = body.real("epsilon", 1e-12f);
    const Operand beta = bias == 4 ? body.in(3) : "";
    body.setOutput(0, body.add(normalization, {sum, body.in(2), beta},
                               {{"axis", std::int64_t{-1}}, {"epsilon", epsilon}}));
    body.setOutput(3, sum);
}

/// Inputs: input_ids, segment_ids, three embedding tables, gamma, beta, mask, position_ids. Output 1 is the
/// number of tokens that the mask keeps, output 2 the sum that is normalized.
void expandEmbedding(FusedBody& body) {
    const Operand positions =
        body.has(8) ? body.in(8) : body.range(body.integer(0), body.extent(body.in(0), 1));
    body.ignoreInputs({7});  // the mask does not change output 0
    body.ignore({"mask_index_type"});
    Operand sum = body.add(
        "Add", {body.add("Gather", {body.in(2), body.in(0)}), body.add("Gather", {body.in(3), positions})});
    if (body.has(1)) sum = body.add("Add", {sum, body.add("Gather", {body.in(4), body.in(1)})});
    body.setOutput(0, body.add("LayerNormalization", {sum, body.in(5), body.in(6)},
                               {{"axis", std::int64_t{-1}}, {"epsilon", body.real("epsilon", 1e-12f)}}));
    body.setOutput(2, sum);
    if (!body.wants(1)) return;
    if (!body.has(7)) {  // ONNX Runtime writes 0
        const Operand count = body.sum(body.in(0), 1);
        body.setOutput(1, body.add("Sub", {count, count}));
        return;
    }
    const auto cast = [&](const Operand& x, std::int64_t type) {
        return body.add("Cast", {x}, {{"to", type}});
    };
    const Operand one = cast(body.integer(1), onnx::TensorProto::INT32);
    body.setOutput(1, body.sum(cast(body.add("Equal", {body.in(7), one}), onnx::TensorProto::INT32), 1));
}

/// A product of integers in float: the scales and the zero points of both operands, and a bias.
Operand scaledProduct(FusedBody& body, const Operand& left, const Operand& leftScale, const Operand& leftZero,
                      int right, int rightScale, int rightZero, int bias) {
    const Operand sums = body.add("MatMulInteger", {left, body.in(right), leftZero, body.in(rightZero)});
    const Operand scale = body.add("Mul", {leftScale, body.in(rightScale)});
    const Operand y = body.add("Mul", {body.inFloat(sums), scale});
    return body.has(bias) ? body.add("Add", {y, body.in(bias)}) : y;
}

void expandDynamicMatMul(FusedBody& body) {
    const Operand codes = body.add("DynamicQuantizeLinear", {body.in(0)});
    body.last().add_output("scale");
    body.last().add_output("zero");
    body.setOutput(0, scaledProduct(body, codes, "scale", "zero", 1, 2, 3, 4));
}

void expandIntegerMatMul(FusedBody& body) {
    body.setOutput(0, scaledProduct(body, body.in(0), body.in(2), body.in(4), 1, 3, 5, 6));
}

/// x * sigmoid(alpha * x)
Operand swish(FusedBody& body, const Operand& x) {
    const float alpha = body.real("alpha", 1);
    const Operand scaled = alpha == 1 ? x : body.add("Mul", {x, body.number(alpha)});
    return body.add("Mul", {x, body.add("Sigmoid", {scaled})});
}

/// Inputs: input (B×C×L), weight (C×1×k), bias, past_state (the k - 1 values before). Outputs: output,
/// present_state.
void expandCausalConvolution(FusedBody& body) {
    const auto channels = body.first(1), width = body.width(1);
    refuse(!channels || !width, "CausalConvWithState with a weight of unknown shape");
    const std::int64_t before = *width - 1;
    if (const auto past = body.width(3); past && *past != before)
        failInput("the past has {} values for a window of {}", *past, *width);
    const Operand x = body.has(3) ? body.add("Concat", {body.in(3), body.in(0)}, {{"axis", std::int64_t{2}}})
                                  : body.add("Pad", {body.in(0), body.numbers({0, 0, before, 0, 0, 0})});
    Operand y = body.add("Conv", {x, body.in(1), body.in(2)}, {{"group", *channels}});
    const std::string activation = body.text("activation");
    refuse(!activation.empty() && activation != "none" && activation != "silu" && activation != "swish",
           "this activation");
    if (!activation.empty() && activation != "none") y = body.add("Mul", {y, body.add("Sigmoid", {y})});
    body.setOutput(0, y);
    if (body.wants(1)) {
        const Operand length = body.unsqueeze(body.extent(x, 2), 0);
        body.setOutput(1, body.add("Slice", {x, body.add("Sub", {length, body.numbers({before})}), length,
                                             body.numbers({2})}));
    }
}

using Expand = std::function<void(FusedBody&)>;

/// By domain and name. Operators of ONNX itself that are easier to quantize, or to compute, as several ones;
/// those of ONNX Runtime's optimizers; and those that converters of scikit-learn write before a network.
const std::map<std::string, std::map<std::string, Expand>>& expansions() {
    static const std::map<std::string, std::map<std::string, Expand>> all{
        {"",
         {
             {"CausalConvWithState", expandCausalConvolution},
             {"RotaryEmbedding", expandRotaryEmbedding23},
             {"SwiGLU",
              [](FusedBody& body) {
                  body.setOutput(0, body.add("Mul", {swish(body, body.in(0)), body.in(1)}));
              }},
             {"Swish", [](FusedBody& body) { body.setOutput(0, swish(body, body.in(0))); }},
         }},
        {kMicrosoft,
         {
             {"Attention", expandAttention},
             {"BiasGelu", expandBiasGelu},
             {"DynamicQuantizeLSTM", expandDynamicLstm},
             {"DynamicQuantizeMatMul", expandDynamicMatMul},
             {"EmbedLayerNormalization", expandEmbedding},
             {"FastGelu", expandFastGelu},
             {"FusedConv", expandConv},
             {"FusedGemm", expandGemm},
             {"FusedMatMul", expandMatMul},
             {"GatherBlockQuantized", expandGatherBlocks},
             {"GroupQueryAttention", expandGroupQueryAttention},
             {"MatMulIntegerToFloat", expandIntegerMatMul},
             {"MatMulNBits", expandMatMulNBits},
             {"MultiHeadAttention", expandMultiHeadAttention},
             {"RotaryEmbedding", expandRotaryEmbedding},
             {"SkipLayerNormalization",
              [](FusedBody& body) { expandSkipNormalization(body, "LayerNormalization", 4); }},
             {"SkipSimplifiedLayerNormalization",
              [](FusedBody& body) { expandSkipNormalization(body, "SimplifiedLayerNormalization", 3); }},
             {"TransposeMatMul", expandMatMul},
         }},
        {"ai.onnx.ml",
         {
             {"ArrayFeatureExtractor", expandFeatureExtractor},
             {"Binarizer", expandBinarizer},
             {"Imputer", expandImputer},
             {"Normalizer", expandNormalizer},
             {"Scaler", expandScaler},
         }},
    };
    return all;
}

/// Throws Error if the node violates ONNX's rules, or has an attribute that is not known.
void checkStandard(const onnx::NodeProto& item) {
    const auto idOf = [](const std::string& name) { return name.empty() ? TensorId() : TensorId(0); };
    Node node;
    node.op = item.op_type();
    for (const std::string& name : item.input()) node.inputs.push_back(idOf(name));
    for (const std::string& name : item.output()) node.outputs.push_back(idOf(name));
    for (int a = 0; a < item.attribute_size(); ++a)
        node.attributes.set(item.attribute(a).name(), attributeFromProto(item, a, {}, {}));
    checkSignature(node, node.inputs.size());
    requireKnownAttributes(node);
}

/// Returns null if the operator stays as it is.
const Expand* expansionOf(const onnx::NodeProto& node) {
    const auto domain = expansions().find(isStandardDomain(node.domain()) ? "" : node.domain());
    if (domain == expansions().end()) return nullptr;
    const auto found = domain->second.find(node.op_type());
    return found == domain->second.end() ? nullptr : &found->second;
}

class Expander {
  public:
    Expander(onnx::ModelProto& model, std::vector<std::string>& notices)
        : m_model(model), m_notices(notices) {
        for (const auto& opset : model.opset_import())
            if (isStandardDomain(opset.domain())) m_opset = opset.version();
    }

    /// Turns the fused operators into calls of functions, which are added to the model.
    void run() {
        Level whole{*m_model.mutable_graph(), nullptr, {}};
        run(whole);
    }

    /// Renames the operators last, because KnownShapes reads them.
    std::size_t finish() {
        m_changes.apply(*m_model.mutable_graph());
        for (const auto& [node, name] : m_calls) {
            node->set_domain(kOwnDomain);
            node->set_op_type(name);
        }
        return inlineFunctions(m_model);
    }

    const std::set<std::string>& kinds() const { return m_kinds; }

  private:
    /// A graph, and the one around it.
    struct Level {
        onnx::GraphProto& graph;
        Level* outer;
        std::optional<KnownShapes> known;

        const KnownShapes& shapes() {
            if (!known) known.emplace(graph, outer == nullptr ? nullptr : &outer->shapes());
            return *known;
        }
        std::vector<onnx::GraphProto*> graphs() {
            std::vector<onnx::GraphProto*> all;
            for (Level* level = this; level != nullptr; level = level->outer) all.push_back(&level->graph);
            return all;
        }
    };

    void run(Level& level) {
        onnx::GraphProto& graph = level.graph;
        for (int n = 0; n < graph.node_size(); ++n) {
            onnx::NodeProto& node = *graph.mutable_node(n);
            for (auto& attribute : *node.mutable_attribute())
                if (attribute.has_g()) {
                    Level inner{*attribute.mutable_g(), &level, {}};
                    run(inner);
                }
            const Expand* expand = expansionOf(node);
            if (expand == nullptr) continue;
            if (node.name().empty()) node.set_name(fmt::format("{}_{}", node.op_type(), n));
            try {
                if (isStandardDomain(node.domain())) checkStandard(node);
                FusedBody body(node, level.graphs(), level.shapes(), m_opset);
                (*expand)(body);
                *m_model.add_functions() = body.finish(kOwnDomain, fmt::format("{}", m_calls.size()));
                m_changes.add(node, body.changes());
            } catch (const Error& error) {
                m_notices.push_back(
                    fmt::format("'{}' ({}) stays as it is: {}", node.name(), node.op_type(), error.what()));
                continue;
            }
            m_calls.emplace_back(&node, fmt::format("{}", m_calls.size()));
            m_kinds.insert(node.op_type());
        }
    }

    onnx::ModelProto& m_model;
    std::vector<std::string>& m_notices;
    std::int64_t m_opset = 1;
    ConstantChanges m_changes;
    std::vector<std::pair<onnx::NodeProto*, std::string>> m_calls;
    std::set<std::string> m_kinds;
};

}  // namespace

void expandFusedOperators(onnx::ModelProto& model, std::vector<std::string>& notices) {
    Expander expander(model, notices);
    expander.run();
    if (expander.kinds().empty()) return;
    const std::size_t count = expander.finish();
    notices.push_back(fmt::format("{} fused {} ({}) became plain nodes", count,
                                  count == 1 ? "operator" : "operators", fmt::join(expander.kinds(), ", ")));
}

}  // namespace quantloupe
