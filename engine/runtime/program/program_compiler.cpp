// SPDX-License-Identifier: Apache-2.0
#include "runtime/program/program_compiler.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "base/error.h"
#include "base/memory_limit.h"
#include "base/rethrow.h"
#include "model/clip_bounds.h"
#include "model/operator_signatures.h"
#include "model/operator_traits.h"
#include "runtime/aligned.h"
#include "runtime/operators/operators.h"
#include "runtime/program/sample_flow.h"

namespace quantloupe {
namespace {

/// Some loops use 32-bit indices along one dimension.
void requireModestExtents(const std::vector<TensorDesc>& descs) {
    for (const TensorDesc& desc : descs)
        for (const std::int64_t extent : desc.dims)
            if (extent > std::numeric_limits<std::int32_t>::max())
                fail(ErrorKind::Unsupported,
                     "a tensor of {} is too large: a dimension has at most 2147483647 entries",
                     toString(desc.dims));
}

bool allKnown(const NodeContext& context) {
    for (std::size_t i = 0; i < context.node.inputs.size(); ++i)
        if (context.node.inputs[i].valid() && context.constants[i] == nullptr) return false;
    return true;
}

/// Describes an operator that there is no kernel for.
std::string unsupportedOperator(const Node& node) {
    if (isOp(node, "Constant") && node.attributes.has("sparse_value"))
        return "a sparse constant is not supported; save the model with dense weights";
    const bool nchwc = node.domain == "com.microsoft.nchwc";
    return fmt::format("the operator {}{}{} is not supported{}", node.domain, node.domain.empty() ? "" : ".",
                       node.op,
                       nchwc ? ", which ONNX Runtime writes for one processor; save the optimized model with "
                               "ORT_ENABLE_EXTENDED instead of ORT_ENABLE_ALL"
                             : "");
}

}  // namespace

ProgramCompiler::ProgramCompiler(ProgramSpec spec)
    : m_program(std::make_shared<Program>()), m_graph(*spec.graph), m_done(m_graph.nodeCount(), false) {
    m_constants = spec.constants;
    m_program->m_spec = std::move(spec);
}

bool ProgramCompiler::observed(TensorId tensor) const {
    const ProgramSpec& spec = m_program->m_spec;
    return std::find(spec.observed.begin(), spec.observed.end(), tensor) != spec.observed.end() ||
           std::find(spec.kept.begin(), spec.kept.end(), tensor) != spec.kept.end() ||
           spec.resumed.contains(tensor);
}

const Dims* ProgramCompiler::knownDims(TensorId tensor) const {
    const auto& known = m_program->m_spec.knownDims;
    if (!known) return nullptr;
    const auto found = known->find(tensor);
    return found == known->end() ? nullptr : &found->second;
}

std::vector<NodeId> ProgramCompiler::schedule() {
    const auto& inputs = m_program->m_spec.inputs;
    const auto& resumed = m_program->m_spec.resumed;
    std::vector<bool> needed(m_graph.nodeCount(), false);
    std::vector<TensorId> walk = m_program->m_spec.observed;
    walk.insert(walk.end(), m_program->m_spec.kept.begin(), m_program->m_spec.kept.end());
    while (!walk.empty()) {
        const TensorId tensor = walk.back();
        walk.pop_back();
        if (!tensor.valid() || resumed.contains(tensor)) continue;
        const TensorInfo& info = m_graph.tensor(tensor);
        if (inputs.contains(tensor)) m_read.insert(tensor);
        if (inputs.contains(tensor) || info.constant || m_constants.contains(tensor)) continue;
        if (m_program->m_spec.knownConstants) {
            const auto known = m_program->m_spec.knownConstants->find(tensor);
            if (known != m_program->m_spec.knownConstants->end()) {
                m_constants.emplace(tensor, known->second);
                continue;
            }
        }
        if (!info.producer.valid()) fail(ErrorKind::Internal, "the input '{}' was not provided", info.name);
        if (needed[info.producer.index()]) continue;
        needed[info.producer.index()] = true;
        const Node& node = m_graph.node(info.producer);
        if (node.op == "Shape" && knownDims(node.input(0)) != nullptr)
            m_shapeOnly.push_back(node.input(0));
        else
            walk.insert(walk.end(), node.inputs.begin(), node.inputs.end());
    }
    std::vector<NodeId> order;
    for (std::size_t n = 0; n < needed.size(); ++n)
        if (needed[n]) order.push_back(NodeId(n));
    return order;
}

NodeContext ProgramCompiler::contextOf(const Node& node) {
    NodeContext context{m_graph, node, {}, {}, nullptr, m_program->m_spec.exportOpset};
    for (const TensorId in : node.inputs) {
        if (!in.valid()) {
            context.inputs.push_back({DataType::Undefined, {}, Layout::Plain});
            context.constants.push_back(nullptr);
            continue;
        }
        context.inputs.push_back(valueOf(in).floatDesc());
        const auto constant = m_constants.find(in);
        context.constants.push_back(constant == m_constants.end() ? nullptr : constant->second);
    }
    return context;
}

NodeId ProgramCompiler::fusableActivation(const Node& node, Activation& activation) const {
    const TensorId output = node.output();
    const auto value = m_program->m_values.find(node.input(0));
    if (value == m_program->m_values.end() || value->second.floatDesc().type != DataType::Float32) return {};
    if (observed(output) || m_program->m_spec.quantizers.contains(output)) return {};
    const NodeId id = m_graph.onlyConsumer(output);
    if (!id.valid()) return {};
    const auto bounds = clipBounds(m_graph, m_graph.node(id));
    if (!bounds) return {};
    activation.low = static_cast<float>(bounds->low);
    activation.high = static_cast<float>(bounds->high);
    return id;
}

std::optional<Version> ProgramCompiler::kernelVersion(const NodeContext& context,
                                                      const Activation& activation,
                                                      const std::vector<const FakeQuant*>& quantizers) const {
    if (!m_program->m_spec.kernels) return std::nullopt;
    const Node& node = context.node;
    VersionBuilder builder;
    builder.add(std::string_view(node.domain)).add(std::string_view(node.op)).add(context.opset());
    node.attributes.addTo(builder);
    builder.add(activation.low).add(activation.high);
    for (std::size_t i = 0; i < context.inputs.size(); ++i) {
        const TensorDesc& desc = context.inputs[i];
        builder.add(desc.type).add(desc.layout).add(desc.dims.size());
        for (const std::int64_t d : desc.dims) builder.add(d);
        if (const Constant* constant = context.constant(i)) builder.add(constant->version());
        // The same values may have different codes.
        if (const auto codes = m_program->m_spec.codes.find(node.input(i));
            codes != m_program->m_spec.codes.end())
            for (const float scale : codes->second->scales) builder.add(scale);
    }
    for (const FakeQuant* quant : quantizers)
        if (quant != nullptr)
            builder.add(quant->scale).add(quant->low).add(quant->high);
        else
            builder.add(0);
    return builder.finish();
}

/// Takes operators with weights from the kernel cache, if there is one.
ProgramCompiler::Compiled ProgramCompiler::compileCached(const Operator& op, const NodeContext& context,
                                                         const Activation& activation) {
    const bool weighted =
        context.node.op == "Conv" || context.node.op == "Gemm" || context.node.op == "MatMul";
    const bool known = std::all_of(context.constants.begin(), context.constants.end(),
                                   [](const auto& c) { return c != nullptr; });
    const std::optional<Version> version =
        weighted && !known ? kernelVersion(context, activation) : std::nullopt;
    if (version)
        if (const auto* entry = m_program->m_spec.kernels->find(*version))
            return {entry->outputs, entry->kernel};
    CompiledNode made = op.compile(context);
    Compiled compiled{std::move(made.outputs), std::move(made.kernel)};
    if (version) m_program->m_spec.kernels->store(*version, {compiled.outputs, compiled.kernel});
    return compiled;
}

bool ProgramCompiler::foldConstant(const NodeContext& context, const Compiled& compiled) {
    const Node& node = context.node;
    if (!allKnown(context) && node.op != "Shape" && node.op != "Size") return false;
    constexpr std::size_t kMaxBytes = std::size_t{1} << 32;
    std::vector<std::vector<std::byte>> values, converted(node.inputs.size());
    for (const TensorDesc& desc : compiled.outputs) {
        if (desc.bytes() > kMaxBytes)
            failInput("its constant result of {} is too large", toString(desc.dims));
        requireMemory(desc.bytes());
        values.emplace_back(desc.bytes());
    }
    std::vector<const void*> inputs;
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
        const Constant* constant = context.constant(i);
        inputs.push_back(constant != nullptr ? constant->bytes().data() : nullptr);
        const TensorDesc& wanted = context.inputs[i];
        if (constant == nullptr || wanted.layout == Layout::Plain) continue;
        converted[i].resize(wanted.bytes());
        convertLayout({wanted.type, wanted.dims, Layout::Plain}, inputs[i], wanted.layout,
                      converted[i].data());
        inputs[i] = converted[i].data();
    }
    std::vector<void*> outputs;
    for (auto& bytes : values) outputs.push_back(bytes.data());
    if (compiled.kernel) {
        AlignedVector<std::byte> scratch(compiled.kernel->scratchBytes());
        compiled.kernel->run({inputs, outputs, scratch.data()});
    } else if (!values[0].empty()) {
        std::memcpy(outputs[0], inputs[0], values[0].size());
    }
    for (std::size_t i = 0; i < values.size(); ++i) {
        if (!node.output(i).valid()) continue;
        const TensorDesc& desc = compiled.outputs[i];
        if (desc.layout != Layout::Plain) {
            std::vector<std::byte> plain(desc.bytes());
            convertLayout(desc, values[i].data(), Layout::Plain, plain.data());
            values[i] = std::move(plain);
        }
        m_program->m_values.erase(node.output(i));  // a placeholder from addShapeOnly()
        const auto quantizer = m_program->m_spec.quantizers.find(node.output(i));
        if (quantizer != m_program->m_spec.quantizers.end() && desc.type == DataType::Float32) {
            auto* floats = reinterpret_cast<float*>(values[i].data());
            applyFakeQuant(quantizer->second, floats, floats, desc.count());
        }
        m_constants[node.output(i)] = Constant::fromBytes(desc.type, desc.dims, std::move(values[i]));
    }
    return true;
}

