// SPDX-License-Identifier: Apache-2.0
// Operators that move values (Transpose, Split, Slice) on codes. If an output has another quantizer than the
// input, a table translates its codes.

#include "runtime/operators/operators.h"
#include "runtime/program/program_compiler.h"

namespace quantloupe {

bool ProgramCompiler::addCodedMove(const Node& node) {
    const TensorId input = node.input(0);
    if (!isCoded(input)) return false;
    for (const TensorId output : node.outputs)
        if (!output.valid() || codedQuantizer(output) == nullptr) return false;
    NodeContext context = contextOf(node);
    const Operator& op = *findOperator(node.domain, node.op);
    if (!op.compile(context).kernel) return false;  // a view
    context.inputs[0].type = DataType::UInt8;
    CompiledNode compiled = op.compile(context);
    if (!compiled.kernel) return false;
    followNode(context, {}, compiled.outputs);
    const NodeId id = m_graph.tensor(node.output()).producer;
    std::vector<int> moved;
    for (const TensorDesc& desc : compiled.outputs) moved.push_back(newBuffer(desc.bytes()));
    addStep(std::move(compiled.kernel), {codedBufferIn(input, context.inputs[0].layout)}, moved, id);
    for (std::size_t i = 0; i < moved.size(); ++i) {
        const TensorDesc& desc = compiled.outputs[i];
        const FakeQuant& quant = *codedQuantizer(node.outputs[i]);
        int buffer = moved[i];
        if (!(quant == *codedQuantizer(input))) {
            buffer = newBuffer(desc.bytes());
            addStep(makeCodedMap(valuesOfCodes(input), quant, desc.count()), {moved[i]}, {buffer}, id);
        }
        m_program->m_values[node.outputs[i]] = {buffer, desc, true};
    }
    return true;
}

}  // namespace quantloupe
