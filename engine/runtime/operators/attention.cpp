// SPDX-License-Identifier: Apache-2.0
// Attention of opset 23: softmax(Q K^T scale + mask) V for each head. Several heads of Q may share one of K
// and V.
#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "runtime/operators/broadcast.h"
#include "runtime/operators/operators.h"
#include "runtime/simd.h"

namespace quantloupe {
namespace {

/// Q, K or V: batch × heads × length × width, or batch × length × (heads · width) in memory.
struct Heads {
    std::int64_t batch = 0, heads = 0, length = 0, width = 0;
    bool split = true;  ///< the heads are a dimension of their own

    std::int64_t at(std::int64_t b, std::int64_t h, std::int64_t l) const {
        return split ? ((b * heads + h) * length + l) * width : ((b * length + l) * heads + h) * width;
    }
};

Heads headsOf(const NodeContext& context, std::size_t input, const char* attribute) {
    requireFloat(context, input);
    const Dims& dims = context.input(input).dims;
    if (dims.size() == 4) return {dims[0], dims[1], dims[2], dims[3], true};
    const std::int64_t heads = context.node.attributes.integer(attribute, 0);
    if (dims.size() != 3 || heads < 1 || dims[2] % heads != 0)
        failInput("Attention cannot split {} into {} heads", toString(dims), heads);
    return {dims[0], heads, dims[1], dims[2] / heads, false};
}

QUANTLOUPE_SIMD float dot(const float* left, const float* right, std::size_t count) {
    constexpr std::size_t kLanes = 16;  // a fixed order of summation, whatever the instruction set
    float lanes[kLanes] = {};
    std::size_t i = 0;
    for (; i + kLanes <= count; i += kLanes)
        for (std::size_t lane = 0; lane < kLanes; ++lane) lanes[lane] += left[i + lane] * right[i + lane];
    float sum = 0;
    for (const float lane : lanes) sum += lane;
    for (; i < count; ++i) sum += left[i] * right[i];
    return sum;
}

QUANTLOUPE_SIMD void addScaled(float* out, const float* in, float factor, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) out[i] += factor * in[i];
}

/// If all scores are masked, all weights are 0, as in ONNX Runtime.
void softmax(std::vector<float>& scores) {
    const float top = std::ranges::max(scores);
    if (top == -std::numeric_limits<float>::infinity()) {
        std::ranges::fill(scores, 0.0f);
        return;
    }
    float sum = 0;
    for (float& score : scores) sum += score = std::exp(score - top);
    for (float& score : scores) score /= sum;
}

/// K or V: the rows of the past, then those of this run, in one array of batch × heads × total × width.
std::vector<float> joined(const void* past, std::int64_t pastLength, const void* present,
                          const Heads& heads) {
    std::vector<float> all;
    all.reserve(
        static_cast<std::size_t>(heads.batch * heads.heads * (pastLength + heads.length) * heads.width));
    for (std::int64_t b = 0; b < heads.batch; ++b)
        for (std::int64_t h = 0; h < heads.heads; ++h) {
            const std::int64_t rows = pastLength * heads.width;
            const float* old = static_cast<const float*>(past) + (b * heads.heads + h) * rows;
            if (past != nullptr) all.insert(all.end(), old, old + rows);
            for (std::int64_t l = 0; l < heads.length; ++l) {
                const float* row = static_cast<const float*>(present) + heads.at(b, h, l);
                all.insert(all.end(), row, row + heads.width);
            }
        }
    return all;
}

CompiledNode compileAttention(const NodeContext& context) {
    const Attributes& attributes = context.node.attributes;
    const Heads q = headsOf(context, 0, "q_num_heads"), k = headsOf(context, 1, "kv_num_heads"),
                v = headsOf(context, 2, "kv_num_heads");
    if (attributes.real("softcap", 0) != 0 || context.node.output(3).valid() || context.has(6))
        fail(ErrorKind::Unsupported,
             "Attention with a softcap, its fourth output or its seventh input is not supported");
    if (q.batch != k.batch || q.batch != v.batch || k.heads != v.heads || k.length != v.length ||
        q.width != k.width || k.heads == 0 || q.heads % k.heads != 0)
        failInput("Attention cannot combine {}, {} and {}", toString(context.input(0).dims),
                  toString(context.input(1).dims), toString(context.input(2).dims));
    std::int64_t past = 0;
    if (context.has(4) != context.has(5))
        failInput("Attention needs both past keys and past values, or neither");
    if (context.has(4)) {
        const Dims &keys = context.input(4).dims, &values = context.input(5).dims;
        requireFloat(context, 4);
        requireFloat(context, 5);
        past = keys.size() == 4 ? keys[2] : 0;
        if (keys != Dims{k.batch, k.heads, past, k.width} || values != Dims{v.batch, v.heads, past, v.width})
            failInput("the past keys and values of Attention, {} and {}, do not fit", toString(keys),
                      toString(values));
    }
    const std::int64_t total = past + k.length;
    if (total == 0) failInput("Attention has no keys");
    const Dims scores = {q.batch, q.heads, q.length, total};
    Dims maskSteps(4, 0);
    const bool masked = context.has(3), choosing = masked && context.input(3).type == DataType::Bool;
    if (masked) {
        if (!choosing) requireFloat(context, 3);
        const Dims& mask = context.input(3).dims;
        if (mask.size() > 4 || broadcastDims(mask, scores) != scores)
            failInput("the mask {} of Attention does not fit {}", toString(mask), toString(scores));
        const Dims strides = context.input(3).strides();
        for (std::size_t d = 0; d < mask.size(); ++d)
            if (mask[d] != 1) maskSteps[4 - mask.size() + d] = strides[d];
    }
    const bool causal = attributes.integer("is_causal", 0) != 0;
    const float scale =
        attributes.real("scale", 1.0f / std::sqrt(static_cast<float>(std::max<std::int64_t>(q.width, 1))));

    const Heads out{q.batch, q.heads, q.length, v.width, q.split};
    TensorDesc output{DataType::Float32, {q.batch, q.length, q.heads * v.width}, Layout::Plain};
    if (out.split) output.dims = {q.batch, q.heads, q.length, v.width};
    std::vector<TensorDesc> outputs = {
        output,
        {DataType::Float32, {k.batch, k.heads, total, k.width}, Layout::Plain},
        {DataType::Float32, {v.batch, v.heads, total, v.width}, Layout::Plain}};
    outputs.resize(std::min(outputs.size(), context.node.outputs.size()));
    return {
        std::move(outputs), makeKernel([=](const KernelArguments& a) {
            const std::vector<float> keys = joined(past > 0 ? a.inputs[4] : nullptr, past, a.inputs[1], k);
            const std::vector<float> values = joined(past > 0 ? a.inputs[5] : nullptr, past, a.inputs[2], v);
            for (std::size_t i = 1; i < a.outputs.size(); ++i)
                if (a.outputs[i] != nullptr)
                    std::ranges::copy(i == 1 ? keys : values, static_cast<float*>(a.outputs[i]));
            const auto width = static_cast<std::size_t>(q.width), wide = static_cast<std::size_t>(v.width);
            std::vector<float> row(static_cast<std::size_t>(total));
            const auto maskAt = [&](std::int64_t b, std::int64_t h, std::int64_t i, std::int64_t j) {
                const std::int64_t at =
                    b * maskSteps[0] + h * maskSteps[1] + i * maskSteps[2] + j * maskSteps[3];
                if (!choosing) return static_cast<const float*>(a.inputs[3])[at];
                return static_cast<const bool*>(a.inputs[3])[at] ? 0.0f
                                                                 : -std::numeric_limits<float>::infinity();
            };
            for (std::int64_t b = 0; b < q.batch; ++b)
                for (std::int64_t h = 0; h < q.heads; ++h) {
                    const std::int64_t shared = (b * k.heads + h / (q.heads / k.heads)) * total;
                    for (std::int64_t i = 0; i < q.length; ++i) {
                        const float* query = static_cast<const float*>(a.inputs[0]) + q.at(b, h, i);
                        for (std::int64_t j = 0; j < total; ++j) {
                            float& score = row[static_cast<std::size_t>(j)];
                            score = scale * dot(query, keys.data() + (shared + j) * k.width, width);
                            if (masked) score += maskAt(b, h, i, j);
                            if (causal && j > i + past) score = -std::numeric_limits<float>::infinity();
                        }
                        softmax(row);
                        float* to = static_cast<float*>(a.outputs[0]) + out.at(b, h, i);
                        std::fill_n(to, wide, 0.0f);
                        for (std::int64_t j = 0; j < total; ++j)
                            addScaled(to, values.data() + (shared + j) * v.width,
                                      row[static_cast<std::size_t>(j)], wide);
                    }
                }
        })};
}

}  // namespace

void addAttention(OperatorTable& table) {
    table["Attention"] = {compileAttention, LayoutPolicy::Plain, false};
}

}  // namespace quantloupe
