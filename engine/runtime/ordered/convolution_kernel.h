// SPDX-License-Identifier: Apache-2.0
#pragma once
// The common part of the kernels for convolutions; internal to engine/runtime/ordered.

#include "runtime/aligned.h"
#include "runtime/operators/convolution_geometry.h"
#include "runtime/ordered/ordered_product.h"
#include "runtime/ordered/ordered_tiles.h"

namespace quantloupe {

/// Extents, weights, bias and bounds.
class ConvolutionKernel : public Kernel {
  public:
    explicit ConvolutionKernel(const ConvolutionSpec& spec)
        : m_geometry(spec),
          m_images(static_cast<std::size_t>(spec.input.dims[0])),
          m_channels(static_cast<std::size_t>(spec.input.dims[1])),
          m_filters(static_cast<std::size_t>(spec.output.dims[1])),
          m_groups(static_cast<std::size_t>(spec.groups)),
          m_swish(spec.swish) {
        if (spec.activation != nullptr) m_bounds = *spec.activation;
    }
    std::size_t weightBytes() const override { return m_weight.size() * sizeof(float); }

  protected:
    /// Applies Swish to finished results while they are in the cache.
    void finish(float* values, std::size_t count) const {
        if (m_swish) tiles().curve({Curve::Swish, 1.0f, values, values, count});
    }

    ConvolutionGeometry m_geometry;
    std::size_t m_images, m_channels, m_filters, m_groups;
    AlignedVector<float> m_weight, m_bias;
    AlignedVector<float> m_factor, m_offset;  ///< of the batch normalization, or empty
    Activation m_bounds;                      ///< after the batch normalization
    bool m_swish;
};

/// Groups with one channel and one filter.
std::unique_ptr<Kernel> makeDepthwiseConvolution(const ConvolutionSpec& spec);
/// Groups with several channels and one filter.
std::unique_ptr<Kernel> makeSingleFilterConvolution(const ConvolutionSpec& spec);

}  // namespace quantloupe
