// SPDX-License-Identifier: Apache-2.0
// RotaryEmbedding of ONNX, and RotaryEmbedding and GroupQueryAttention of com.microsoft, as in language
// models.
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

/// Normalizes each head by its root mean square, if there is a weight for it.
Operand normalized(FusedBody& body, const Operand& heads, int weight) {
    if (!body.has(weight)) return heads;
    return body.add("SimplifiedLayerNormalization", {heads, body.in(weight)},
                    {{"axis", std::int64_t{-1}}, {"epsilon", body.real("qk_norm_epsilon", 1e-6f)}});
}

/// Each head of the keys and values serves several heads of the query: B×M×T×H becomes B×N×T×H.
Operand repeated(FusedBody& body, const Operand& heads, std::int64_t times, std::int64_t count,
                 std::int64_t width) {
    if (times == 1) return heads;
    const Operand expanded =
        body.add("Expand", {body.unsqueeze(heads, 2), body.numbers({1, 1, times, 1, 1})});
    return body.add("Reshape", {expanded, body.numbers({0, count, -1, width})});
}

/// The present keys or values of each sample: the valid ones of the past, then the new ones, then zeros.
/// `index` comes from rowsOfBuffer().
Operand continued(FusedBody& body, int past, const Operand& added, const Operand& index) {
    const Operand both = body.add("Concat", {body.in(past), added}, {{"axis", std::int64_t{2}}});
    const Operand padded = body.add("Pad", {both, body.numbers({0, 0, 0, 0, 0, 0, 1, 0})});
    return body.add("GatherElements", {padded, index}, {{"axis", std::int64_t{2}}});
}

/// Returns, for each position of the present, its row in the past followed by the new rows and a row of
/// zeros: B×M×T×H. `start` is the number of valid rows of the past, B×1.
Operand rowsOfBuffer(FusedBody& body, const Operand& start, const Operand& added, std::int64_t heads,
                     std::int64_t width) {
    const Operand before = body.extent(body.in(3), 2);
    const Operand total = body.add(
        "Squeeze", {body.add("Cast", {body.in(6)}, {{"to", std::int64_t{onnx::TensorProto::INT64}}})});
    const Operand positions = body.range(body.integer(0), body.add("Max", {total, before}));
    const Operand shifted = body.add("Add", {body.add("Sub", {positions, start}), before});
    const Operand zeros = body.add("Add", {before, body.extent(added, 2)});
    const Operand row =
        body.add("Where", {body.lessThan(positions, start), positions, body.add("Min", {shifted, zeros})});
    return body.add("Expand",
                    {body.unsqueeze(body.unsqueeze(row, 1), 3), body.numbers({1, heads, 1, width})});
}

}  // namespace

