// SPDX-License-Identifier: Apache-2.0
#include "runtime/dnnl_adapter.h"

#include <oneapi/dnnl/dnnl.hpp>

#include <cstring>

#include "base/error.h"
#include "base/memory_limit.h"
#include "runtime/matrix_product.h"

namespace quantloupe {
namespace {

using dnnl::memory;
using Tag = memory::format_tag;

const dnnl::engine& engine() {
    static const dnnl::engine instance(dnnl::engine::kind::cpu, 0);
    return instance;
}

/// A stream for each thread; it carries no state that matters.
dnnl::stream& stream() {
    thread_local dnnl::stream instance(engine());
    return instance;
}

Tag channelsLastTag(std::size_t rank) {
    switch (rank) {
        case 3: return Tag::nwc;
        case 4: return Tag::nhwc;
        case 5: return Tag::ndhwc;
        default: fail(ErrorKind::Unsupported, "convolution and pooling need 1 to 3 spatial dimensions");
    }
}

Tag weightTag(std::size_t rank, bool grouped) {
    switch (rank) {
        case 3: return grouped ? Tag::goiw : Tag::oiw;
        case 4: return grouped ? Tag::goihw : Tag::oihw;
        default: return grouped ? Tag::goidhw : Tag::oidhw;
    }
}

memory::desc plainDesc(const Dims& dims) {
    Dims strides(dims.size());
    std::int64_t stride = 1;
    for (std::size_t d = dims.size(); d-- > 0; stride *= dims[d]) strides[d] = stride;
    return {dims, memory::data_type::f32, strides};
}

void addActivation(dnnl::post_ops& ops, const Activation& activation) {
    if (activation.low == 0.0f && activation.high == std::numeric_limits<float>::infinity())
        ops.append_eltwise(1.0f, dnnl::algorithm::eltwise_relu, 0.0f, 0.0f);
    else
        ops.append_eltwise(1.0f, dnnl::algorithm::eltwise_clip, activation.low, activation.high);
}

dnnl::primitive_attr attributesFor(const Activation* activation, float alpha = 1.0f) {
    dnnl::primitive_attr attributes;
    attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
    if (alpha != 1.0f) attributes.set_output_scales(0, {alpha});
    if (activation != nullptr) {
        dnnl::post_ops ops;
        addActivation(ops, *activation);
        attributes.set_post_ops(ops);
    }
    return attributes;
}

/// What oneDNN may need to generate the code of one primitive: it crashes where it cannot get that.
constexpr std::size_t kForGeneratedCode = std::size_t{32} << 20;

/// The constant's values in the layout `wanted`, in memory of our own.
memory prepare(const Constant& constant, const memory::desc& asGiven, const memory::desc& wanted) {
    requireMemory(kForGeneratedCode);
    memory given(asGiven, engine(), const_cast<float*>(constant.floats().data()));
    memory result(wanted, engine());
    dnnl::reorder(given, result).execute(stream(), given, result);
    stream().wait();
    return result;
}

memory copyOf(const Constant& constant) {
    const memory::desc desc({constant.size()}, memory::data_type::f32, Tag::x);
    return prepare(constant, desc, desc);
}

memory bind(const memory::desc& desc, const void* data) { return {desc, engine(), const_cast<void*>(data)}; }

std::size_t bytesOf(const std::optional<memory>& held) { return held ? held->get_desc().get_size() : 0; }

class DnnlKernel : public Kernel {
  public:
    std::size_t scratchBytes() const override { return m_scratch.get_size(); }

  protected:
    template <typename Descriptor>
    void setPrimitive(const Descriptor& descriptor) {
        requireMemory(kForGeneratedCode);
        m_primitive = dnnl::primitive(descriptor);
        m_scratch = descriptor.scratchpad_desc();
    }
    void execute(std::unordered_map<int, memory>& arguments, void* scratch) const {
        arguments.emplace(DNNL_ARG_SCRATCHPAD, bind(m_scratch, scratch));
        m_primitive.execute(stream(), arguments);
    }

