// SPDX-License-Identifier: Apache-2.0
#pragma once
// The position of the sample dimension in the outputs of each operator. Internal to sample_flow.cpp.

#include <map>
#include <optional>
#include <set>

#include "runtime/operators/operators.h"
#include "runtime/program/sample_flow.h"

namespace quantloupe {

/// The dimension of the samples. It has the form [before, samples, after].
struct SampleAxis {
    std::size_t axis = 0;
    std::int64_t before = 1, after = 1;
    bool operator==(const SampleAxis&) const = default;
};
using FoundAxis = std::optional<SampleAxis>;

/// The number of elements in the dimensions [begin, end).
std::int64_t product(const Dims& dims, std::size_t begin, std::size_t end);

/// A node and the sample axes of its inputs.
class SampleFlow {
  public:
    SampleFlow(const NodeContext& context, std::int64_t count, const TensorDesc& output,
               const ConstantsOfOne& one);

    const Node& node() const { return m_context.node; }
    const NodeContext& context() const { return m_context; }
    std::size_t inputs() const { return m_context.inputs.size(); }
    const Dims& dims(std::size_t i) const { return m_context.inputs[i].dims; }
    bool has(std::size_t i) const { return m_context.has(i); }
    bool perSample(std::size_t i) const { return has(i) && m_context.inputs[i].samples.perSample(); }
    /// The axis of an input that is per sample; empty if the samples do not lie within one dimension.
    const FoundAxis& axis(std::size_t i) const { return m_axes[i]; }
    bool onlyFirstIsPerSample() const {
        for (std::size_t i = 1; i < inputs(); ++i)
            if (perSample(i)) return false;
        return perSample(0);
    }

    /// Whether input i, which does not depend on the samples, provides each sample with the same values as in
    /// a batch of one; `axis` is the dimension of the input that is aligned with the samples.
    bool sameForAll(std::size_t i, const SampleAxis& axis) const;
    /// Whether no input depends on the batch size, except those that sameForAll() accepted.
    bool settled() const { return m_growing.empty(); }

    std::int64_t integer(const char* name, std::int64_t fallback) const {
        return node().attributes.integer(name, fallback);
    }
    /// An axis attribute, counted from the front.
    std::size_t axisAttribute(std::int64_t fallback, std::size_t rank) const {
        return normalizedAxis(integer("axis", fallback), rank);
    }
    /// Axes given as an attribute or as input `i`, counted from the front.
    std::set<std::size_t> axes(std::size_t i, std::size_t rank) const {
        Dims list = node().attributes.integers("axes");
        if (const Constant* given = m_context.constant(i)) list = given->toInt64s();
        std::set<std::size_t> result;
        for (const std::int64_t axis : list) result.insert(normalizedAxis(axis, rank));
        return result;
    }

  private:
    /// Whether the input only determines the shape of the result, which is compared with the shape in a batch
    /// of one.
    bool describesShape(std::size_t i, const TensorDesc& output) const;

    const NodeContext& m_context;
    std::int64_t m_count;
    std::vector<FoundAxis> m_axes;
    /// Constants that differ in a batch of one, with their values there.
    mutable std::map<std::size_t, ConstantPtr> m_growing;
};

/// The dimension of output `index` that contains the samples; empty if they are mixed. No input is mixed.
using SampleRule = FoundAxis (*)(const SampleFlow&, const Dims& output, std::size_t index);

/// Rules of products and of recurrent layers, in sample_rules_products.cpp.
FoundAxis sampleAxisOfMatMul(const SampleFlow& flow, const Dims& output, std::size_t index);
FoundAxis sampleAxisOfGemm(const SampleFlow& flow, const Dims& output, std::size_t index);
FoundAxis sampleAxisOfEinsum(const SampleFlow& flow, const Dims& output, std::size_t index);
FoundAxis sampleAxisOfRecurrence(const SampleFlow& flow, const Dims& output, std::size_t index);

/// Null for operators that mix the samples or whose behavior is unknown.
SampleRule sampleRuleOf(const std::string& op);

}  // namespace quantloupe
