// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a layer multiplies its weights with, as rows of a matrix: for each output position the inputs under the kernel.

#include <optional>
#include <vector>

#include "quantize/units.h"
#include "runtime/tensor_desc.h"
#include "runtime/window.h"

namespace quantloupe {

/// A Conv of 1 to 3 dimensions and any groups, a Gemm or a MatMul with a constant matrix. A row has, for each group, one value for
/// each weight of an output channel, in the order of `weightAt`; zeros where the kernel stands in the padding.
class LayerRows {
  public:
    /// Nothing for other layers. `input`: of a whole batch, as programs observe it.
    static std::optional<LayerRows> of(const Graph& graph, const Unit& unit, const TensorDesc& input);

    std::size_t groups() const { return m_groups; }
    std::size_t columns() const { return m_columns; }      ///< of a group
    std::size_t outputs() const { return m_outputs; }      ///< output channels of a group
    std::size_t positions() const { return m_positions; }  ///< rows of a sample

    /// Where the weight of output channel o of group g and column k lies.
    std::size_t weightAt(std::size_t g, std::size_t o, std::size_t k) const {
        return (g * m_outputs + o) * m_outputStride + k * m_columnStride;
    }
    /// Writes the row: groups() x columns() values. `values`: of the whole batch.
    void gather(const float* values, std::size_t sample, std::size_t position, float* row) const;

  private:
    struct Tap {
        std::vector<std::int64_t> offset;  ///< from the window's corner
        std::ptrdiff_t distance = 0;       ///< in values
    };
    std::size_t m_groups = 1, m_columns = 0, m_outputs = 0, m_positions = 1;
    std::size_t m_outputStride = 0, m_columnStride = 1;
    std::vector<Tap> m_taps;  ///< of one channel; a matrix product has one
    Dims m_spatial;           ///< extents of the input
    Window m_window;
    std::ptrdiff_t m_sampleStride = 0, m_channelStride = 1;
    std::vector<std::ptrdiff_t> m_spatialStrides;
    std::size_t m_channels = 0;  ///< of all groups
};

}  // namespace quantloupe