  private:
    dnnl::primitive m_primitive;
    memory::desc m_scratch;
};

class Convolution final : public DnnlKernel {
  public:
    explicit Convolution(const ConvolutionSpec& spec) {
        const std::size_t rank = spec.input.dims.size();
        const Tag imageTag = channelsLastTag(rank);
        const auto f32 = memory::data_type::f32;
        m_input = {spec.input.dims, f32, imageTag};
        m_output = {spec.output.dims, f32, imageTag};
        Dims weightDims = spec.weight->dims();
        const bool grouped = spec.groups > 1;
        if (grouped) {
            weightDims[0] /= spec.groups;
            weightDims.insert(weightDims.begin(), spec.groups);
        }
        const memory::desc anyWeight(weightDims, f32, Tag::any);
        Dims dilations = spec.window.dilations;  // oneDNN counts the gaps
        for (auto& dilation : dilations) --dilation;
        const auto forward = dnnl::prop_kind::forward_inference;
        const auto direct = dnnl::algorithm::convolution_direct;
        const Window& w = spec.window;
        const memory::desc biasDesc({spec.output.dims[1]}, f32, Tag::x);
        const auto descriptor =
            spec.bias != nullptr
                ? dnnl::convolution_forward::desc(forward, direct, m_input, anyWeight, biasDesc, m_output, w.strides,
                                                  dilations, w.padBegin, w.padEnd)
                : dnnl::convolution_forward::desc(forward, direct, m_input, anyWeight, m_output, w.strides, dilations,
                                                  w.padBegin, w.padEnd);
        const dnnl::convolution_forward::primitive_desc primitive(descriptor, attributesFor(spec.activation), engine());
        setPrimitive(primitive);
        m_isReference = std::string_view(primitive.impl_info_str()).starts_with("ref");
        m_weight = prepare(*spec.weight, {weightDims, f32, weightTag(rank, grouped)}, primitive.weights_desc());
        if (spec.bias != nullptr) m_bias = copyOf(*spec.bias);
    }

    void run(const KernelArguments& arguments) const override {
        std::unordered_map<int, memory> bound{{DNNL_ARG_SRC, bind(m_input, arguments.inputs[0])},
                                              {DNNL_ARG_WEIGHTS, m_weight},
                                              {DNNL_ARG_DST, bind(m_output, arguments.outputs[0])}};
        if (m_bias) bound.emplace(DNNL_ARG_BIAS, *m_bias);
        execute(bound, arguments.scratch);
    }

    std::size_t weightBytes() const override { return bytesOf(m_weight) + bytesOf(m_bias); }
    bool isReference() const { return m_isReference; }

  private:
    memory::desc m_input, m_output;
    memory m_weight;
    std::optional<memory> m_bias;
    bool m_isReference = false;
};

class TransposedConvolution final : public DnnlKernel {
  public:
    explicit TransposedConvolution(const ConvolutionSpec& spec) {
        const std::size_t rank = spec.input.dims.size();
        const Tag imageTag = channelsLastTag(rank);
        const auto f32 = memory::data_type::f32;
        m_input = {spec.input.dims, f32, imageTag};
        m_output = {spec.output.dims, f32, imageTag};
        // ONNX keeps [groups * I, O, k...], oneDNN speaks of [groups, O, I, k...].
        const Dims& given = spec.weight->dims();
        Dims weightDims{spec.groups, given[1], given[0] / spec.groups};
        weightDims.insert(weightDims.end(), given.begin() + 2, given.end());
        Dims strides(weightDims.size());
        std::int64_t stride = 1;
        for (std::size_t d = weightDims.size(); d-- > 3; stride *= weightDims[d]) strides[d] = stride;
        strides[1] = stride;
        strides[2] = stride * weightDims[1];
        strides[0] = strides[2] * weightDims[2];
        if (spec.groups == 1) {
            weightDims.erase(weightDims.begin());
            strides.erase(strides.begin());
        }
        const memory::desc anyWeight(weightDims, f32, Tag::any);
        Dims dilations = spec.window.dilations;
        for (auto& dilation : dilations) --dilation;
        const auto forward = dnnl::prop_kind::forward_inference;
        const auto direct = dnnl::algorithm::deconvolution_direct;
        const Window& w = spec.window;
        const memory::desc biasDesc({spec.output.dims[1]}, f32, Tag::x);
        const auto descriptor =
            spec.bias != nullptr
                ? dnnl::deconvolution_forward::desc(forward, direct, m_input, anyWeight, biasDesc, m_output, w.strides,
                                                    dilations, w.padBegin, w.padEnd)
                : dnnl::deconvolution_forward::desc(forward, direct, m_input, anyWeight, m_output, w.strides, dilations,
                                                    w.padBegin, w.padEnd);
        const dnnl::deconvolution_forward::primitive_desc primitive(descriptor, attributesFor(spec.activation), engine());
        setPrimitive(primitive);
        m_weight = prepare(*spec.weight, {weightDims, f32, strides}, primitive.weights_desc());
        if (spec.bias != nullptr) m_bias = copyOf(*spec.bias);
    }

