// SPDX-License-Identifier: Apache-2.0
// The part of the program compiler that keeps tensors as codes: which nodes have a kernel on codes.
#include <algorithm>
#include <limits>
#include <numeric>

#include "runtime/aligned.h"
#include "runtime/operators/operators.h"
#include "runtime/program/program_compiler.h"
#include "runtime/program/sample_flow.h"

namespace quantloupe {
namespace {

Dims spatialOf(const TensorDesc& desc) { return {desc.dims.begin() + 2, desc.dims.end()}; }

}  // namespace

const FakeQuant* ProgramCompiler::codedQuantizer(TensorId tensor) const {
    const ProgramSpec& spec = m_program->m_spec;
    if (spec.arithmetic != Arithmetic::Integer) return nullptr;
    const auto found = spec.quantizers.find(tensor);
    return found != spec.quantizers.end() && fitsCodes(found->second) ? &found->second : nullptr;
}

bool ProgramCompiler::isCoded(TensorId tensor) const {
    const auto found = m_program->m_values.find(tensor);
    return found != m_program->m_values.end() && found->second.coded;
}

int ProgramCompiler::codedBufferIn(TensorId tensor, Layout layout) {
    computeCodeFunction(tensor);
    const Value value = valueOf(tensor);
    if (value.desc.layout == layout || value.desc.dims.size() < 3) return value.buffer;
    const auto [known, isNew] = m_convertedCodes.emplace(tensor, -1);
    if (isNew) {
        known->second = newBuffer(value.desc.bytes());
        addStep(makeKernel([desc = value.desc, layout](const KernelArguments& a) {
                    convertLayout(desc, a.inputs[0], layout, a.outputs[0]);
                }),
                {value.buffer}, {known->second}, {});
    }
    return known->second;
}

void ProgramCompiler::addCodedStep(std::shared_ptr<const Kernel> kernel, const Node& node,
                                   std::vector<int> inputs, TensorId output, TensorDesc desc) {
    desc.samples = followSamples(contextOf(node), {desc})[0];
    const int buffer = newBuffer(desc.bytes());
    addStep(std::move(kernel), std::move(inputs), {buffer}, m_graph.tensor(node.output()).producer);
    if (desc.type == DataType::UInt8)
        m_program->m_values[output] = {buffer, desc, true};
    else
        finish(output, buffer, desc);
}

bool ProgramCompiler::addCoded(NodeId id) {
    const Node& node = m_graph.node(id);
    if (m_program->m_spec.arithmetic != Arithmetic::Integer || !node.domain.empty() ||
        std::ranges::none_of(node.inputs, [&](TensorId input) {
            return input.valid() && (isCoded(input) || m_codeFunctions.contains(input));
        }))
        return false;
    if (node.op == "MaxPool" || node.op == "GlobalAveragePool") return addCodedPool(node);
    if (node.op == "Transpose" || node.op == "Split" || node.op == "Slice") return addCodedMove(node);
    const bool product = node.op == "Conv" || node.op == "Gemm" || node.op == "MatMul";
    const Operator& op = *findOperator(node.domain, node.op);
    if (!product && !op.elementwise) return false;
    Activation activation;
    const NodeId fused = op.fusesActivation ? fusableActivation(node, activation) : NodeId();
    const bool added = product
                           ? addCodedProduct(node, fused, activation)
                           : addCodedMap(node, fused, activation) || addCodedBinary(node, fused, activation);
    if (added && fused.valid()) m_done[fused.index()] = true;
    return added;
}

bool ProgramCompiler::addCodedFusion(const Fusion& fusion) {
    const Node& node = fusion.node;
    if (m_program->m_spec.arithmetic != Arithmetic::Integer ||
        !findOperator(node.domain, node.op)->elementwise || !addCodedMap(node, {}, {}))
        return false;
    for (const NodeId covered : fusion.covered) m_done[covered.index()] = true;
    return true;
}

bool ProgramCompiler::addCodedProduct(const Node& node, NodeId activationNode, const Activation& activation) {
    const ProgramSpec& spec = m_program->m_spec;
    const auto weight = spec.codes.find(node.input(1));
    if (weight == spec.codes.end() || !isCoded(node.input(0))) return false;
    const auto bias = node.input(2).valid() ? spec.codes.find(node.input(2)) : spec.codes.end();
    if (node.input(2).valid() && bias == spec.codes.end()) return false;

    const TensorId output = activationNode.valid() ? m_graph.node(activationNode).output() : node.output();
    const FakeQuant* outputQuant = codedQuantizer(output);
    CodedUnit unit;
    unit.input = *codedQuantizer(node.input(0));
    if (outputQuant != nullptr) unit.output = *outputQuant;
    unit.weight = weight->second.get();
    unit.bias = bias != spec.codes.end() ? bias->second.get() : nullptr;
    unit.activation = activation;

    NodeContext context = contextOf(node);
    TensorDesc& input = context.inputs[0];
    const Dims weightDims = context.inputs[1].dims;
    const bool convolution = node.op == "Conv";
    if (convolution && (input.dims.size() != 4 || weightDims.size() != 4)) return false;
    input.layout = convolution ? Layout::ChannelsLast : Layout::Plain;
    const DataType outputType = outputQuant != nullptr ? DataType::UInt8 : DataType::Float32;

    const auto version = kernelVersion(context, activation, {&unit.input, outputQuant});
    const KernelCache::Entry* known = version ? spec.kernels->find(*version) : nullptr;
    KernelCache::Entry entry;
    if (known != nullptr) {
        entry = *known;
    } else if (convolution) {
        const std::int64_t groups = node.attributes.integer("group", 1);
        if (weightDims[1] * groups != input.dims[1]) return false;
        const Dims kernel(weightDims.begin() + 2, weightDims.end());
        const Window window = windowOf(context, spatialOf(input), kernel);
        if (window.kernel != kernel) return false;
        TensorDesc desc{outputType, {input.dims[0], weightDims[0]}, Layout::ChannelsLast};
        desc.dims.insert(desc.dims.end(), window.output.begin(), window.output.end());
        entry = {{desc}, makeCodedConvolution(unit, input, desc, window, groups, weightDims)};
    } else {
        const bool transposed = node.op == "Gemm" && node.attributes.integer("transB", 0) != 0;
        if (weightDims.size() != 2 || input.dims.size() < (node.op == "Gemm" ? 2u : 1u)) return false;
        if (node.op == "Gemm" &&
            (node.attributes.integer("transA", 0) != 0 || node.attributes.real("alpha", 1) != 1 ||
             node.attributes.real("beta", 1) != 1))
            return false;
        const std::int64_t depth = weightDims[transposed ? 1 : 0], columns = weightDims[transposed ? 0 : 1];
        if (input.dims.back() != depth || depth == 0) return false;
        TensorDesc desc{outputType, input.dims, Layout::Plain};
        desc.dims.back() = columns;
        entry = {
            {desc},
            makeCodedProduct(unit, input.count() / static_cast<std::size_t>(depth),
                             static_cast<std::size_t>(depth), static_cast<std::size_t>(columns), transposed)};
    }
    if (version && known == nullptr) spec.kernels->store(*version, entry);
    if (!entry.kernel) return false;
    addCodedStep(entry.kernel, node, {codedBufferIn(node.input(0), input.layout)}, output, entry.outputs[0]);
    return true;
}

std::vector<float> ProgramCompiler::valuesOfCodes(TensorId tensor) const {
    constexpr std::size_t kCodes = 256;
    std::vector<std::uint8_t> codes(kCodes);
    std::iota(codes.begin(), codes.end(), std::uint8_t{0});
    std::vector<float> values(kCodes);
    decode(*codedQuantizer(tensor), codes.data(), values.data(), kCodes);
    return values;
}

ProgramCompiler::CodeFunction ProgramCompiler::codeFunction(TensorId tensor) const {
    const auto found = m_codeFunctions.find(tensor);
    return found != m_codeFunctions.end() ? found->second : CodeFunction{tensor, valuesOfCodes(tensor)};
}

/// Computes a function of codes for an operator that reads its values or codes.
void ProgramCompiler::computeCodeFunction(TensorId tensor) {
    const auto found = m_codeFunctions.find(tensor);
    if (found == m_codeFunctions.end()) return;
    Value& value = m_program->m_values.at(tensor);
    if (value.buffer >= 0) return;
    value.buffer = newBuffer(value.desc.bytes());
    const FakeQuant* quant = codedQuantizer(tensor);
    addStep(makeCodedMap(found->second.values, quant != nullptr ? std::optional(*quant) : std::nullopt,
                         value.desc.count()),
            {m_program->m_values.at(found->second.source).buffer}, {value.buffer},
            m_graph.tensor(tensor).producer);
}

/// An element-wise operator on functions of the same codes and on constants with a single value. The result
/// is a function of the codes, too: a table, which is applied when an operator needs the result.
bool ProgramCompiler::addCodedMap(const Node& node, NodeId activationNode, const Activation& activation) {
    if (node.outputs.size() != 1) return false;
    std::vector<CodeFunction> functions(node.inputs.size());
    std::optional<std::size_t> input;
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
        if (!node.inputs[i].valid()) continue;
        const auto constant = m_constants.find(node.inputs[i]);
        if (constant == m_constants.end()) {
            if (!isCoded(node.inputs[i]) && !m_codeFunctions.contains(node.inputs[i])) return false;
            functions[i] = codeFunction(node.inputs[i]);
            if (!input) input = i;
            if (functions[i].source != functions[*input].source) return false;
        } else if (constant->second->size() != 1) {
            return false;
        }
    }
    if (!input) return false;
    const std::size_t kCodes = functions[*input].values.size();
    std::vector<float> results(kCodes);

