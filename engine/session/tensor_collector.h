// SPDX-License-Identifier: Apache-2.0
#pragma once
// Collects what TensorDetails says of one tensor. Internal to engine/session.

#include <limits>

#include "analysis/code_usage.h"
#include "quantize/plan.h"
#include "session/layer_details.h"

namespace quantloupe {

/// Of the finite values: infinities are no end of a histogram.
struct FiniteRange {
    float low = std::numeric_limits<float>::infinity(), high = -std::numeric_limits<float>::infinity();

    void add(const float* values, std::size_t count);
    void merge(const FiniteRange& other);
    Distribution distribution(std::size_t bins) const;  ///< empty, over this range
};

/// Of a unit's weight in the prepared graph.
TensorDetails weightDetails(const Graph& graph, const Unit& unit, const ConstantQuantizer& quantizer, std::size_t bins);

/// An activation, in two passes over the chunks: its range, then the rest. One thread a chunk and a worker at a time.
class ActivationCollector {
  public:
    /// `quantizer` empty: the tensor stays in float.
    ActivationCollector(std::string name, const std::optional<TensorQuantizer>& quantizer, std::size_t chunks, std::size_t workers);

    /// `floating` in float, `quantized` the same elements quantized.
    void addRange(std::size_t chunk, const float* floating, const float* quantized, std::size_t count);
    void startCounting(std::size_t bins);
    void count(std::size_t chunk, std::size_t worker, const float* floating, const float* quantized, std::size_t count);
    /// Once, at the end. Does not depend on which worker took which chunk.
    TensorDetails result();

  private:
    std::string m_name;
    std::optional<TensorQuantizer> m_quantizer;
    std::vector<FiniteRange> m_ranges;                  // a chunk
    std::vector<Distribution> m_floating, m_quantized;  // a chunk: moments are merged in order
    std::vector<CodeUsage> m_usage;                     // a worker: counts have no order
};

}  // namespace quantloupe
