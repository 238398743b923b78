// SPDX-License-Identifier: Apache-2.0
#include "runtime/operators/filters.h"

#include <optional>

#include "base/error.h"
#include "runtime/aligned.h"
#include "runtime/ordered/channel_scale.h"

namespace quantloupe {
namespace {

/// A float32 input that may be computed: its value in a run.
struct Filter {
    ConstantPtr constant;
    TensorDesc desc;

    /// `values` must outlive the result.
    ConstantPtr valueOf(const void* values) const {
        if (constant != nullptr) return constant;
        if (desc.layout == Layout::Plain)
            return Constant::view(DataType::Float32, desc.dims, nullptr,
                                  {static_cast<const std::byte*>(values), desc.bytes()});
        std::vector<float> plain(desc.count());
        convertLayout(desc, values, Layout::Plain, plain.data());
        return Constant::fromFloats(desc.dims, std::move(plain));
    }
};

class ComputedFilters final : public Kernel {
  public:
    ComputedFilters(const ConvolutionSpec& spec, MakeConvolution make, Filter weight,
                    std::optional<Filter> bias)
        : m_spec(spec), m_make(make), m_weight(std::move(weight)), m_bias(std::move(bias)) {
        if (spec.scale != nullptr) m_scale = *spec.scale;
        if (spec.activation != nullptr) m_activation = *spec.activation;
    }

    void run(const KernelArguments& arguments) const override {
        ConvolutionSpec spec = m_spec;
        const ConstantPtr weight = m_weight.valueOf(arguments.inputs[1]);
        const ConstantPtr bias = m_bias ? m_bias->valueOf(arguments.inputs[2]) : nullptr;
        spec.weight = weight.get();
        spec.bias = bias.get();
        spec.scale = m_scale ? &*m_scale : nullptr;
        spec.activation = m_activation ? &*m_activation : nullptr;
        const std::unique_ptr<Kernel> kernel = m_make(spec);
        AlignedVector<std::byte> scratch(kernel->scratchBytes());
        kernel->run({arguments.inputs, arguments.outputs, scratch.data()});
    }

  private:
    ConvolutionSpec m_spec;
    MakeConvolution m_make;
    Filter m_weight;
    std::optional<Filter> m_bias;
    std::optional<ChannelScale> m_scale;
    std::optional<Activation> m_activation;
};

}  // namespace

std::unique_ptr<Kernel> makeWithFilters(const NodeContext& context, ConvolutionSpec spec,
                                        MakeConvolution make) {
    const auto filter = [&](std::size_t input) {
        requireFloat(context, input);
        return Filter{context.constants[input], context.input(input)};
    };
    const Filter weight = filter(1);
    std::optional<Filter> bias;
    if (context.has(2)) {
        bias = filter(2);
        if (elementCount(bias->desc.dims) != spec.output.dims[1])
            failInput("the bias has {} values for {} channels", elementCount(bias->desc.dims),
                      spec.output.dims[1]);
    }
    if (weight.constant == nullptr || (bias && bias->constant == nullptr))
        return std::make_unique<ComputedFilters>(spec, make, weight, std::move(bias));
    spec.weight = weight.constant.get();
    spec.bias = bias ? bias->constant.get() : nullptr;
    return make(spec);
}

}  // namespace quantloupe