    NodeContext context = contextOf(node);
    TensorDesc desc = context.inputs[*input];
    const std::size_t rank = desc.dims.size();
    for (std::size_t i = 0; i < context.inputs.size(); ++i)
        if (context.constants[i] != nullptr && context.inputs[i].dims.size() > rank) return false;
    for (std::size_t i = 0; i < functions.size(); ++i) {
        if (functions[i].values.empty()) continue;
        if (context.inputs[i].dims != desc.dims) return false;
        context.inputs[i] = {DataType::Float32, Dims(std::max<std::size_t>(rank, 1), 1), Layout::Plain};
        context.inputs[i].dims.back() = static_cast<std::int64_t>(kCodes);
    }
    if (activationNode.valid()) context.activation = &activation;
    const CompiledNode compiled = findOperator(node.domain, node.op)->compile(context);
    if (!compiled.kernel || compiled.outputs[0].type != DataType::Float32 ||
        compiled.outputs[0].count() != kCodes)
        return false;
    std::vector<const void*> inputs;
    for (const ConstantPtr& constant : context.constants)
        inputs.push_back(constant ? constant->bytes().data() : nullptr);
    for (std::size_t i = 0; i < functions.size(); ++i)
        if (!functions[i].values.empty()) inputs[i] = functions[i].values.data();
    AlignedVector<std::byte> scratch(compiled.kernel->scratchBytes());
    compiled.kernel->run({inputs, std::vector<void*>{results.data()}, scratch.data()});

