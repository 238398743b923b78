// SPDX-License-Identifier: Apache-2.0
// The part of ProgramCompiler that places values: buffers, layouts, conversions between them.
#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "runtime/operators/operators.h"
#include "runtime/program/program_compiler.h"

namespace quantloupe {
namespace {

constexpr std::size_t kAlignment = 64;

std::size_t aligned(std::size_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

TensorDesc descOf(const Constant& constant) { return {constant.type(), constant.dims(), Layout::Plain}; }

bool spatial(const TensorDesc& desc) {
    return desc.type == DataType::Float32 && desc.dims.size() >= 3 && desc.dims.size() <= 5;
}

}  // namespace

int ProgramCompiler::newBuffer(std::size_t bytes) {
    m_program->m_buffers.push_back({});
    m_program->m_buffers.back().bytes = bytes;
    return static_cast<int>(m_program->m_buffers.size()) - 1;
}

void ProgramCompiler::addStep(std::shared_ptr<const Kernel> kernel, std::vector<int> inputs,
                              std::vector<int> outputs, NodeId node) {
    const int index = static_cast<int>(m_program->m_steps.size());
    int scratch = -1;
    if (kernel->scratchBytes() > 0) scratch = newBuffer(kernel->scratchBytes());
    const auto touch = [&](int buffer) {
        if (buffer < 0) return;
        Program::Buffer& b = m_program->m_buffers[static_cast<std::size_t>(buffer)];
        if (b.constant != nullptr || b.input.valid()) return;
        if (b.firstStep < 0) b.firstStep = index;
        b.lastStep = index;
    };
    for (const int buffer : inputs) touch(buffer);
    for (const int buffer : outputs) touch(buffer);
    touch(scratch);
    m_program->m_steps.push_back({std::move(kernel), std::move(inputs), std::move(outputs), scratch, node});
}

/// Registers a tensor's buffer, quantized if it has a quantizer.
void ProgramCompiler::finish(TensorId tensor, int buffer, const TensorDesc& desc) {
    const auto& quantizers = m_program->m_spec.quantizers;
    if (const FakeQuant* quant = codedQuantizer(tensor); quant != nullptr && desc.type == DataType::Float32) {
        TensorDesc codes = desc;
        codes.type = DataType::UInt8;
        const int target = newBuffer(codes.bytes());
        addStep(makeKernel([quant = *quant, count = desc.count()](const KernelArguments& a) {
                    encode(quant, static_cast<const float*>(a.inputs[0]),
                           static_cast<std::uint8_t*>(a.outputs[0]), count);
                }),
                {buffer}, {target}, m_graph.tensor(tensor).producer);
        m_program->m_values[tensor] = {target, codes, true};
        return;
    }
    // A model may not say that a tensor contains integers: they are not quantized.
    if (const auto quantizer = quantizers.find(tensor);
        quantizer != quantizers.end() && desc.type == DataType::Float32) {
        const std::size_t count = desc.count();
        const int target = m_program->m_buffers[static_cast<std::size_t>(buffer)].input.valid()
                               ? newBuffer(desc.bytes())
                               : buffer;
        addStep(makeKernel([quant = quantizer->second, count](const KernelArguments& a) {
                    applyFakeQuant(quant, static_cast<const float*>(a.inputs[0]),
                                   static_cast<float*>(a.outputs[0]), count);
                }),
                {buffer}, {target}, m_graph.tensor(tensor).producer);
        buffer = target;
    }
    m_program->m_values[tensor] = {buffer, desc};
}

void ProgramCompiler::addInputs() {
    for (const auto& [tensor, desc] : m_program->m_spec.inputs) {
        if (!m_read.contains(tensor)) continue;
        const int buffer = newBuffer(desc.bytes());
        m_program->m_buffers[static_cast<std::size_t>(buffer)].input = tensor;
        finish(tensor, buffer, desc);
    }
    for (const auto& [tensor, desc] : m_program->m_spec.resumed) {
        const int buffer = newBuffer(desc.bytes());
        m_program->m_buffers[static_cast<std::size_t>(buffer)].input = tensor;
        m_program->m_values[tensor] = {buffer, desc,
                                       desc.type == DataType::UInt8 && codedQuantizer(tensor) != nullptr};
    }
}

/// Called after addInputs(). Tensors that are computed nevertheless get their own value later.
void ProgramCompiler::addShapeOnly() {
    for (const TensorId tensor : m_shapeOnly) {
        const DataType known = m_graph.tensor(tensor).type;
        const DataType type = known == DataType::Undefined ? DataType::Float32 : known;
        m_program->m_values.emplace(tensor, Value{-1, {type, *knownDims(tensor), Layout::Plain}, false});
    }
}

const Program::Value& ProgramCompiler::valueOf(TensorId tensor) {
    auto& values = m_program->m_values;
    if (const auto found = values.find(tensor); found != values.end()) return found->second;
    auto constant = m_constants.find(tensor);
    if (constant == m_constants.end()) {
        const ConstantPtr& own = m_graph.tensor(tensor).constant;
        if (!own) fail(ErrorKind::Internal, "tensor '{}' has no value", m_graph.tensor(tensor).name);
        constant = m_constants.emplace(tensor, own).first;
    }
    const int buffer = newBuffer(constant->second->bytes().size());
    m_program->m_buffers[static_cast<std::size_t>(buffer)].constant = constant->second->bytes().data();
    m_program->m_folded.push_back(constant->second);
    return values.emplace(tensor, Value{buffer, descOf(*constant->second)}).first->second;
}

int ProgramCompiler::bufferIn(TensorId tensor, Layout layout) {
    computeCodeFunction(tensor);
    Value value = valueOf(tensor);
    if (value.coded) {
        const auto [known, isNew] = m_decoded.emplace(tensor, -1);
        if (isNew) {
            known->second = newBuffer(value.desc.count() * sizeof(float));
            addStep(makeKernel([quant = *codedQuantizer(tensor),
                                count = value.desc.count()](const KernelArguments& a) {
                        decode(quant, static_cast<const std::uint8_t*>(a.inputs[0]),
                               static_cast<float*>(a.outputs[0]), count);
                    }),
                    {value.buffer}, {known->second}, {});
        }
        value.buffer = known->second;
        value.desc.type = DataType::Float32;
    }
    if (value.desc.layout == layout || value.desc.dims.size() < 3) return value.buffer;
    if (const auto found = m_converted.find(tensor); found != m_converted.end()) return found->second;
    const int buffer = newBuffer(value.desc.bytes());
    addStep(makeKernel([desc = value.desc, layout](const KernelArguments& a) {
                convertLayout(desc, a.inputs[0], layout, a.outputs[0]);
            }),
            {value.buffer}, {buffer}, {});
    m_converted.emplace(tensor, buffer);
    return buffer;
}

std::optional<Layout> ProgramCompiler::wantedLayout(const Operator& op, const Node& node) const {
    const auto descOfInput = [&](std::size_t i) -> std::optional<TensorDesc> {
        const auto found = m_program->m_values.find(node.input(i));
        if (found == m_program->m_values.end()) return std::nullopt;
        return found->second.floatDesc();
    };
    const std::optional<TensorDesc> first = descOfInput(0);
    switch (op.layout) {
        case LayoutPolicy::Plain:
            return Layout::Plain;
        case LayoutPolicy::ChannelsLast:
            return first && spatial(*first) ? Layout::ChannelsLast : Layout::Plain;
        case LayoutPolicy::Any:
            return first ? first->layout : Layout::Plain;
        case LayoutPolicy::Same:
        case LayoutPolicy::Joined:
            break;
    }
    bool anyLast = false;
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
        const std::optional<TensorDesc> desc = descOfInput(i);
        if (!desc || !first) return Layout::Plain;
        if (op.layout == LayoutPolicy::Same && desc->dims != first->dims) return std::nullopt;
        anyLast = anyLast || desc->layout == Layout::ChannelsLast;
    }
    return anyLast ? Layout::ChannelsLast : Layout::Plain;
}

void ProgramCompiler::addView(const Node& node, Layout from, TensorDesc desc) {
    const TensorId output = node.output();
    const FakeQuant* quant = codedQuantizer(output);
    if (quant != nullptr && isCoded(node.input(0)) && *codedQuantizer(node.input(0)) == *quant) {
        desc.type = DataType::UInt8;
        m_program->m_values[output] = {codedBufferIn(node.input(0), from), desc, true};
        return;
    }
    int source = bufferIn(node.input(0), from);
    // A quantizer works in place, so it needs a separate buffer, and so does an input that the caller owns.
    if (quant == nullptr && m_program->m_spec.quantizers.contains(output)) {
        const int copy = newBuffer(desc.bytes());
        addStep(makeKernel([bytes = desc.bytes()](const KernelArguments& a) {
                    std::memcpy(a.outputs[0], a.inputs[0], bytes);
                }),
                {source}, {copy}, {});
        source = copy;
    }
    finish(output, source, desc);
}

/// Codes that the caller needs as floats are decoded at the end; kept tensors are written to the caller's
/// memory.
void ProgramCompiler::settleObserved() {
    for (const TensorId tensor : m_program->m_spec.observed) {
        computeCodeFunction(tensor);
        const Value value = valueOf(tensor);
        const bool together = samplesAreTogether(value.desc);
        if (m_program->m_spec.observedCodes && value.coded && together) {
            m_program->m_observed[tensor] = value;
            continue;
        }
        // Other samples are separated in row-major order.
        const Layout layout = together ? value.desc.layout : Layout::Plain;
        TensorDesc desc = value.floatDesc();
        desc.layout = layout;
        m_program->m_observed[tensor] = {bufferIn(tensor, layout), desc, false};
    }
    for (const TensorId tensor : m_program->m_spec.kept) {
        computeCodeFunction(tensor);
        const Value& value = valueOf(tensor);
        Program::Buffer& buffer = m_program->m_buffers[static_cast<std::size_t>(value.buffer)];
        if (buffer.constant != nullptr || buffer.input.valid() || buffer.external) continue;
        buffer.external = true;
        m_program->m_kept.emplace(tensor, value.desc);
    }
}

void ProgramCompiler::placeBuffers() {
    auto& buffers = m_program->m_buffers;
    for (const auto& [tensor, value] : m_program->m_observed) {
        auto& buffer = buffers[static_cast<std::size_t>(value.buffer)];
        if (buffer.firstStep >= 0) buffer.lastStep = static_cast<int>(m_program->m_steps.size());
    }
    // First fit, in order of first use, among the buffers that are live at the same time.
    std::vector<std::size_t> order;
    for (std::size_t b = 0; b < buffers.size(); ++b)
        if (buffers[b].firstStep >= 0 && !buffers[b].external) order.push_back(b);
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        return buffers[a].firstStep < buffers[b].firstStep;
    });
    std::vector<std::size_t> live;  // sorted by offset
    for (const std::size_t b : order) {
        Program::Buffer& buffer = buffers[b];
        std::erase_if(live, [&](std::size_t other) { return buffers[other].lastStep < buffer.firstStep; });
        const std::size_t size = aligned(buffer.bytes);
        std::size_t offset = 0;
        auto at = live.begin();
        for (; at != live.end(); ++at) {
            if (buffers[*at].offset >= offset + size) break;
            offset = std::max(offset, buffers[*at].offset + aligned(buffers[*at].bytes));
        }
        buffer.offset = offset;
        live.insert(at, b);
        m_program->m_arenaBytes = std::max(m_program->m_arenaBytes, offset + size);
    }
}

}  // namespace quantloupe