std::optional<Fusion> ProgramCompiler::fusionAt(NodeId id) const {
    const auto& spec = m_program->m_spec;
    // A quantized convolution has a kernel on codes, which does not normalize.
    if (m_graph.node(id).op == "Conv" && spec.codes.contains(m_graph.node(id).input(1))) return std::nullopt;
    const auto constant = [&](TensorId tensor) -> const Constant* {
        const auto found = m_constants.find(tensor);
        if (found == m_constants.end()) return m_graph.constantOf(tensor);
        // The fused node would hide from followNode() that a value depends on the batch size.
        if (spec.one && !m_graph.tensor(tensor).constant &&
            !isSameConstant(*found->second, spec.one->knownConstant(tensor)))
            return nullptr;
        return found->second.get();
    };
    const auto desc = [&](TensorId tensor) -> const TensorDesc* {
        const auto found = m_program->m_values.find(tensor);
        if (found == m_program->m_values.end()) return nullptr;
        const bool computed = found->second.buffer >= 0 || m_codeFunctions.contains(tensor);
        return computed ? &found->second.desc : nullptr;
    };
    const auto hidden = [&](TensorId tensor) {
        return !observed(tensor) && !spec.quantizers.contains(tensor) && !spec.inputs.contains(tensor);
    };
    return findFusion({m_graph, hidden, constant, desc}, id);
}

