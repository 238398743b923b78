// SPDX-License-Identifier: Apache-2.0
#include "runtime/tensor_desc.h"

#include <cstring>
#include <numeric>

#include "base/error.h"

namespace quantloupe {
namespace {

template <typename T>
void transposeChannels(const T* source, T* target, std::size_t batch, std::size_t rows, std::size_t columns) {
    constexpr std::size_t kTile = 16;  // both sides stay within a few cache lines
    for (std::size_t n = 0; n < batch; ++n, source += rows * columns, target += rows * columns)
        for (std::size_t r0 = 0; r0 < rows; r0 += kTile)
            for (std::size_t c0 = 0; c0 < columns; c0 += kTile)
                for (std::size_t r = r0; r < std::min(r0 + kTile, rows); ++r)
                    for (std::size_t c = c0; c < std::min(c0 + kTile, columns); ++c)
                        target[c * rows + r] = source[r * columns + c];
}

}  // namespace

std::vector<std::size_t> TensorDesc::memoryOrder() const {
    std::vector<std::size_t> order(dims.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    if (layout == Layout::ChannelsLast && dims.size() >= 3)
        std::rotate(order.begin() + 1, order.begin() + 2, order.end());
    return order;
}

std::vector<std::ptrdiff_t> TensorDesc::strides() const {
    std::vector<std::ptrdiff_t> result(dims.size());
    std::ptrdiff_t stride = 1;
    const std::vector<std::size_t> order = memoryOrder();
    for (auto d = order.rbegin(); d != order.rend(); ++d) {
        result[*d] = stride;
        stride *= dims[*d];
    }
    return result;
}

std::optional<std::size_t> sampleDimension(const TensorDesc& desc) {
    if (!desc.samples.perSample() || desc.samples.count == 1) return std::nullopt;
    const std::int64_t block = elementCount(desc.dims) / (desc.samples.runs * desc.samples.count);
    std::int64_t suffix = 1;
    for (std::size_t d = desc.dims.size(); d-- > 0; suffix *= desc.dims[d])
        if (suffix > 0 && block >= suffix && block < suffix * desc.dims[d])
            return block % suffix == 0 && desc.dims[d] % (desc.samples.count * (block / suffix)) == 0
                       ? std::optional(d)
                       : std::nullopt;
    return std::nullopt;
}

bool samplesAreTogether(const TensorDesc& desc) {
    if (!desc.samples.perSample() || desc.samples.count == 1) return true;
    if (desc.samples.runs > 1) return false;
    return desc.layout == Layout::Plain || sampleDimension(desc) == std::size_t{0};
}

std::span<const float> presentValues(const TensorDesc& desc, const float* values, std::size_t present,
                                     std::vector<float>& storage) {
    const std::size_t all = desc.count();
    if (!desc.samples.perSample()) return {values, all};
    const auto samples = static_cast<std::size_t>(desc.samples.count),
               runs = static_cast<std::size_t>(desc.samples.runs);
    const std::size_t block = all / (samples * runs);
    if (runs == 1) return {values, block * present};
    storage.resize(runs * block * present);
    float* to = storage.data();
    for (std::size_t s = 0; s < present; ++s)
        for (std::size_t r = 0; r < runs; ++r, to += block)
            std::memcpy(to, values + (r * samples + s) * block, block * sizeof(float));
    return storage;
}

void convertLayout(const TensorDesc& from, const void* source, Layout to, void* target) {
    if (from.count() == 0) return;
    if (from.layout == to || from.dims.size() < 3) {
        std::memcpy(target, source, from.bytes());
        return;
    }
    const auto batch = static_cast<std::size_t>(from.dims[0]);
    const auto channels = static_cast<std::size_t>(from.dims[1]);
    if (batch == 0 || channels == 0) return;
    const std::size_t spatial = from.count() / (batch * channels);
    const bool toLast = to == Layout::ChannelsLast;
    const std::size_t rows = toLast ? channels : spatial;
    const std::size_t columns = toLast ? spatial : channels;
    if (elementSize(from.type) == 4)
        transposeChannels(static_cast<const std::uint32_t*>(source), static_cast<std::uint32_t*>(target),
                          batch, rows, columns);
    else if (elementSize(from.type) == 1)
        transposeChannels(static_cast<const std::uint8_t*>(source), static_cast<std::uint8_t*>(target), batch,
                          rows, columns);
    else if (elementSize(from.type) == 2)
        transposeChannels(static_cast<const std::uint16_t*>(source), static_cast<std::uint16_t*>(target),
                          batch, rows, columns);
    else
        fail(ErrorKind::Internal, "no layout conversion for {}", dataTypeName(from.type));
}

}  // namespace quantloupe
