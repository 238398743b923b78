// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a running tensor looks like: type, logical shape, physical order.

#include <cstddef>
#include <optional>
#include <span>

#include "model/data_type.h"
#include "model/shape.h"

namespace quantloupe {

/// Order in memory of a tensor with logical dimensions N, C, spatial...
enum class Layout {
    Plain,         ///< row-major over the logical dimensions
    ChannelsLast,  ///< N, spatial..., C (what oneDNN's convolutions like best); rank 3 and more only
};

/// How the samples of a batch lie in a tensor (runtime/sample_flow.h): in row-major order, `runs` times one block of equal
/// size for each of `count` samples.
struct SampleLayout {
    std::int64_t runs = 0;   ///< 0: the tensor does not depend on the samples; -1: the samples cannot be told apart
    std::int64_t count = 0;  ///< samples in the batch

    static SampleLayout mixed() { return {-1, 0}; }
    bool isMixed() const { return runs < 0; }
    bool perSample() const { return runs > 0; }
    bool operator==(const SampleLayout&) const = default;
};

struct TensorDesc {
    DataType type = DataType::Float32;
    Dims dims;
    Layout layout = Layout::Plain;
    SampleLayout samples = {};

    std::size_t count() const { return static_cast<std::size_t>(elementCount(dims)); }
    std::size_t bytes() const { return count() * elementSize(type); }
    bool operator==(const TensorDesc&) const = default;

    /// The dimensions in the order in which memory runs through them, the fastest last.
    std::vector<std::size_t> memoryOrder() const;
    /// Elements from one index to the next, for each logical dimension.
    std::vector<std::ptrdiff_t> strides() const;
};

/// The dimension that the samples are in; nothing where they are not within one, or there is one sample only.
std::optional<std::size_t> sampleDimension(const TensorDesc& desc);

/// The values of the first `present` samples, sample after sample; the last batch of a dataset may be padded. The values
/// themselves where the samples lie in one run, else a copy in `storage`. All values of a tensor that does not depend on
/// the samples or mixes them. A tensor with several runs must be in plain layout.
std::span<const float> presentValues(const TensorDesc& desc, const float* values, std::size_t present,
                                     std::vector<float>& storage);

/// Copies float elements from one layout to the other. Both descs have the same dims.
void convertLayout(const TensorDesc& from, const void* source, Layout to, void* target);

}  // namespace quantloupe