/// Determines the sample layout of the outputs. In addition to the data flow check, each output must have its
/// shape from a batch of one, except in the dimension of the samples.
void ProgramCompiler::followNode(const NodeContext& context, NodeId fused, std::vector<TensorDesc>& outputs) {
    const auto& one = m_program->m_spec.one;
    ConstantsOfOne constants;
    if (one) constants = [&](TensorId tensor) { return one->knownConstant(tensor); };
    const std::vector<SampleLayout> samples = followSamples(context, outputs, constants);
    for (std::size_t i = 0; i < samples.size(); ++i) {
        outputs[i].samples = samples[i];
        const TensorId tensor = fused.valid() ? m_graph.node(fused).output() : context.node.output(i);
        if (!one || !tensor.valid() || !samples[i].perSample() || samples[i].count == 1) continue;
        Dims dims = outputs[i].dims;
        if (const auto axis = sampleDimension(outputs[i])) dims[*axis] /= samples[i].count;
        const auto alone = one->m_values.find(tensor);
        if (alone == one->m_values.end() || alone->second.desc.dims != dims)
            outputs[i].samples = SampleLayout::mixed();
    }
}

void ProgramCompiler::addNode(NodeId id) {
    for (const TensorId in : m_graph.node(id).inputs)
        if (in.valid()) valueOf(in);
    const std::optional<Fusion> fusion = fusionAt(id);
    const Node& node = fusion ? fusion->node : m_graph.node(id);
    const Operator* op = findOperator(node.domain, node.op);
    if (op == nullptr) fail(ErrorKind::Unsupported, "{}", unsupportedOperator(node));
    requireKnownAttributes(m_graph.node(id));
    for (const TensorId in : node.inputs)
        if (in.valid()) valueOf(in);

    if (fusion ? addCodedFusion(*fusion) : addCoded(id)) return;
    NodeContext context = contextOf(node);
    requireModestExtents(context.inputs);
    const std::optional<Layout> layout = wantedLayout(*op, node);
    for (TensorDesc& desc : context.inputs)
        if (layout && desc.dims.size() >= 3)
            desc.layout = desc.type == DataType::Float32 ? *layout : Layout::Plain;
    // Weights and other parameters are read in row-major order, but an activation may be a constant, too.
    for (std::size_t i = 1; i < context.inputs.size(); ++i)
        if (context.constants[i] != nullptr && op->layout != LayoutPolicy::Same &&
            op->layout != LayoutPolicy::Joined)
            context.inputs[i].layout = Layout::Plain;

    Activation activation;
    NodeId fused;
    // Known values are folded node by node, because nodes downstream may need the values to compile.
    if (op->fusesActivation && !node.attributes.has(kSwish) && !allKnown(context))
        fused = fusableActivation(node, activation);
    if (fused.valid()) context.activation = &activation;

    Compiled compiled = compileCached(*op, context, activation);
    requireModestExtents(compiled.outputs);
    followNode(context, fused, compiled.outputs);
    // Marked only after compiling: if the fused kernel is not supported, each of these nodes gets its own
    // reason.
    if (fusion)
        for (const NodeId covered : fusion->covered) m_done[covered.index()] = true;
    if (!fused.valid() && foldConstant(context, compiled)) return;
    if (!compiled.kernel) return addView(node, context.inputs[0].layout, std::move(compiled.outputs[0]));
    std::shared_ptr<const Kernel> kernel = std::move(compiled.kernel);

    std::vector<int> inputs, outputs;
    for (std::size_t i = 0; i < node.inputs.size(); ++i)
        inputs.push_back(node.inputs[i].valid() ? bufferIn(node.inputs[i], context.inputs[i].layout) : -1);
    for (std::size_t i = 0; i < node.outputs.size(); ++i)
        outputs.push_back(node.outputs[i].valid() && i < compiled.outputs.size()
                              ? newBuffer(compiled.outputs[i].bytes())
                              : -1);
    addStep(std::move(kernel), inputs, outputs, id);
    if (fused.valid()) m_done[fused.index()] = true;
    for (std::size_t i = 0; i < outputs.size(); ++i)
        if (outputs[i] >= 0)
            finish(i == 0 && fused.valid() ? m_graph.node(fused).output() : node.outputs[i], outputs[i],
                   compiled.outputs[i]);
}

