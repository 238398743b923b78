// SPDX-License-Identifier: Apache-2.0
#pragma once
// Collects the contents of TensorDetails for one tensor. Internal to engine/session.

#include <limits>

#include "analysis/code_usage.h"
#include "quantize/plan.h"
#include "session/studies/layer_details.h"

namespace quantloupe {

/// Range of the finite values; infinities cannot bound a histogram.
struct FiniteRange {
    float low = std::numeric_limits<float>::infinity(), high = -std::numeric_limits<float>::infinity();

    void add(const float* values, std::size_t count);
    void merge(const FiniteRange& other);
    Distribution distribution(std::size_t bins) const;  ///< empty, over this range
};

/// Returns the details of a unit's weight in the prepared graph.
TensorDetails weightDetails(const Graph& graph, const Unit& unit, const ConstantQuantizer& quantizer,
                            std::size_t bins);

/// Collects an activation in two passes over the chunks: its range, then the rest. Calls for the same chunk
/// or the same worker must not run concurrently.
class ActivationCollector {
  public:
    /// `quantizer` empty: the tensor stays in float.
    ActivationCollector(std::string name, const std::optional<TensorQuantizer>& quantizer, std::size_t chunks,
                        std::size_t workers);

    /// `quantized` are the elements of `floating` after quantization.
    void addRange(std::size_t chunk, const float* floating, const float* quantized, std::size_t count);
    void startCounting(std::size_t bins);
    void count(std::size_t chunk, std::size_t worker, const float* floating, const float* quantized,
               std::size_t count);
    /// Call once, at the end. The result does not depend on which worker processed which chunk.
    TensorDetails result();

  private:
    std::string m_name;
    std::optional<TensorQuantizer> m_quantizer;
    std::vector<FiniteRange> m_ranges;                  // per chunk
    std::vector<Distribution> m_floating, m_quantized;  // per chunk, so that moments are merged in order
    std::vector<CodeUsage> m_usage;                     // per worker; the order of counts does not matter
};

}  // namespace quantloupe