    const TensorId output = activationNode.valid() ? m_graph.node(activationNode).output() : node.output();
    const FakeQuant* outputQuant = codedQuantizer(output);
    if (outputQuant == nullptr && m_program->m_spec.quantizers.contains(output)) {  // more than 8 bits
        addCodedStep(makeCodedMap(results, std::nullopt, desc.count()), node,
                     {valueOf(functions[*input].source).buffer}, output, desc);
        return true;
    }
    desc.samples = followSamples(contextOf(node), {desc})[0];
    if (outputQuant != nullptr) {
        desc.type = DataType::UInt8;
        std::vector<std::uint8_t> codes(kCodes);
        encode(*outputQuant, results.data(), codes.data(), kCodes);
        decode(*outputQuant, codes.data(), results.data(), kCodes);
    }
    m_program->m_values[output] = {-1, desc, outputQuant != nullptr};
    m_codeFunctions[output] = {functions[*input].source, std::move(results)};
    return true;
}

/// Add or Mul of a coded tensor and a second one, which is coded or constant. The second may be smaller: one
/// value per channel (of each image), or a row that is repeated.
bool ProgramCompiler::addCodedBinary(const Node& node, NodeId activationNode, const Activation& activation) {
    if ((node.op != "Add" && node.op != "Mul") || node.inputs.size() != 2) return false;
    const TensorId output = activationNode.valid() ? m_graph.node(activationNode).output() : node.output();
    const FakeQuant* outputQuant = codedQuantizer(output);
    if (outputQuant == nullptr) return false;
    const auto sizeOf = [&](std::size_t i) { return valueOf(node.input(i)).desc.count(); };
    const std::size_t first = isCoded(node.input(0)) && sizeOf(0) >= sizeOf(1) ? 0 : 1;
    const TensorId leftTensor = node.input(first), rightTensor = node.input(1 - first);
    if (!isCoded(leftTensor)) return false;
    const bool coded = isCoded(rightTensor);
    if (!coded && !m_constants.contains(rightTensor)) return false;
    const TensorDesc left = valueOf(leftTensor).desc, right = valueOf(rightTensor).floatDesc();
    RepeatedOperand operand;
    if (coded)
        operand.quantizer = *codedQuantizer(rightTensor);
    else if (right.type != DataType::Float32)
        return false;
    Layout layout = left.layout;
    if (right.dims == left.dims && (coded || layout == Layout::Plain)) {
        operand.period = std::max<std::size_t>(left.count(), 1);
    } else if (layout == Layout::ChannelsLast && right.dims.size() == left.dims.size() &&
               right.dims[1] == left.dims[1] && (right.dims[0] == left.dims[0] || right.dims[0] == 1) &&
               allOnes(std::span(right.dims).subspan(2))) {
        operand.images = static_cast<std::size_t>(right.dims[0]);
        operand.period = static_cast<std::size_t>(right.dims[1]);
        layout = valueOf(rightTensor).desc.layout;  // of one pixel: the same in memory
    } else if (layout == Layout::Plain && !left.dims.empty() && !right.dims.empty() &&
               right.dims.back() == left.dims.back() &&
               right.count() == static_cast<std::size_t>(right.dims.back()) &&
               right.dims.size() <= left.dims.size()) {
        operand.period = right.count();
    } else {
        return false;
    }
    TensorDesc desc = left;
    const int leftBuffer = codedBufferIn(leftTensor, left.layout);
    addCodedStep(
        makeCodedBinary(node.op == "Add" ? CodedOperation::Add : CodedOperation::Multiply,
                        *codedQuantizer(leftTensor), operand, *outputQuant, activation, left.count()),
        node, {leftBuffer, coded ? codedBufferIn(rightTensor, layout) : valueOf(rightTensor).buffer}, output,
        desc);
    return true;
}

