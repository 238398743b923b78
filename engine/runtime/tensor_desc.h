// SPDX-License-Identifier: Apache-2.0
#pragma once
// Description of a tensor at run time: type, logical shape, memory order.

#include <cstddef>
#include <optional>
#include <span>

#include "model/data_type.h"
#include "model/shape.h"

namespace quantloupe {

/// Memory order of a tensor with logical dimensions N, C, spatial...
enum class Layout {
    Plain,         ///< row-major over the logical dimensions
    ChannelsLast,  ///< N, spatial..., C (fastest for convolutions); rank 3 and higher only
};

/// How the samples of a batch are arranged in a tensor (runtime/program/sample_flow.h): in row-major order,
/// `runs` times one block of equal size for each of `count` samples.
struct SampleLayout {
    /// 0: the tensor does not depend on the samples; -1: the samples cannot be separated
    std::int64_t runs = 0;
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

    /// The dimensions in memory order, the fastest last.
    std::vector<std::size_t> memoryOrder() const;
    /// The distance in elements between consecutive indices of each logical dimension.
    std::vector<std::ptrdiff_t> strides() const;
};

/// The dimension that contains the samples; empty if they do not lie within one dimension or there is only
/// one sample.
std::optional<std::size_t> sampleDimension(const TensorDesc& desc);

/// Whether the values of each sample lie together in memory, one sample after the other. Also if the tensor
/// does not depend on the samples, or mixes them.
bool samplesAreTogether(const TensorDesc& desc);

/// Returns the values of the first `present` samples, sample by sample (the last batch of a dataset may be
/// padded): the values themselves if the samples form one run, otherwise a copy in `storage`. Returns all
/// values of a tensor that does not depend on the samples or mixes them. If the samples
/// are not together, the tensor must have the plain layout.
std::span<const float> presentValues(const TensorDesc& desc, const float* values, std::size_t present,
                                     std::vector<float>& storage);

/// Copies float elements from one layout to another. Both tensors have the same dims.
void convertLayout(const TensorDesc& from, const void* source, Layout to, void* target);

}  // namespace quantloupe
