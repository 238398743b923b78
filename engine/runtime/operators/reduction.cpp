// SPDX-License-Identifier: Apache-2.0
// Reductions over axes, ArgMax and ArgMin. The axes are an attribute up to some opset and an input since
// then.
#include <cmath>
#include <limits>

#include "base/error.h"
#include "runtime/operators/numeric_types.h"
#include "runtime/operators/operators.h"
#include "runtime/operators/strided.h"

namespace quantloupe {
namespace {

/// Ways to fold elements into an accumulator of double; `finish` also gets the number of elements.
struct Sum {
    static constexpr double start = 0;
    static constexpr bool keepsSingle = true;  ///< the result of a single value is this value
    static constexpr bool acceptsBool = false;
    static double add(double sum, double x) { return sum + x; }
    static double finish(double sum, double) { return sum; }
};
struct Mean : Sum {
    static double finish(double sum, double count) { return sum / count; }
};
struct LogSum : Sum {
    static constexpr bool keepsSingle = false;
    static double finish(double sum, double) { return std::log(sum); }
};
struct L1 : Sum {
    static constexpr bool keepsSingle = false;
    static double add(double sum, double x) { return sum + std::fabs(x); }
};
struct SumSquare : Sum {
    static constexpr bool keepsSingle = false;
    static double add(double sum, double x) { return sum + x * x; }
};
struct L2 : SumSquare {
    static double finish(double sum, double) { return std::sqrt(sum); }
};
struct LogSumExp : Sum {
    static double add(double sum, double x) { return sum + std::exp(x); }
    static double finish(double sum, double) { return std::log(sum); }
};
struct Product : Sum {
    static constexpr double start = 1;
    static double add(double product, double x) { return product * x; }
};
struct Largest : Sum {
    static constexpr bool acceptsBool = true;
    static constexpr double start = -std::numeric_limits<double>::infinity();
    static double add(double top, double x) { return x > top ? x : top; }
};
struct Smallest : Sum {
    static constexpr bool acceptsBool = true;
    static constexpr double start = std::numeric_limits<double>::infinity();
    static double add(double low, double x) { return x < low ? x : low; }
};

template <typename R, typename T>
class ReductionKernel final : public Kernel {
  public:
    ReductionKernel(StridedLoops loops, std::size_t outputs, std::size_t inputs)
        : m_loops(std::move(loops)), m_outputs(outputs), m_each(outputs == 0 ? 0 : inputs / outputs) {}
    std::size_t scratchBytes() const override { return m_outputs * sizeof(double); }

    void run(const KernelArguments& a) const override {
        auto* sums = static_cast<double*>(a.scratch);
        std::fill_n(sums, m_outputs, R::start);
        const std::size_t inner = m_loops.inner();
        m_loops.forEachRow([&](const std::ptrdiff_t* offsets) {
            const T* in = static_cast<const T*>(a.inputs[0]) + offsets[0];
            double* to = sums + offsets[1];
            if (m_loops.innerStep(1) == 1) {
                for (std::size_t i = 0; i < inner; ++i) to[i] = R::add(to[i], static_cast<double>(in[i]));
                return;
            }
            const std::ptrdiff_t step = m_loops.innerStep(0), toStep = m_loops.innerStep(1);
            for (std::size_t i = 0; i < inner; ++i, in += step, to += toStep)
                *to = R::add(*to, static_cast<double>(*in));
        });
        auto* out = static_cast<T*>(a.outputs[0]);
        for (std::size_t i = 0; i < m_outputs; ++i)
            out[i] = convert<T>(R::finish(sums[i], static_cast<double>(m_each)));
    }