bool ProgramCompiler::addCodedPool(const Node& node) {
    const FakeQuant* inputQuant = codedQuantizer(node.input(0));
    const FakeQuant* outputQuant = codedQuantizer(node.output());
    TensorDesc input = valueOf(node.input(0)).desc;
    if (inputQuant == nullptr || outputQuant == nullptr || input.dims.size() != 4 || node.outputs.size() != 1)
        return false;
    input.layout = Layout::ChannelsLast;
    TensorDesc output = input;
    std::shared_ptr<const Kernel> kernel;
    if (node.op == "GlobalAveragePool") {
        output.dims[2] = output.dims[3] = 1;
        const std::int64_t positions = input.dims[2] * input.dims[3];
        if (positions > std::numeric_limits<std::int32_t>::max() / 255) return false;  // their sum overflows
        kernel = makeCodedMean(*inputQuant, *outputQuant, static_cast<std::size_t>(input.dims[0]),
                               static_cast<std::size_t>(positions), static_cast<std::size_t>(input.dims[1]));
    } else {
        if (!(*inputQuant == *outputQuant)) return false;
        const Window window = windowOf(contextOf(node), spatialOf(input), {});
        output.dims[2] = window.output[0];
        output.dims[3] = window.output[1];
        kernel = makeCodedMaxPool(input, window);
    }
    if (!kernel) return false;
    addCodedStep(std::move(kernel), node, {codedBufferIn(node.input(0), Layout::ChannelsLast)}, node.output(),
                 output);
    return true;
}

}  // namespace quantloupe