    void run(const KernelArguments& arguments) const override {
        std::unordered_map<int, memory> bound{{DNNL_ARG_SRC, bind(m_input, arguments.inputs[0])},
                                              {DNNL_ARG_WEIGHTS, m_weight},
                                              {DNNL_ARG_DST, bind(m_output, arguments.outputs[0])}};
        if (m_bias) bound.emplace(DNNL_ARG_BIAS, *m_bias);
        execute(bound, arguments.scratch);
    }

    std::size_t weightBytes() const override { return bytesOf(m_weight) + bytesOf(m_bias); }

  private:
    memory::desc m_input, m_output;
    memory m_weight;
    std::optional<memory> m_bias;
};

class MatrixProduct final : public DnnlKernel {
  public:
    explicit MatrixProduct(const MatrixProductSpec& spec) {
        const auto f32 = memory::data_type::f32;
        m_left = describe(spec.left, spec.transposeLeft);
        m_right = describe(spec.right, spec.transposeRight);
        m_output = plainDesc(spec.output);
        memory::desc right = m_right;
        if (spec.constantRight != nullptr) right = {m_right.dims(), f32, Tag::any};
        Dims biasDims(spec.output.size(), 1);
        biasDims.back() = spec.output.back();
        const memory::desc bias = plainDesc(biasDims);
        const auto descriptor = spec.bias != nullptr ? dnnl::matmul::desc(m_left, right, bias, m_output)
                                                     : dnnl::matmul::desc(m_left, right, m_output);
        const dnnl::matmul::primitive_desc primitive(descriptor, attributesFor(spec.activation, spec.alpha), engine());
        setPrimitive(primitive);
        m_packsWeights = std::string_view(primitive.impl_info_str()).starts_with("brg");
        if (spec.constantRight != nullptr) m_weight = prepare(*spec.constantRight, m_right, primitive.weights_desc());
        if (spec.bias != nullptr) {
            std::vector<float> values(spec.bias->floats().begin(), spec.bias->floats().end());
            for (float& value : values) value /= spec.alpha;  // the output scale acts on the bias, too
            m_bias = memory(bias, engine());
            std::memcpy(m_bias->get_data_handle(), values.data(), values.size() * sizeof(float));
        }
    }

    void run(const KernelArguments& arguments) const override {
        std::unordered_map<int, memory> bound{
            {DNNL_ARG_SRC, bind(m_left, arguments.inputs[0])},
            {DNNL_ARG_WEIGHTS, m_weight ? *m_weight : bind(m_right, arguments.inputs[1])},
            {DNNL_ARG_DST, bind(m_output, arguments.outputs[0])}};
        if (m_bias) bound.emplace(DNNL_ARG_BIAS, *m_bias);
        execute(bound, arguments.scratch);
    }

    std::size_t weightBytes() const override { return bytesOf(m_weight) + bytesOf(m_bias); }
    bool packsWeights() const { return m_packsWeights; }

  private:
    static memory::desc describe(Dims dims, bool transposed) {
        if (!transposed) return plainDesc(dims);
        std::swap(dims[0], dims[1]);
        return {dims, memory::data_type::f32, Dims{1, dims[0]}};
    }

    memory::desc m_left, m_right, m_output;
    std::optional<memory> m_weight, m_bias;
    bool m_packsWeights = false;
};

class Pool final : public DnnlKernel {
  public:
    Pool(PoolKind kind, const TensorDesc& input, const TensorDesc& output, const Window& window) {
        const Tag tag = channelsLastTag(input.dims.size());
        m_input = {input.dims, memory::data_type::f32, tag};
        m_output = {output.dims, memory::data_type::f32, tag};
        const auto algorithm = kind == PoolKind::Max       ? dnnl::algorithm::pooling_max
                               : kind == PoolKind::Average ? dnnl::algorithm::pooling_avg_exclude_padding
                                                           : dnnl::algorithm::pooling_avg_include_padding;
        Dims dilations = window.dilations;
        for (auto& dilation : dilations) --dilation;
        const dnnl::pooling_v2_forward::desc descriptor(dnnl::prop_kind::forward_inference, algorithm, m_input, m_output,
                                                        window.strides, window.kernel, dilations, window.padBegin,
                                                        window.padEnd);
        setPrimitive(dnnl::pooling_v2_forward::primitive_desc(descriptor, attributesFor(nullptr), engine()));
    }

