// SPDX-License-Identifier: Apache-2.0
// RotaryEmbedding and GroupQueryAttention of com.microsoft, as in language models.
#include "base/error.h"
#include "model/fused_attention.h"
#include "model/fused_operators.h"

namespace quantloupe {
namespace {

using Operand = FusedBody::Operand;

constexpr std::int64_t kEnd = std::int64_t{1} << 31;

/// The cosines and sines of each position, as 1×1×S×W or B×1×S×W.
struct Rotation {
    Operand cosines, sines;
    std::int64_t width;  ///< W: half of the values that are rotated
    bool all;            ///< whether that is all values of a head
    bool interleaved;
};

Operand rowsOf(FusedBody& body, int table, const Operand& positions, bool perSample) {
    const Operand rows = body.add("Gather", {body.in(table), positions});
    return perSample ? body.unsqueeze(rows, 1) : rows;
}

/// Rotates B×N×S×H.
Operand rotated(FusedBody& body, const Operand& hidden, const Rotation& rotation) {
    const std::int64_t width = rotation.width;
    Operand first, second;
    if (rotation.interleaved) {
        const Operand part = rotation.all ? hidden : body.slice(hidden, 3, 0, 2 * width);
        const Operand pairs = body.add("Reshape", {part, body.numbers({0, 0, 0, -1, 2})});
        const auto half = [&](std::int64_t i) {
            return body.add("Gather", {pairs, body.integer(i)}, {{"axis", std::int64_t{4}}});
        };
        first = half(0);
        second = half(1);
    } else {
        first = body.slice(hidden, 3, 0, width);
        second = body.slice(hidden, 3, width, 2 * width);
    }
    const auto product = [&](const Operand& left, const Operand& right) {
        return body.add("Mul", {left, right});
    };
    const Operand real = body.add("Sub", {product(first, rotation.cosines), product(second, rotation.sines)});
    const Operand imaginary =
        body.add("Add", {product(first, rotation.sines), product(second, rotation.cosines)});
    Operand turned;
    if (rotation.interleaved) {
        turned = body.add("Concat", {body.unsqueeze(real, 4), body.unsqueeze(imaginary, 4)},
                          {{"axis", std::int64_t{4}}});
        turned = body.add("Reshape", {turned, body.numbers({0, 0, 0, -1})});
    } else {
        turned = body.add("Concat", {real, imaginary}, {{"axis", std::int64_t{3}}});
    }
    if (rotation.all) return turned;
    return body.add("Concat", {turned, body.slice(hidden, 3, 2 * width, kEnd)}, {{"axis", std::int64_t{3}}});
}

/// Each head of the keys and values serves several heads of the query: B×M×T×H becomes B×N×T×H.
Operand repeated(FusedBody& body, const Operand& heads, std::int64_t times, std::int64_t count,
                 std::int64_t width) {
    if (times == 1) return heads;
    const Operand expanded =
        body.add("Expand", {body.unsqueeze(heads, 2), body.numbers({1, 1, times, 1, 1})});
    return body.add("Reshape", {expanded, body.numbers({0, count, -1, width})});
}

}  // namespace

/// Inputs: input, position_ids, cos_cache, sin_cache.
void expandRotaryEmbedding(FusedBody& body) {
    const auto rank = body.rank(0), positionRank = body.rank(1);
    const auto width = body.width(2);
    refuse(!rank || (*rank != 3 && *rank != 4), "an input of unknown rank");
    refuse(!positionRank || !width, "RotaryEmbedding with positions or tables of unknown shape");
    refuse(body.integer("is_packed_batching", 0) != 0 || body.real("scale", 1) != 1,
           "RotaryEmbedding with packed samples or a scale");
    const std::int64_t heads = body.integer("num_heads", 0), part = body.integer("rotary_embedding_dim", 0);
    refuse(part != 0 && heads == 0 && *rank == 3, "RotaryEmbedding of an unknown number of heads");
    Operand hidden = body.in(0);
    if (*rank == 3) {
        const Operand split = body.add("Reshape", {hidden, heads > 0 ? body.numbers({0, 0, heads, -1})
                                                                     : body.numbers({0, 0, -1, 2 * *width})});
        hidden = body.add("Transpose", {split}, {{"perm", std::vector<std::int64_t>{0, 2, 1, 3}}});
    }
    Operand positions = body.in(1);
    const bool perSample = *positionRank == 2;
    if (!perSample) {  // the position of the first token
        const Operand range = body.range(body.integer(0), body.extent(hidden, 2));
        positions = body.add(
            "Add", {range, body.add("Cast", {positions}, {{"to", std::int64_t{onnx::TensorProto::INT64}}})});
    }
    const Operand turned =
        rotated(body, hidden,
                {rowsOf(body, 2, positions, perSample), rowsOf(body, 3, positions, perSample), *width,
                 part == 0, body.integer("interleaved", 0) != 0});
    body.setOutput(0, *rank == 3 ? joinHeads(body, turned) : turned);
}

/// Inputs: query, key, value, past_key, past_value, seqlens_k, total_sequence_length, cos_cache, sin_cache,
/// position_ids, attention_bias. Outputs: output, present_key, present_value. Limitation: the past of every
/// sample is taken to have the length of past_key.
void expandGroupQueryAttention(FusedBody& body) {
    refuse(body.has(11) || body.integer("smooth_softmax", 0) != 0, "GroupQueryAttention with a sink");
    for (const char* name : {"k_quant_type", "v_quant_type"})
        refuse(!body.text(name).empty() && body.text(name) != "NONE",
               "GroupQueryAttention with quantized keys");
    refuse(body.wants(3), "the output of scores");
    const std::int64_t heads = body.heads("num_heads"), shared = body.heads("kv_num_heads");
    const bool packed = !body.has(1);
    const auto columns = body.width(0);
    const bool rotates = body.integer("do_rotary", 0) != 0;
    const auto table = body.width(7);
    refuse(!columns, "a query whose width is unknown");
    refuse(rotates && !table, "rotation with tables of unknown shape");
    const std::int64_t parts = packed ? heads + 2 * shared : heads;
    if (heads % shared != 0 || *columns % parts != 0)
        failInput("{} columns do not fit {} and {} heads", *columns, heads, shared);
    const std::int64_t width = *columns / parts;
    std::vector<Operand> operands{body.in(0), body.in(1), body.in(2)};
    if (packed)
        operands = {body.slice(body.in(0), 2, 0, heads * width),
                    body.slice(body.in(0), 2, heads * width, (heads + shared) * width),
                    body.slice(body.in(0), 2, (heads + shared) * width, parts * width)};
    FusedAttention a{body,
                     splitHeads(body, operands[0], heads),
                     splitHeads(body, operands[1], shared),
                     splitHeads(body, operands[2], shared),
                     scoreScale(body, width),
                     -1,
                     10,
                     true};
    a.window = body.integer("local_window_size", -1);
    a.softcap = body.real("softcap", 0);
    if (body.has(3)) a.before = body.extent(body.in(3), 2);
    refuse(!body.has(5), "GroupQueryAttention without lengths");
    const Operand last = body.add("Cast", {body.in(5)}, {{"to", std::int64_t{onnx::TensorProto::INT64}}});
    a.lengths = body.add("Reshape", {body.add("Add", {last, body.integer(1)}), body.numbers({-1, 1})});
    if (rotates) {
        const Operand start = a.before.empty() ? body.integer(0) : a.before;
        const Operand positions =
            body.has(9) ? body.in(9) : body.range(start, body.add("Add", {start, body.extent(a.query, 2)}));
        const Rotation rotation{rowsOf(body, 7, positions, body.has(9)),
                                rowsOf(body, 8, positions, body.has(9)), *table, 2 * *table == width,
                                body.integer("rotary_interleaved", 0) != 0};
        a.query = rotated(body, a.query, rotation);
        a.key = rotated(body, a.key, rotation);
    }
    if (body.has(3)) {
        a.key = body.add("Concat", {body.in(3), a.key}, {{"axis", std::int64_t{2}}});
        a.value = body.add("Concat", {body.in(4), a.value}, {{"axis", std::int64_t{2}}});
    }
    body.setOutput(1, a.key);
    body.setOutput(2, a.value);
    a.key = repeated(body, a.key, heads / shared, heads, width);
    a.value = repeated(body, a.value, heads / shared, heads, width);
    body.setOutput(0, attend(a));
}

}  // namespace quantloupe
