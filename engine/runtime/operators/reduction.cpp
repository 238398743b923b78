// SPDX-License-Identifier: Apache-2.0
// Reductions over axes, ArgMax and ArgMin. The axes are an attribute up to some opset and an input since
// then.
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <type_traits>

#include "base/error.h"
#include "runtime/operators/numeric_types.h"
#include "runtime/operators/operators.h"
#include "runtime/operators/strided.h"

namespace quantloupe {
namespace {

template <typename T>
concept Wide = std::is_integral_v<T> && sizeof(T) == 8;  // double cannot represent all values

/// Ways to fold elements of type T into a State<T>; `finish` also gets the number of elements.
struct Sum {
    /// Unsigned, so that sums wrap around.
    template <typename T>
    using State = std::conditional_t<Wide<T>, std::uint64_t, double>;
    static constexpr bool keepsSingle = true;  ///< the result of a single value is this value
    static constexpr bool acceptsBool = false;
    template <typename S>
    static constexpr S start() {
        return 0;
    }
    template <typename S>
    static S add(S sum, S x) {
        return sum + x;
    }
    template <typename S>
    static S finish(S sum, double) {
        return sum;
    }
};
struct RealSum : Sum {
    template <typename T>
    using State = double;
};
struct Mean : RealSum {
    static double finish(double sum, double count) { return sum / count; }
};
struct LogSum : RealSum {
    static constexpr bool keepsSingle = false;
    static double finish(double sum, double) { return std::log(sum); }
};
struct L1 : RealSum {
    static constexpr bool keepsSingle = false;
    static double add(double sum, double x) { return sum + std::fabs(x); }
};
struct SumSquare : RealSum {
    static constexpr bool keepsSingle = false;
    static double add(double sum, double x) { return sum + x * x; }
};
struct L2 : SumSquare {
    static double finish(double sum, double) { return std::sqrt(sum); }
};
/// The sum is relative to the largest element, so that it neither overflows nor vanishes.
struct LogSumExp : Sum {
    struct Scaled {
        double top, sum;  ///< the sum of exp(x - top)
        template <typename T>
        explicit Scaled(T x) : top(static_cast<double>(x)), sum(1) {}
        Scaled(double largest, double total) : top(largest), sum(total) {}
    };
    template <typename T>
    using State = Scaled;
    template <typename S>
    static S start() {
        return {-std::numeric_limits<double>::infinity(), 0};
    }
    static Scaled add(const Scaled& all, const Scaled& x) {
        if (x.top == all.top) return {all.top, all.sum + 1};
        if (x.top > all.top) return {x.top, all.sum * std::exp(all.top - x.top) + 1};
        return {all.top, all.sum + std::exp(x.top - all.top)};
    }
    static double finish(const Scaled& all, double) { return all.top + std::log(all.sum); }
};
struct Product : Sum {
    template <typename S>
    static constexpr S start() {
        return 1;
    }
    template <typename S>
    static S add(S product, S x) {
        return product * x;
    }
};
/// The most extreme value; NaN if any value is NaN.
template <bool Largest>
struct Extreme : Sum {
    template <typename T>
    using State = std::conditional_t<Wide<T>, T, double>;
    static constexpr bool acceptsBool = true;
    template <typename S>
    static constexpr S start() {
        using Limits = std::numeric_limits<S>;
        if constexpr (Limits::has_infinity) return Largest ? -Limits::infinity() : Limits::infinity();
        return Largest ? Limits::lowest() : Limits::max();
    }
    template <typename S>
    static S add(S top, S x) {
        return (Largest ? x > top : x < top) || x != x ? x : top;
    }
};

template <typename R, typename T>
class ReductionKernel final : public Kernel {
  public:
    ReductionKernel(StridedLoops loops, std::size_t outputs, std::size_t inputs)
        : m_loops(std::move(loops)), m_outputs(outputs), m_each(outputs == 0 ? 0 : inputs / outputs) {}
    std::size_t scratchBytes() const override { return m_outputs * sizeof(State); }

    void run(const KernelArguments& a) const override {
        auto* sums = static_cast<State*>(a.scratch);
        std::uninitialized_fill_n(sums, m_outputs, R::template start<State>());
        const std::size_t inner = m_loops.inner();
        m_loops.forEachRow([&](const std::ptrdiff_t* offsets) {
            const T* in = static_cast<const T*>(a.inputs[0]) + offsets[0];
            State* to = sums + offsets[1];
            if (m_loops.innerStep(1) == 1) {
                for (std::size_t i = 0; i < inner; ++i) to[i] = R::add(to[i], static_cast<State>(in[i]));
                return;
            }
            const std::ptrdiff_t step = m_loops.innerStep(0), toStep = m_loops.innerStep(1);
            for (std::size_t i = 0; i < inner; ++i, in += step, to += toStep)
                *to = R::add(*to, static_cast<State>(*in));
        });
        auto* out = static_cast<T*>(a.outputs[0]);
        for (std::size_t i = 0; i < m_outputs; ++i)
            out[i] = convert<T>(R::finish(sums[i], static_cast<double>(m_each)));
    }

  private:
    using State = typename R::template State<T>;

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
        table[name] = {compile, LayoutPolicy::Any};
    };
    add("ReduceMean", compileReduction<Mean>);
    add("ReduceSum", compileReduction<Sum>);
    add("ReduceMax", compileReduction<Extreme<true>>);
    add("ReduceMin", compileReduction<Extreme<false>>);
    add("ReduceProd", compileReduction<Product>);
    add("ReduceL1", compileReduction<L1>);
    add("ReduceL2", compileReduction<L2>);
    add("ReduceSumSquare", compileReduction<SumSquare>);
    add("ReduceLogSum", compileReduction<LogSum>);
    add("ReduceLogSumExp", compileReduction<LogSumExp>);
    table["ArgMax"] = {compileArg<true>};
    table["ArgMin"] = {compileArg<false>};
}

}  // namespace quantloupe