    void run(const KernelArguments& arguments) const override {
        std::unordered_map<int, memory> bound{{DNNL_ARG_SRC, bind(m_input, arguments.inputs[0])},
                                              {DNNL_ARG_DST, bind(m_output, arguments.outputs[0])}};
        execute(bound, arguments.scratch);
    }

  private:
    memory::desc m_input, m_output;
};

/// Before AVX-512 oneDNN's product packs the weights anew on every run; its 1x1 convolution keeps them packed, and takes the
/// rows as pixels. Null where there is only slow code for it.
std::unique_ptr<Kernel> asConvolution(const MatrixProductSpec& spec) {
    const std::int64_t rows = spec.left[0], inner = spec.left[1], columns = spec.output[1];
    ConvolutionSpec convolution;
    convolution.input = {DataType::Float32, {1, inner, rows, 1}, Layout::ChannelsLast};
    convolution.output = {DataType::Float32, {1, columns, rows, 1}, Layout::ChannelsLast};
    convolution.window = {{1, 1}, {1, 1}, {1, 1}, {0, 0}, {0, 0}, {rows, 1}};
    const auto given = spec.constantRight->floats();
    std::vector<float> weight(given.begin(), given.end());
    if (!spec.transposeRight)
        convertLayout({DataType::Float32, {1, inner, columns}, Layout::Plain}, given.data(), Layout::ChannelsLast,
                      weight.data());
    const ConstantPtr kernel = Constant::fromFloats({columns, inner, 1, 1}, std::move(weight));
    convolution.weight = kernel.get();
    convolution.bias = spec.bias;
    convolution.activation = spec.activation;
    auto made = std::make_unique<Convolution>(convolution);
    return made->isReference() ? nullptr : std::move(made);
}

template <typename Make>
std::unique_ptr<Kernel> guarded(const char* what, Make make) {
    try {
        return make();
    } catch (const dnnl::error& error) {
        fail(ErrorKind::Unsupported, "oneDNN cannot do this {}: {}", what, error.what());
    }
}

}  // namespace

IsaCap dnnlIsaCap() {
    switch (dnnl::get_effective_cpu_isa()) {
        case dnnl::cpu_isa::sse41:
        case dnnl::cpu_isa::avx: return IsaCap::BelowAvx2;
        case dnnl::cpu_isa::avx2:
        case dnnl::cpu_isa::avx512_mic:
        case dnnl::cpu_isa::avx512_mic_4ops:
        case dnnl::cpu_isa::avx512_core: return IsaCap::BelowVnni;
        default: return IsaCap::None;
    }
}

std::unique_ptr<Kernel> makeConvolution(const ConvolutionSpec& spec) {
    return guarded("convolution", [&] { return std::make_unique<Convolution>(spec); });
}

std::unique_ptr<Kernel> makeTransposedConvolution(const ConvolutionSpec& spec) {
    return guarded("transposed convolution", [&] { return std::make_unique<TransposedConvolution>(spec); });
}

std::unique_ptr<Kernel> makeMatrixProduct(const MatrixProductSpec& spec) {
    return guarded("matrix product", [&]() -> std::unique_ptr<Kernel> {
        auto product = std::make_unique<MatrixProduct>(spec);
        if (product->packsWeights() || spec.constantRight == nullptr || spec.alpha != 1.0f || spec.left.size() != 2 ||
            spec.transposeLeft)
            return product;
        if (auto convolution = asConvolution(spec)) return convolution;
        return product;
    });
}

std::unique_ptr<Kernel> makePool(PoolKind kind, const TensorDesc& input, const TensorDesc& output,
                                 const Window& window) {
    return guarded("pooling", [&] { return std::make_unique<Pool>(kind, input, output, window); });
}

void multiply(const MatrixView& left, const MatrixView& right, std::size_t rows, std::size_t inner, std::size_t columns,
              float* result) {
    const auto extent = [](std::size_t n) { return static_cast<dnnl_dim_t>(n); };
    const auto status = dnnl_sgemm(left.transposed ? 'T' : 'N', right.transposed ? 'T' : 'N', extent(rows), extent(columns),
                                   extent(inner), 1.0f, left.values, extent(left.stride), right.values, extent(right.stride), 0.0f,
                                   result, extent(columns));
    if (status != dnnl_success) fail(ErrorKind::Internal, "a product of {} x {} x {} failed", rows, inner, columns);
}

}  // namespace quantloupe
