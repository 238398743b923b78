// SPDX-License-Identifier: Apache-2.0
// Attention of opset 23 to 25: softmax(softcap(Q K^T scale) + mask) V for each head. Several heads of Q may
// share one of K and V.
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
    constexpr std::size_t kSums = 16;  // a fixed order of summation, whatever the instruction set
    float lanes[kSums] = {};
    std::size_t i = 0;
    for (; i + kSums <= count; i += kSums)
        for (std::size_t lane = 0; lane < kSums; ++lane) lanes[lane] += left[i + lane] * right[i + lane];
    float sum = 0;
    for (const float lane : lanes) sum += lane;
    for (; i < count; ++i) sum += left[i] * right[i];
    return sum;
}

QUANTLOUPE_SIMD void addScaled(float* out, const float* in, float factor, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) out[i] += factor * in[i];
}

constexpr float kMasked = -std::numeric_limits<float>::infinity();

/// If all keys are masked (not `open`), all weights are 0, as in ONNX Runtime.
void softmax(std::vector<float>& scores, bool open) {
    const float top = std::ranges::max(scores);
    if (!open || top == kMasked) {
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

/// The keys that a query may use, apart from the mask. The first query of a sample is at the position
/// `offset`: after the past keys, or, if K and V are whole caches, where the last query is at the last valid
/// key.
struct VisibleKeys {
    std::int64_t offset, last, first = 0;  ///< the last is excluded

    /// With a bound for the distance of a key to the left or the right; below 0, there is none.
    VisibleKeys of(std::int64_t query, std::int64_t left, std::int64_t right) const {
        VisibleKeys range = *this;
        if (left >= 0) range.first = std::max(first, offset + query - left);
        if (right >= 0) range.last = std::min(last, offset + query + right + 1);
        return range;
    }
    bool contains(std::int64_t key) const { return key >= first && key < last; }
};

/// The mask of Attention, broadcast to batch × heads × queries × keys. Keys beyond its last column are
/// masked.
struct AttentionMask {
    bool given = false, choosing = false;  ///< choosing: bool, true for valid keys; otherwise a summand
    Dims steps = Dims(4, 0);
    std::int64_t columns = 0;

    float at(const void* data, std::int64_t b, std::int64_t h, std::int64_t i, std::int64_t j) const {
        if (!given) return 0;
        if (j >= columns) return kMasked;
        const std::int64_t at = b * steps[0] + h * steps[1] + i * steps[2] + j * steps[3];
        if (!choosing) return static_cast<const float*>(data)[at];
        return static_cast<const bool*>(data)[at] ? 0.0f : kMasked;
    }
};

AttentionMask maskOf(const NodeContext& context, const Dims& scores) {
    if (!context.has(3)) return {};
    AttentionMask mask{true, context.input(3).type == DataType::Bool};
    if (!mask.choosing) requireFloat(context, 3);
    const Dims &dims = context.input(3).dims, strides = context.input(3).strides();
    const std::int64_t columns = dims.empty() ? 1 : dims.back();
    // Up to opset 23, a single column is broadcast.
    mask.columns = dims.empty() || (columns == 1 && context.opset() < 24) ? scores.back() : columns;
    Dims covered = scores;
    covered.back() = std::min(scores.back(), mask.columns);
    if (dims.size() > 4 || broadcastDims(dims, covered) != covered)
        failInput("the mask {} of Attention does not fit {}", toString(dims), toString(scores));
    for (std::size_t d = 0; d < dims.size(); ++d)
        if (dims[d] != 1) mask.steps[4 - dims.size() + d] = strides[d];
    return mask;
}

/// The number of past keys.
std::int64_t pastLength(const NodeContext& context, const Heads& k, const Heads& v) {
    if (context.has(4) != context.has(5))
        failInput("Attention needs both past keys and past values, or neither");
    if (!context.has(4)) return 0;
    const Dims &keys = context.input(4).dims, &values = context.input(5).dims;
    requireFloat(context, 4);
    requireFloat(context, 5);
    const std::int64_t past = keys.size() == 4 ? keys[2] : 0;
    if (keys != Dims{k.batch, k.heads, past, k.width} || values != Dims{v.batch, v.heads, past, v.width})
        failInput("the past keys and values of Attention, {} and {}, do not fit", toString(keys),
                  toString(values));
    return past;
}

/// The number of valid keys of each sample, if K and V are whole caches (input 6).
void checkLengths(const NodeContext& context, std::int64_t batch) {
    if (!context.has(6)) return;
    const TensorDesc& lengths = context.input(6);
    if (lengths.type != DataType::Int64 || lengths.dims != Dims{batch} || context.has(4))
        failInput("the numbers of valid keys of Attention must be {} values of int64, without past keys",
                  batch);
}

/// What output 3 contains (qk_matmul_output_mode): scaled products, those with softcap, those with the mask,
/// or the weights.
enum class ScoreStage { Scaled, Capped, Masked, Weights };

/// All that a run needs to know about the node.
struct AttentionPlan {
    Heads q, k, v, out;
    std::int64_t past = 0, total = 0;  ///< keys before this run, and all keys
    std::int64_t left = -1, right = -1;
    float scale = 1, softcap = 0;
    AttentionMask mask;
    bool hasLengths = false;
    ScoreStage shown = ScoreStage::Scaled;
};

/// Computes one query after the other.
class AttentionRun {
  public:
    AttentionRun(const AttentionPlan& plan, const KernelArguments& arguments)
        : m_plan(plan),
          m_arguments(arguments),
          m_keys(
              joined(plan.past > 0 ? arguments.inputs[4] : nullptr, plan.past, arguments.inputs[1], plan.k)),
          m_values(
              joined(plan.past > 0 ? arguments.inputs[5] : nullptr, plan.past, arguments.inputs[2], plan.v)),
          m_row(static_cast<std::size_t>(plan.total)),
          m_scores(arguments.outputs.size() > 3 ? static_cast<float*>(arguments.outputs[3]) : nullptr) {}

    void run() {
        const auto& outputs = m_arguments.outputs;
        if (outputs.size() > 1 && outputs[1] != nullptr)
            std::ranges::copy(m_keys, static_cast<float*>(outputs[1]));
        if (outputs.size() > 2 && outputs[2] != nullptr)
            std::ranges::copy(m_values, static_cast<float*>(outputs[2]));
        for (std::int64_t b = 0; b < m_plan.q.batch; ++b) {
            const VisibleKeys visible = visibleKeys(b);
            for (std::int64_t h = 0; h < m_plan.q.heads; ++h)
                for (std::int64_t i = 0; i < m_plan.q.length; ++i)
                    query(b, h, i, visible.of(i, m_plan.left, m_plan.right));
        }
    }

  private:
    VisibleKeys visibleKeys(std::int64_t b) const {
        if (!m_plan.hasLengths) return {m_plan.past, m_plan.total};
        const std::int64_t valid =
            std::min(static_cast<const std::int64_t*>(m_arguments.inputs[6])[b], m_plan.total);
        return {valid - m_plan.q.length, valid};
    }

    void query(std::int64_t b, std::int64_t h, std::int64_t i, const VisibleKeys& visible) {
        const Heads &k = m_plan.k, &v = m_plan.v;
        const std::int64_t firstKey = (b * k.heads + h / (m_plan.q.heads / k.heads)) * m_plan.total;
        score(b, h, i, firstKey, visible);
        float* out = static_cast<float*>(m_arguments.outputs[0]) + m_plan.out.at(b, h, i);
        const auto width = static_cast<std::size_t>(v.width);
        std::fill_n(out, width, 0.0f);
        for (std::int64_t j = 0; j < m_plan.total; ++j)
            addScaled(out, m_values.data() + (firstKey + j) * v.width, m_row[static_cast<std::size_t>(j)],
                      width);
    }

    /// Computes the weights of all keys for one query in m_row.
    void score(std::int64_t b, std::int64_t h, std::int64_t i, std::int64_t firstKey,
               const VisibleKeys& visible) {
        const Heads& q = m_plan.q;
        const float* query = static_cast<const float*>(m_arguments.inputs[0]) + q.at(b, h, i);
        const void* mask = m_plan.mask.given ? m_arguments.inputs[3] : nullptr;
        float* shown =
            m_scores == nullptr ? nullptr : m_scores + ((b * q.heads + h) * q.length + i) * m_plan.total;
        const auto show = [&](ScoreStage stage, std::int64_t j, float value) {
            if (shown != nullptr && m_plan.shown == stage) shown[j] = value;
        };
        bool open = false;  // the query may use at least one key
        for (std::int64_t j = 0; j < m_plan.total; ++j) {
            float& score = m_row[static_cast<std::size_t>(j)];
            score = m_plan.scale * dot(query, m_keys.data() + (firstKey + j) * m_plan.k.width,
                                       static_cast<std::size_t>(q.width));
            show(ScoreStage::Scaled, j, score);
            if (m_plan.softcap > 0) score = m_plan.softcap * std::tanh(score / m_plan.softcap);
            show(ScoreStage::Capped, j, score);
            const float summand = visible.contains(j) ? m_plan.mask.at(mask, b, h, i, j) : kMasked;
            open |= summand != kMasked;
            score += summand;
            show(ScoreStage::Masked, j, score);
        }
        softmax(m_row, open);
        if (m_plan.shown == ScoreStage::Weights && shown != nullptr) std::ranges::copy(m_row, shown);
    }

    const AttentionPlan& m_plan;
    const KernelArguments& m_arguments;
    const std::vector<float> m_keys, m_values;
    std::vector<float> m_row;  ///< of one query: scores, then weights
    float* m_scores;           ///< output 3
};

AttentionPlan planOf(const NodeContext& context) {
    const Attributes& attributes = context.node.attributes;
    const Heads q = headsOf(context, 0, "q_num_heads"), k = headsOf(context, 1, "kv_num_heads"),
                v = headsOf(context, 2, "kv_num_heads");
    if (q.batch != k.batch || q.batch != v.batch || k.heads != v.heads || k.length != v.length ||
        q.width != k.width || k.heads == 0 || q.heads % k.heads != 0)
        failInput("Attention cannot combine {}, {} and {}", toString(context.input(0).dims),
                  toString(context.input(1).dims), toString(context.input(2).dims));
    AttentionPlan plan;
    plan.q = q;
    plan.k = k;
    plan.v = v;
    plan.out = {q.batch, q.heads, q.length, v.width, q.split};
    plan.past = pastLength(context, k, v);
    checkLengths(context, q.batch);
    plan.hasLengths = context.has(6);
    plan.total = plan.past + k.length;
    if (plan.total == 0) failInput("Attention has no keys");
    plan.mask = maskOf(context, {q.batch, q.heads, q.length, plan.total});
    plan.left = std::min(attributes.integer("left_window_size", -1), plan.total + q.length);
    const bool causal = attributes.integer("is_causal", 0) != 0;
    plan.right = causal ? 0 : std::min(attributes.integer("right_window_size", -1), plan.total);
    plan.softcap = attributes.real("softcap", 0);
    plan.scale =
        attributes.real("scale", 1.0f / std::sqrt(static_cast<float>(std::max<std::int64_t>(q.width, 1))));
    const std::int64_t shown = attributes.integer("qk_matmul_output_mode", 0);
    if (shown < 0 || shown > 3) failInput("Attention has no qk_matmul_output_mode {}", shown);
    plan.shown = static_cast<ScoreStage>(shown);
    return plan;
}

CompiledNode compileAttention(const NodeContext& context) {
    const AttentionPlan plan = planOf(context);
    const Heads &q = plan.q, &k = plan.k, &v = plan.v;
    const Dims merged = {q.batch, q.length, q.heads * v.width};
    const Dims split = {q.batch, q.heads, q.length, v.width};
    const std::vector<Dims> dims = {q.split ? split : merged,
                                    {k.batch, k.heads, plan.total, k.width},
                                    {v.batch, v.heads, plan.total, v.width},
                                    {q.batch, q.heads, q.length, plan.total}};
    std::vector<TensorDesc> outputs;
    for (std::size_t i = 0; i < std::min(dims.size(), context.node.outputs.size()); ++i)
        outputs.push_back({DataType::Float32, dims[i], Layout::Plain});
    return {std::move(outputs),
            makeKernel([plan](const KernelArguments& arguments) { AttentionRun(plan, arguments).run(); })};
}

}  // namespace

void addAttention(OperatorTable& table) { table["Attention"] = {compileAttention}; }

}  // namespace quantloupe
