// SPDX-License-Identifier: Apache-2.0
#include "quantize/refine/layer_rows.h"

#include "model/operator_traits.h"

namespace quantloupe {
namespace {
constexpr std::size_t kMaxDimensions = 3;  ///< maximum number of spatial dimensions
}

std::optional<LayerRows> LayerRows::of(const Graph& graph, const Unit& unit, const TensorDesc& input) {
    const Node& node = graph.node(unit.layer);
    const Constant* weight = graph.constantOf(unit.weight);
    if (weight == nullptr || input.dims.size() < 2 || input.count() == 0 || input.type != DataType::Float32)
        return {};
    const auto strides = input.strides();
    const auto extent = [](std::int64_t n) { return static_cast<std::size_t>(n); };
    LayerRows rows;
    rows.m_sampleStride = strides[0];
    if (traitsOf(node).kind == OperatorKind::Product) {
        const bool outputFirst = isOp(node, "Gemm") && node.attributes.integer("transB", 0) != 0;
        rows.m_columns = extent(weight->dims()[outputFirst ? 1 : 0]);
        rows.m_outputs = extent(weight->dims()[outputFirst ? 0 : 1]);
        rows.m_outputStride = outputFirst ? rows.m_columns : 1;
        rows.m_columnStride = outputFirst ? 1 : rows.m_outputs;
        rows.m_channels = rows.m_columns;
        rows.m_channelStride = strides.back();
        if (extent(input.dims.back()) != rows.m_columns) return {};
        // The axes between the batch and the features are treated like the spatial axes of an image.
        rows.m_spatial.assign(input.dims.begin() + 1, input.dims.end() - 1);
        rows.m_spatialStrides.assign(strides.begin() + 1, strides.end() - 1);
        const std::size_t rank = rows.m_spatial.size();
        if (rank > kMaxDimensions) return {};
        rows.m_window.output = rows.m_spatial;
        rows.m_window.strides = Dims(rank, 1);
        rows.m_window.padBegin = Dims(rank, 0);
        for (const std::int64_t size : rows.m_spatial) rows.m_positions *= extent(size);
        rows.m_taps = {{std::vector<std::int64_t>(rank, 0), 0}};
        return rows;
    }
    if (!isOp(node, "Conv")) return {};
    const std::size_t rank = input.dims.size() - 2;
    if (weight->dims().size() != input.dims.size() || rank < 1 || rank > kMaxDimensions) return {};
    rows.m_spatial.assign(input.dims.begin() + 2, input.dims.end());
    rows.m_window = windowOf({graph, node, {}, {}}, rows.m_spatial,
                             Dims(weight->dims().begin() + 2, weight->dims().end()));
    rows.m_groups = extent(node.attributes.integer("group", 1));
    rows.m_channels = extent(input.dims[1]);
    rows.m_outputs = extent(weight->dims()[0]) / rows.m_groups;
    rows.m_channelStride = strides[1];
    rows.m_spatialStrides.assign(strides.begin() + 2, strides.end());
    std::size_t taps = 1;
    for (std::size_t d = 0; d < rank; ++d) {
        taps *= extent(rows.m_window.kernel[d]);
        rows.m_positions *= extent(rows.m_window.output[d]);
    }
    for (std::size_t t = 0; t < taps; ++t) {
        Tap tap;
        tap.offset.resize(rank);
        std::size_t rest = t;
        for (std::size_t d = rank; d-- > 0;) {
            const auto size = extent(rows.m_window.kernel[d]);
            tap.offset[d] = static_cast<std::int64_t>(rest % size) * rows.m_window.dilations[d];
            tap.distance += static_cast<std::ptrdiff_t>(tap.offset[d]) * rows.m_spatialStrides[d];
            rest /= size;
        }
        rows.m_taps.push_back(std::move(tap));
    }
    rows.m_columns = extent(weight->dims()[1]) * taps;
    rows.m_outputStride = rows.m_columns;
    return rows;
}

void LayerRows::gather(const float* values, std::size_t sample, std::size_t position, float* row) const {
    std::ptrdiff_t at = static_cast<std::ptrdiff_t>(sample) * m_sampleStride;
    const std::size_t rank = m_spatial.size();
    std::int64_t corner[kMaxDimensions] = {};
    std::size_t rest = position;
    for (std::size_t d = rank; d-- > 0;) {
        const auto size = static_cast<std::size_t>(m_window.output[d]);
        corner[d] = static_cast<std::int64_t>(rest % size) * m_window.strides[d] - m_window.padBegin[d];
        at += static_cast<std::ptrdiff_t>(corner[d]) * m_spatialStrides[d];
        rest /= size;
    }
    const std::size_t taps = m_taps.size();
    for (std::size_t t = 0; t < taps; ++t) {
        bool inside = true;
        for (std::size_t d = 0; d < rank; ++d) {
            const std::int64_t x = corner[d] + m_taps[t].offset[d];
            inside = inside && x >= 0 && x < m_spatial[d];
        }
        const float* from = inside ? values + at + m_taps[t].distance : nullptr;
        for (std::size_t c = 0; c < m_channels; ++c)
            row[c * taps + t] = inside ? from[static_cast<std::ptrdiff_t>(c) * m_channelStride] : 0.0f;
    }
}

}  // namespace quantloupe