  private:
    StridedLoops m_loops;
    std::size_t m_outputs, m_each;
};

template <typename R>
CompiledNode compileReduction(const NodeContext& context) {
    const TensorDesc& desc = context.input(0);
    const std::size_t rank = desc.dims.size();
    Dims axes = context.node.attributes.integers("axes");
    if (context.has(1)) axes = context.needConstant(1, "the axes of a reduction").toInt64s();
    const bool none = axes.empty() && context.node.attributes.integer("noop_with_empty_axes", 0) != 0;
    if (none && R::keepsSingle) return {{desc}, nullptr};
    std::vector<bool> reduced(rank, axes.empty() && !none);
    for (const std::int64_t axis : axes) reduced[normalizedAxis(axis, rank)] = true;
    const bool keep = context.node.attributes.integer("keepdims", 1) != 0;

    TensorDesc output{desc.type, {}, Layout::Plain};
    StridedLoops::Steps steps(rank, 0);
    std::size_t outputs = 1;
    for (std::size_t d = rank; d-- > 0;) {
        if (reduced[d]) continue;
        steps[d] = static_cast<std::ptrdiff_t>(outputs);
        outputs *= static_cast<std::size_t>(desc.dims[d]);
    }
    for (std::size_t d = 0; d < rank; ++d) {
        if (!reduced[d])
            output.dims.push_back(desc.dims[d]);
        else if (keep)
            output.dims.push_back(1);
    }
    const StridedLoops loops(extentsInMemoryOrder(desc),
                             {inMemoryOrder(desc, desc.strides()), inMemoryOrder(desc, steps)});
    const DataType computed =
        R::acceptsBool && desc.type == DataType::Bool ? DataType::UInt8 : desc.type;  // 0 and 1
    return {{output},
            withArithmeticType(computed, context.node.op, [&]<typename T>(T) -> std::unique_ptr<Kernel> {
                return std::make_unique<ReductionKernel<R, T>>(loops, outputs, desc.count());
            })};
}

template <bool Max>
CompiledNode compileArg(const NodeContext& context) {
    const TensorDesc& desc = context.input(0);
    const std::size_t axis = normalizedAxis(context.node.attributes.integer("axis", 0), desc.dims.size());
    const bool lastWins = context.node.attributes.integer("select_last_index", 0) != 0;
    const auto extent = static_cast<std::size_t>(desc.dims[axis]);
    if (extent == 0) failInput("{} over an empty dimension", context.node.op);
    const auto inner = static_cast<std::size_t>(desc.strides()[axis]);
    const std::size_t outer = desc.count() / (extent * std::max<std::size_t>(inner, 1));
    TensorDesc output{DataType::Int64, desc.dims, Layout::Plain};
    if (context.node.attributes.integer("keepdims", 1) != 0)
        output.dims[axis] = 1;
    else
        output.dims.erase(output.dims.begin() + static_cast<std::ptrdiff_t>(axis));
    return withArithmeticType(desc.type, context.node.op, [&]<typename T>(T) -> CompiledNode {
        return {{output}, makeKernel([=](const KernelArguments& a) {
                    auto* out = static_cast<std::int64_t*>(a.outputs[0]);
                    for (std::size_t o = 0; o < outer; ++o)
                        for (std::size_t i = 0; i < inner; ++i) {
                            const T* in = static_cast<const T*>(a.inputs[0]) + o * extent * inner + i;
                            std::size_t best = 0;
                            for (std::size_t k = 1; k < extent; ++k) {
                                const T x = in[k * inner], top = in[best * inner];
                                if ((Max ? x > top : x < top) || (lastWins && x == top)) best = k;
                            }
                            *out++ = static_cast<std::int64_t>(best);
                        }
                })};
    });
}

}  // namespace

void addReductions(OperatorTable& table) {
    const auto add = [&](const char* name, CompiledNode (*compile)(const NodeContext&)) {
        table[name] = {compile, LayoutPolicy::Any, false};
    };
    add("ReduceMean", compileReduction<Mean>);
    add("ReduceSum", compileReduction<Sum>);
    add("ReduceMax", compileReduction<Largest>);
    add("ReduceMin", compileReduction<Smallest>);
    add("ReduceProd", compileReduction<Product>);
    add("ReduceL1", compileReduction<L1>);
    add("ReduceL2", compileReduction<L2>);
    add("ReduceSumSquare", compileReduction<SumSquare>);
    add("ReduceLogSum", compileReduction<LogSum>);
    add("ReduceLogSumExp", compileReduction<LogSumExp>);
    table["ArgMax"] = {compileArg<true>, LayoutPolicy::Plain, false};
    table["ArgMin"] = {compileArg<false>, LayoutPolicy::Plain, false};
}

}  // namespace quantloupe