/// Opset 23. Inputs: input, cos_cache, sin_cache, position_ids. Without positions, there is a row of the
/// tables for each token of each sample.
void expandRotaryEmbedding23(FusedBody& body) {
    const auto rank = body.rank(0);
    const auto width = body.width(1);
    refuse(!rank || (*rank != 3 && *rank != 4), "an input of unknown rank");
    refuse(!width, "RotaryEmbedding with tables of unknown shape");
    body.ignore({"num_heads"});  // if the heads are separate
    const std::int64_t part = body.integer("rotary_embedding_dim", 0);
    auto turns = body.width(0);  // the number of values of a head that are rotated
    if (*rank == 3 && turns) *turns /= body.heads("num_heads");
    if (part != 0) turns = part;
    const std::int64_t sines = body.width(2).value_or(*width);
    if (turns.value_or(2 * *width) != 2 * *width || sines != *width)
        failInput("tables of {} and {} columns do not fit {} values to rotate", *width, sines,
                  turns.value_or(2 * *width));
    Operand hidden = body.in(0);
    if (*rank == 3) hidden = splitHeads(body, hidden, body.heads("num_heads"));
    const auto rows = [&](int table) {
        return body.has(3) ? rowsOf(body, table, body.in(3), true) : body.unsqueeze(body.in(table), 1);
    };
    const Operand turned =
        rotated(body, hidden, {rows(1), rows(2), *width, part == 0, body.integer("interleaved", 0) != 0});
    body.setOutput(0, *rank == 3 ? joinHeads(body, turned) : turned);
}

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
/// position_ids, attention_bias, and, after three that are not supported, q_norm_weight and k_norm_weight.
/// Outputs: output, present_key, present_value. seqlens_k is the number of valid keys of each sample,
/// including the new ones, minus 1. The past can have unused entries at its end.
void expandGroupQueryAttention(FusedBody& body) {
    refuse(body.has(11) || body.integer("smooth_softmax", 0) != 0, "GroupQueryAttention with a sink");
    for (const char* name : {"k_quant_type", "v_quant_type"})
        refuse(!body.text(name).empty() && body.text(name) != "NONE",
               "GroupQueryAttention with quantized keys");
    refuse(body.wants(3), "the output of scores");
    refuse(!body.has(5), "GroupQueryAttention without lengths");
    refuse(body.integer("sliding_window_cache", 0) != 0, "a past with only the keys of the window");
    body.ignore({"kv_cache_bit_width", "qk_norm_epsilon", "qk_output"});
    const bool causal = body.integer("causal", 1) != 0;
    body.ignoreInputs({6, 7, 8, 9});  // only with a past or a rotation
    const std::int64_t heads = body.heads("num_heads"), shared = body.heads("kv_num_heads");
    const bool packed = !body.has(1), hasPast = body.has(3) && body.has(4) && body.has(6);
    refuse(body.has(3) != hasPast, "GroupQueryAttention without a total length");
    const bool rotates = body.integer("do_rotary", 0) != 0,
               interleaved = body.integer("rotary_interleaved", 0) != 0;
    const auto table = body.width(7);
    refuse(rotates && !table, "rotation with tables of unknown shape");
    const std::int64_t parts = packed ? heads + 2 * shared : heads;
    const auto columns = body.width(0), pastWidth = body.width(3), keyColumns = body.width(1);
    refuse(!columns && !pastWidth && !keyColumns, "a query whose width is unknown");
    if (heads % shared != 0 || (columns && *columns % parts != 0) ||
        (keyColumns && *keyColumns % shared != 0))
        failInput("{} columns do not fit {} and {} heads", columns.value_or(keyColumns.value_or(0)), heads,
                  shared);
    const std::int64_t width = columns ? *columns / parts : pastWidth ? *pastWidth : *keyColumns / shared;
    for (const int past : {3, 4}) body.setWidth(past, width);
    std::vector<Operand> operands{body.in(0), body.in(1), body.in(2)};
    if (packed)
        operands = {body.slice(body.in(0), 2, 0, heads * width),
                    body.slice(body.in(0), 2, heads * width, (heads + shared) * width),
                    body.slice(body.in(0), 2, (heads + shared) * width, parts * width)};
    const Operand query = normalized(body, splitHeads(body, operands[0], heads), 14);
    FusedAttention a{body,
                     query,
                     normalized(body, splitHeads(body, operands[1], shared), 15),
                     splitHeads(body, operands[2], shared),
                     scoreScale(body, width, query),
                     -1,
                     10,
                     causal};
    a.window = body.integer("local_window_size", -1);
    a.softcap = body.real("softcap", 0);
    const Operand last = body.add("Cast", {body.in(5)}, {{"to", std::int64_t{onnx::TensorProto::INT64}}});
    a.lengths = body.add("Reshape", {body.add("Add", {last, body.integer(1)}), body.numbers({-1, 1})});
    Operand start, positions;  // B×1, and B×S or S
    if (hasPast) {
        const Operand before = body.add("Sub", {a.lengths, body.extent(query, 2)});
        start = body.add("Max", {before, body.integer(0)});
        positions = body.add("Add", {start, body.range(body.integer(0), body.extent(query, 2))});
        a.positions = body.unsqueeze(body.unsqueeze(positions, 1), 3);
    } else if (rotates) {
        positions = body.range(body.integer(0), body.extent(query, 2));
    }
    if (rotates) {
        const bool perSample = hasPast || body.has(9);
        if (body.has(9)) positions = body.in(9);
        const Rotation rotation{rowsOf(body, 7, positions, perSample), rowsOf(body, 8, positions, perSample),
                                *table, 2 * *table == width, interleaved};
        a.query = rotated(body, a.query, rotation);
        a.key = rotated(body, a.key, rotation);
    }
    if (hasPast) {
        const Operand index = rowsOfBuffer(body, start, a.key, shared, width);
        a.key = continued(body, 3, a.key, index);
        a.value = continued(body, 4, a.value, index);
    }
    body.setOutput(1, a.key);
    body.setOutput(2, a.value);
    a.key = repeated(body, a.key, heads / shared, heads, width);
    a.value = repeated(body, a.value, heads / shared, heads, width);
    body.setOutput(0, attend(a));
}

}  // namespace quantloupe
