// SPDX-License-Identifier: Apache-2.0
#include "runtime/program/program.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/rethrow.h"
#include "runtime/integer/integer_product.h"
#include "runtime/program/program_compiler.h"

namespace quantloupe {

Arithmetic bestArithmetic() {
    return integerKernelsAvailable() ? Arithmetic::Integer : Arithmetic::Simulation;
}

ProgramSpec floatProgram(GraphPtr graph, std::map<TensorId, TensorDesc> inputs,
                         std::vector<TensorId> observed) {
    ProgramSpec spec;
    spec.graph = std::move(graph);
    spec.inputs = std::move(inputs);
    spec.observed = std::move(observed);
    return spec;
}

std::shared_ptr<const Program> Program::compile(ProgramSpec spec) {
    return ProgramCompiler(std::move(spec)).compile();
}

const TensorDesc& Program::desc(TensorId tensor) const {
    if (const auto seen = m_observed.find(tensor); seen != m_observed.end()) return seen->second.desc;
    const auto found = m_values.find(tensor);
    if (found == m_values.end())
        fail(ErrorKind::Internal, "tensor '{}' is not part of the program",
             m_spec.graph->tensor(tensor).name);
    return found->second.desc;
}

const FakeQuant* Program::codesOf(TensorId observed) const {
    const auto found = m_observed.find(observed);
    return found == m_observed.end() || !found->second.coded ? nullptr : &m_spec.quantizers.at(observed);
}

std::unordered_map<TensorId, Dims> Program::allDims() const {
    std::unordered_map<TensorId, Dims> dims;
    for (const auto& [tensor, value] : m_values) dims.emplace(tensor, value.desc.dims);
    return dims;
}

Workspace::Workspace(std::shared_ptr<const Program> program)
    : m_program(std::move(program)), m_arena(m_program->m_arenaBytes, RecycledMemory::Fit::Loose) {
    for (const auto& buffer : m_program->m_buffers) {
        void* place = m_arena.data() + buffer.offset;
        if (buffer.constant != nullptr)
            place = const_cast<void*>(buffer.constant);
        else if (buffer.input.valid() || buffer.external)
            place = nullptr;
        m_buffers.push_back(place);
    }
}

void Workspace::bind(TensorId input, const void* data) {
    for (std::size_t b = 0; b < m_buffers.size(); ++b)
        if (m_program->m_buffers[b].input == input) m_buffers[b] = const_cast<void*>(data);
}

const void* Workspace::data(TensorId observed) const {
    return m_buffers[static_cast<std::size_t>(m_program->m_observed.at(observed).buffer)];
}

void Workspace::bindKept(TensorId kept, void* data) {
    m_buffers[static_cast<std::size_t>(m_program->m_values.at(kept).buffer)] = data;
}

void Workspace::run(const CancelToken& cancel) {
    const auto place = [&](int buffer) {
        return buffer < 0 ? nullptr : m_buffers[static_cast<std::size_t>(buffer)];
    };
    std::vector<const void*> inputs;
    std::vector<void*> outputs;
    for (const Program::Step& step : m_program->m_steps) {
        cancel.checkWithoutPause();  // on a worker's thread
        inputs.clear();
        outputs.clear();
        for (const int buffer : step.inputs) inputs.push_back(place(buffer));
        for (const int buffer : step.outputs) outputs.push_back(place(buffer));
        try {
            step.kernel->run({inputs, outputs, place(step.scratch)});
        } catch (...) {
            if (!step.node.valid()) throw;
            const Node& node = m_program->graph().node(step.node);
            rethrowWithContext(fmt::format("node '{}' ({})", node.name, node.op));
        }
    }
}

ConstantPtr Program::knownConstant(TensorId tensor) const {
    const auto found = m_allConstants.find(tensor);
    return found == m_allConstants.end() ? nullptr : found->second;
}

ConstantPtr Program::constantValue(TensorId observed) const {
    const auto found = m_constantOutputs.find(observed);
    return found == m_constantOutputs.end() ? nullptr : found->second;
}

}  // namespace quantloupe