void ProgramCompiler::addOrLeaveOut(NodeId id) {
    const Node& node = m_graph.node(id);
    const bool partial = m_program->m_spec.partial;
    if (partial)
        for (const TensorId in : node.inputs) {
            const NodeId maker = in.valid() ? m_graph.tensor(in).producer : NodeId();
            if (!maker.valid() || !m_program->m_unavailable.contains(maker) ||
                m_program->m_values.contains(in))
                continue;
            const auto origin = m_leftOutBecauseOf.find(maker);
            m_leftOutBecauseOf[id] = origin == m_leftOutBecauseOf.end() ? maker : origin->second;
            m_program->m_unavailable[id] = fmt::format("it needs '{}', which is not evaluated",
                                                       m_graph.node(m_leftOutBecauseOf[id]).name);
            return;
        }
    try {
        addNode(id);
    } catch (const OutOfMemory&) {  // the node is supported
        rethrowWithContext(fmt::format("node '{}' ({})", node.name, node.op));
    } catch (const Error& error) {
        if (!partial || error.kind() != ErrorKind::Unsupported)
            rethrowWithContext(fmt::format("node '{}' ({})", node.name, node.op));
        m_program->m_unavailable[id] = error.message();
    } catch (...) {
        rethrowWithContext(fmt::format("node '{}' ({})", node.name, node.op));
    }
}

/// Records the constants that later programs and readers of the outputs may use.
void ProgramCompiler::noteConstants() {
    constexpr std::size_t kMaxBytes = std::size_t{1} << 20;
    for (const auto& [tensor, constant] : m_constants) {
        if (observed(tensor)) m_program->m_constantOutputs.emplace(tensor, constant);
        const DataType type = constant->type();
        const bool integer = type != DataType::Float32 && type != DataType::Float64 &&
                             type != DataType::Float16 && type != DataType::BFloat16;
        if (integer && constant->bytes().size() <= kMaxBytes && !m_graph.tensor(tensor).constant &&
            !m_program->m_spec.constants.contains(tensor))
            m_program->m_foldedConstants.emplace(tensor, constant);
    }
    if (m_program->m_spec.partial) m_program->m_allConstants = m_constants;
    for (const auto& [tensor, value] : m_program->m_values)
        m_program->m_mixesSamples = m_program->m_mixesSamples || value.desc.samples.isMixed();
}

std::shared_ptr<const Program> ProgramCompiler::compile() {
    const std::vector<NodeId> order = schedule();
    addInputs();
    addShapeOnly();
    for (const NodeId id : order)
        if (!m_done[id.index()]) addOrLeaveOut(id);
    if (!m_program->m_unavailable.empty())
        std::erase_if(m_program->m_spec.observed, [&](TensorId tensor) {
            return m_program->m_unavailable.contains(m_graph.tensor(tensor).producer);
        });
    settleObserved();
    placeBuffers();
    noteConstants();
    m_program->m_spec.one.reset();
    return m_program;
}

}  // namespace quantloupe
