// SPDX-License-Identifier: Apache-2.0
#pragma once
// The inputs of a layer as a matrix (im2col): one row per output position with the inputs under the kernel.

#include <optional>
#include <vector>

#include "quantize/units.h"
#include "runtime/operators/window.h"
#include "runtime/tensor_desc.h"

namespace quantloupe {

/// Supports Conv with 1 to 3 spatial dimensions and any number of groups, and Gemm or MatMul with a constant
/// matrix. A row contains, for each group, one value per weight of an output channel, in the order of
/// `weightAt`, and zeros where the kernel covers padding.
class LayerRows {
  public:
    /// Empty for other layers. `input` describes a whole batch, as programs observe it.
    static std::optional<LayerRows> of(const Graph& graph, const Unit& unit, const TensorDesc& input);

    std::size_t groups() const { return m_groups; }
    std::size_t columns() const { return m_columns; }      ///< per group
    std::size_t outputs() const { return m_outputs; }      ///< output channels per group
    std::size_t positions() const { return m_positions; }  ///< rows per sample

    /// Returns the index of the weight of column k and output channel o of group g.
    std::size_t weightAt(std::size_t g, std::size_t o, std::size_t k) const {
        return (g * m_outputs + o) * m_outputStride + k * m_columnStride;
    }
    /// Writes one row of groups() x columns() values. `values` are those of the whole batch.
    void gather(const float* values, std::size_t sample, std::size_t position, float* row) const;

  private:
    struct Tap {
        std::vector<std::int64_t> offset;  ///< from the window's corner, per dimension
        std::ptrdiff_t distance = 0;       ///< from the window's corner, in values
    };
    std::size_t m_groups = 1, m_columns = 0, m_outputs = 0, m_positions = 1;
    std::size_t m_outputStride = 0, m_columnStride = 1;
    std::vector<Tap> m_taps;  ///< of one channel; a single one for matrix products
    Dims m_spatial;           ///< spatial extents of the input
    Window m_window;
    std::ptrdiff_t m_sampleStride = 0, m_channelStride = 1;
    std::vector<std::ptrdiff_t> m_spatialStrides;
    std::size_t m_channels = 0;  ///< of all groups together
};

}  // namespace quantloupe
