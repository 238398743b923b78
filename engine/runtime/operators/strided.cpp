// SPDX-License-Identifier: Apache-2.0
#include "runtime/operators/strided.h"

#include <cstring>

#include "base/error.h"

namespace quantloupe {
namespace {

/// The innermost loop has a large stride in the source, but the loop `near` has stride 1 there: copies in
/// tiles, so that both sides stay within a few cache lines.
template <typename T>
void copyTiled(const StridedLoops& loops, std::size_t near, const T* source, T* target) {
    constexpr std::size_t kTile = 16;
    const std::size_t rows = loops.outer()[near], columns = loops.inner();
    const std::ptrdiff_t sourceStep = loops.innerStep(0), targetStep = loops.outerStep(1, near);
    Dims extents;
    std::vector<StridedLoops::Steps> steps(2);
    for (std::size_t d = 0; d < loops.outer().size(); ++d) {
        if (d == near) continue;
        extents.push_back(static_cast<std::int64_t>(loops.outer()[d]));
        for (std::size_t k = 0; k < 2; ++k) steps[k].push_back(loops.outerStep(k, d));
    }
    const StridedLoops around(extents, steps);
    around.forEachRow([&](const std::ptrdiff_t* offsets) {
        for (std::size_t i = 0; i < around.inner(); ++i) {
            const T* from = source + offsets[0] + static_cast<std::ptrdiff_t>(i) * around.innerStep(0);
            T* to = target + offsets[1] + static_cast<std::ptrdiff_t>(i) * around.innerStep(1);
            for (std::size_t r0 = 0; r0 < rows; r0 += kTile)
                for (std::size_t c0 = 0; c0 < columns; c0 += kTile)
                    for (std::size_t r = r0; r < std::min(r0 + kTile, rows); ++r)
                        for (std::size_t c = c0; c < std::min(c0 + kTile, columns); ++c)
                            to[static_cast<std::ptrdiff_t>(r) * targetStep + static_cast<std::ptrdiff_t>(c)] =
                                from[static_cast<std::ptrdiff_t>(r) +
                                     static_cast<std::ptrdiff_t>(c) * sourceStep];
        }
    });
}

template <typename T>
void copyLoops(const StridedLoops& loops, const T* source, T* target) {
    const std::size_t inner = loops.inner();
    const std::ptrdiff_t step = loops.innerStep(0);
    if (step != 1 && step != 0 && inner > 1)
        for (std::size_t d = 0; d < loops.outer().size(); ++d)
            if (loops.outerStep(0, d) == 1) return copyTiled(loops, d, source, target);
    loops.forEachRow([&](const std::ptrdiff_t* offsets) {
        const T* from = source + offsets[0];
        T* to = target + offsets[1];
        if (step == 1)
            std::memcpy(to, from, inner * sizeof(T));
        else
            for (std::size_t i = 0; i < inner; ++i, from += step) to[i] = *from;
    });
}

}  // namespace

StridedLoops::StridedLoops(const Dims& extents, const std::vector<Steps>& steps)
    : m_steps(steps.size()), m_innerSteps(steps.size(), 0) {
    const std::int64_t count = elementCount(extents);
    for (std::size_t d = 0; d < extents.size(); ++d) {
        if (extents[d] == 1) continue;
        bool joins = !m_outer.empty();
        for (std::size_t k = 0; joins && k < steps.size(); ++k)
            joins = m_steps[k].back() == steps[k][d] * extents[d];
        if (joins)
            m_outer.back() *= static_cast<std::size_t>(extents[d]);
        else
            m_outer.push_back(static_cast<std::size_t>(extents[d]));
        for (std::size_t k = 0; k < steps.size(); ++k)
            if (joins)
                m_steps[k].back() = steps[k][d];
            else
                m_steps[k].push_back(steps[k][d]);
    }
    if (!m_outer.empty()) {
        m_inner = m_outer.back();
        m_outer.pop_back();
        for (std::size_t k = 0; k < steps.size(); ++k) {
            m_innerSteps[k] = m_steps[k].back();
            m_steps[k].pop_back();
        }
    }
    m_rows = count == 0 ? 0 : static_cast<std::size_t>(count) / m_inner;
}

StridedLoops::Steps broadcastSteps(const TensorDesc& operand, const Dims& output) {
    StridedLoops::Steps steps(output.size(), 0);
    const auto strides = operand.strides();
    const std::size_t missing = output.size() - operand.dims.size();
    for (std::size_t d = 0; d < operand.dims.size(); ++d)
        if (operand.dims[d] != 1) steps[missing + d] = strides[d];
    return steps;
}

StridedLoops::Steps inMemoryOrder(const TensorDesc& output, const StridedLoops::Steps& values) {
    StridedLoops::Steps sorted;
    for (const std::size_t d : output.memoryOrder()) sorted.push_back(values[d]);
    return sorted;
}

Dims extentsInMemoryOrder(const TensorDesc& output) {
    Dims extents;
    for (const std::size_t d : output.memoryOrder()) extents.push_back(output.dims[d]);
    return extents;
}

std::function<void(const void*, void*)> stridedCopy(const TensorDesc& output,
                                                    const StridedLoops::Steps& steps, std::ptrdiff_t start) {
    const StridedLoops loops(extentsInMemoryOrder(output),
                             {inMemoryOrder(output, steps), inMemoryOrder(output, output.strides())});
    const auto copy = [&]<typename T>(T) {
        return [loops, start](const void* source, void* target) {
            copyLoops(loops, static_cast<const T*>(source) + start, static_cast<T*>(target));
        };
    };
    switch (elementSize(output.type)) {
        case 1:
            return copy(std::uint8_t{});
        case 2:
            return copy(std::uint16_t{});
        case 4:
            return copy(std::uint32_t{});
        case 8:
            return copy(std::uint64_t{});
        default:
            fail(ErrorKind::Unsupported, "tensors of {} are not supported", dataTypeName(output.type));
    }
}

}  // namespace quantloupe
