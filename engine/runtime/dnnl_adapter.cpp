// SPDX-License-Identifier: Apache-2.0
#include "runtime/dnnl_adapter.h"

#include <oneapi/dnnl/dnnl.hpp>

#include "base/error.h"
#include "base/memory_limit.h"

namespace quantloupe {
namespace {

using dnnl::memory;
using Tag = memory::format_tag;

const dnnl::engine& engine() {
    static const dnnl::engine instance(dnnl::engine::kind::cpu, 0);
    return instance;
}

/// One stream per thread; it has no relevant state.
dnnl::stream& stream() {
    thread_local dnnl::stream instance(engine());
    return instance;
}

Tag channelsLastTag(std::size_t rank) {
    switch (rank) {
        case 3:
            return Tag::nwc;
        case 4:
            return Tag::nhwc;
        case 5:
            return Tag::ndhwc;
        default:
            fail(ErrorKind::Unsupported, "pooling needs 1 to 3 spatial dimensions");
    }
}

/// The memory that oneDNN may need to generate code for a primitive; it crashes if it cannot allocate that.
constexpr std::size_t kForGeneratedCode = std::size_t{32} << 20;

memory bind(const memory::desc& desc, const void* data) { return {desc, engine(), const_cast<void*>(data)}; }

class MaxPool final : public Kernel {
  public:
    MaxPool(const TensorDesc& input, const TensorDesc& output, const Window& window) {
        const Tag tag = channelsLastTag(input.dims.size());
        m_input = {input.dims, memory::data_type::f32, tag};
        m_output = {output.dims, memory::data_type::f32, tag};
        Dims dilations = window.dilations;  // oneDNN uses gaps: dilation - 1
        for (auto& dilation : dilations) --dilation;
        dnnl::primitive_attr attributes;
        attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
#if DNNL_VERSION_MAJOR >= 3
        const dnnl::pooling_forward::primitive_desc primitive(
            engine(), dnnl::prop_kind::forward_inference, dnnl::algorithm::pooling_max, m_input, m_output,
            window.strides, window.kernel, dilations, window.padBegin, window.padEnd, attributes);
#else
        const dnnl::pooling_v2_forward::desc descriptor(
            dnnl::prop_kind::forward_inference, dnnl::algorithm::pooling_max, m_input, m_output,
            window.strides, window.kernel, dilations, window.padBegin, window.padEnd);
        const dnnl::pooling_v2_forward::primitive_desc primitive(descriptor, attributes, engine());
#endif
        requireMemory(kForGeneratedCode);
        m_primitive = dnnl::primitive(primitive);
        m_scratch = primitive.scratchpad_desc();
    }
    std::size_t scratchBytes() const override { return m_scratch.get_size(); }

    void run(const KernelArguments& arguments) const override {
        m_primitive.execute(stream(), {{DNNL_ARG_SRC, bind(m_input, arguments.inputs[0])},
                                       {DNNL_ARG_DST, bind(m_output, arguments.outputs[0])},
                                       {DNNL_ARG_SCRATCHPAD, bind(m_scratch, arguments.scratch)}});
    }

  private:
    dnnl::primitive m_primitive;
    memory::desc m_input, m_output, m_scratch;
};

}  // namespace

DnnlCap dnnlCap() {
    switch (dnnl::get_effective_cpu_isa()) {
        case dnnl::cpu_isa::sse41:
        case dnnl::cpu_isa::avx:
            return {false, false, false, false};
        case dnnl::cpu_isa::avx2:
#if DNNL_VERSION_MAJOR < 3
        case dnnl::cpu_isa::avx512_mic:
        case dnnl::cpu_isa::avx512_mic_4ops:
#endif
            return {true, false, false, false};
        case dnnl::cpu_isa::avx2_vnni:
            return {true, false, true, false};
        case dnnl::cpu_isa::avx512_core:
            return {true, true, false, false};
        case dnnl::cpu_isa::avx512_core_vnni:
        case dnnl::cpu_isa::avx512_core_bf16:
            return {true, true, true, false};
        case dnnl::cpu_isa::avx512_core_amx:
#if DNNL_VERSION_MAJOR >= 3
        case dnnl::cpu_isa::avx512_core_amx_fp16:
        case dnnl::cpu_isa::isa_default:
#else
        case dnnl::cpu_isa::all:
#endif
            return {};
        default:  // a newer instruction set, which may not include AMX
            return {true, true, true, false};
    }
}

std::unique_ptr<Kernel> makeMaxPool(const TensorDesc& input, const TensorDesc& output, const Window& window) {
    try {
        return std::make_unique<MaxPool>(input, output, window);
    } catch (const dnnl::error& error) {
        fail(ErrorKind::Unsupported, "oneDNN cannot do this pooling: {}", error.what());
    }
}

}  // namespace quantloupe
