// SPDX-License-Identifier: Apache-2.0
// Attention and MultiHeadAttention of com.microsoft.
#include "model/fused_attention.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "model/fused_operators.h"

namespace quantloupe {
namespace {

using Operand = FusedBody::Operand;

constexpr std::int64_t kFloat = onnx::TensorProto::FLOAT, kInt64 = onnx::TensorProto::INT64;

/// The mask as a summand of the scores, B×1×1×T or B×1×S×T: 0 for valid keys, mask_filter_value for the
/// others. The operator's mask contains 1 for each valid key, or the number of valid keys of each sample.
/// Limitation: a mask of one dimension with more values per sample, such as the first valid key, is an error
/// when the network runs.
Operand maskOf(const FusedAttention& a) {
    FusedBody& body = a.body;
    const auto rank = body.rank(a.mask);
    if (!rank) fail(ErrorKind::Unsupported, "a mask of unknown rank is not supported");
    refuse(*rank < 1 || *rank > 3, "a mask of this rank");
    Operand valid;
    if (*rank == 1) {
        const Operand positions = body.range(body.integer(0), body.extent(a.key, 2));
        const Operand samples = body.unsqueeze(body.extent(a.query, 0), 0);
        const Operand shape = body.add("Concat", {samples, body.numbers({1})}, {{"axis", std::int64_t{0}}});
        const Operand lengths =
            body.add("Cast", {body.add("Reshape", {body.in(a.mask), shape})}, {{"to", kInt64}});
        valid = body.lessThan(positions, lengths);
    } else {
        valid = body.lessThan(body.number(0), body.add("Cast", {body.in(a.mask)}, {{"to", kFloat}}));
    }
    Operand broadcast = body.unsqueeze(valid, 1);
    if (*rank < 3) broadcast = body.unsqueeze(broadcast, 1);
    const Operand filter = body.number(body.real("mask_filter_value", -10000.0f));
    return body.add("Where", {broadcast, body.number(0), filter});
}

/// Masks the keys after each query and before its window, if the attention is unidirectional, and those
/// beyond the length of the sample.
Operand withoutHiddenKeys(const FusedAttention& a, const Operand& mask) {
    if (!a.unidirectional && a.lengths.empty()) return mask;
    FusedBody& body = a.body;
    const Operand keys = body.range(body.integer(0), body.extent(a.key, 2));
    const Operand never = body.number(std::numeric_limits<float>::lowest());
    Operand kept = mask.empty() ? body.number(0) : mask;
    if (a.unidirectional) {
        const Operand queries =
            a.positions.empty() ? positionsAfter(body, body.integer(0), a.query) : a.positions;
        kept = body.add("Where", {body.lessThan(queries, keys), never, kept});
        if (a.window >= 0) {
            const Operand oldest = body.add("Sub", {queries, body.integer(a.window - 1)});
            kept = body.add("Where", {body.lessThan(keys, oldest), never, kept});
        }
    }
    if (a.lengths.empty()) return kept;
    const Operand valid = body.unsqueeze(body.unsqueeze(body.lessThan(keys, a.lengths), 1), 1);
    return body.add("Where", {valid, kept, never});
}

}  // namespace

Operand splitHeads(FusedBody& body, const Operand& hidden, std::int64_t heads) {
    const Operand split = body.add("Reshape", {hidden, body.numbers({0, 0, heads, -1})});
    return body.add("Transpose", {split}, {{"perm", std::vector<std::int64_t>{0, 2, 1, 3}}});
}

Operand joinHeads(FusedBody& body, const Operand& heads) {
    const Operand turned = body.add("Transpose", {heads}, {{"perm", std::vector<std::int64_t>{0, 2, 1, 3}}});
    return body.add("Reshape", {turned, body.numbers({0, 0, -1})});
}

Operand positionsAfter(FusedBody& body, const Operand& start, const Operand& query) {
    return body.unsqueeze(body.range(start, body.add("Add", {start, body.extent(query, 2)})), 1);
}

Operand attend(const FusedAttention& a) {
    FusedBody& body = a.body;
    const Operand turned = body.add("Transpose", {a.key}, {{"perm", std::vector<std::int64_t>{0, 1, 3, 2}}});
    Operand scores = body.add("MatMul", {a.query, turned});
    scores = body.add("Mul", {scores, a.scale});
    if (a.softcap > 0) {
        const Operand limit = body.number(a.softcap);
        scores = body.add("Mul", {body.add("Tanh", {body.add("Div", {scores, limit})}), limit});
    }
    Operand mask = body.has(a.mask) ? maskOf(a) : "";
    mask = withoutHiddenKeys(a, mask);
    if (!mask.empty()) scores = body.add("Add", {scores, mask});
    if (body.has(a.bias)) scores = body.add("Add", {scores, body.in(a.bias)});
    const Operand weights = body.add("Softmax", {scores}, {{"axis", std::int64_t{-1}}});
    return joinHeads(body, body.add("MatMul", {weights, a.value}));
}

Operand scoreScale(FusedBody& body, std::optional<std::int64_t> width, const Operand& query) {
    if (const float scale = body.real("scale", 0); scale != 0) return body.number(scale);
    if (width) return body.number(1.0f / std::sqrt(static_cast<float>(*width)));
    const Operand computed = body.add("Cast", {body.extent(query, 3)}, {{"to", kFloat}});
    return body.add("Div", {body.number(1), body.add("Sqrt", {computed})});
}

/// Inputs: input, weights, bias, mask_index, past, attention_bias. Outputs: output, present.
void expandAttention(FusedBody& body) {
    refuse(body.has(6) || body.integer("do_rotary", 0) != 0, "Attention with a shared past or rotation");
    body.ignore({"mask_filter_value", "past_present_share_buffer", "rotary_embedding_dim"});
    const auto columns = body.width(1);
    refuse(!columns, "Attention with a computed weight");
    const std::int64_t count = body.heads("num_heads");
    std::vector<std::int64_t> widths(3, *columns / 3);
    if (const auto* given = body.attribute("qkv_hidden_sizes"); given != nullptr && given->ints_size() == 3)
        widths = {given->ints().begin(), given->ints().end()};
    const auto fits = [&](std::int64_t width) {
        return width > 0 && width <= *columns && width % count == 0;
    };
    if (!std::ranges::all_of(widths, fits) || widths[0] != widths[1] ||
        widths[0] + widths[1] + widths[2] != *columns)
        failInput("{} columns do not fit {} heads", *columns, count);
    Operand rows = body.add("MatMul", {body.in(0), body.in(1)});
    if (body.has(2)) rows = body.add("Add", {rows, body.in(2)});
    std::int64_t from = 0;
    std::vector<Operand> parts;
    for (const std::int64_t width : widths) {
        parts.push_back(splitHeads(body, body.slice(rows, 2, from, from + width), count));
        from += width;
    }
    FusedAttention a{body,
                     parts[0],
                     parts[1],
                     parts[2],
                     scoreScale(body, widths[0] / count, parts[0]),
                     3,
                     5,
                     body.integer("unidirectional", 0) != 0};
    if (body.has(4)) {  // 2×B×N×P×H
        const auto part = [&](std::int64_t i) {
            return body.add("Gather", {body.in(4), body.integer(i)}, {{"axis", std::int64_t{0}}});
        };
        const Operand past = part(0);
        if (a.unidirectional) a.positions = positionsAfter(body, body.extent(past, 2), a.query);
        a.key = body.add("Concat", {past, a.key}, {{"axis", std::int64_t{2}}});
        a.value = body.add("Concat", {part(1), a.value}, {{"axis", std::int64_t{2}}});
    }
    body.setOutput(0, attend(a));
    if (body.wants(1))
        body.setOutput(1, body.add("Concat", {body.unsqueeze(a.key, 0), body.unsqueeze(a.value, 0)},
                                   {{"axis", std::int64_t{0}}}));
}

/// Inputs: query, key, value, bias, key_padding_mask, attention_bias, past_key, past_value. Outputs: output,
/// present_key, present_value.
void expandMultiHeadAttention(FusedBody& body) {
    refuse(!body.has(1) || !body.has(2), "MultiHeadAttention with a packed key or value");
    refuse(body.has(8) || body.has(9) || body.wants(3), "MultiHeadAttention with a shared past");
    body.ignore({"mask_filter_value"});
    const std::int64_t count = body.heads("num_heads");
    const auto biasWidth = body.width(3);
    auto width = body.width(0);
    if (!width && biasWidth && body.width(2)) width = (*biasWidth - *body.width(2)) / 2;
    if (!width && biasWidth && *biasWidth % 3 == 0) width = *biasWidth / 3;
    refuse(body.has(3) && (!biasWidth || !width || *biasWidth <= 2 * *width), "a bias of this width");
    if (width && *width % count != 0) failInput("the query does not fit {} heads", count);
    const auto part = [&](int input) {
        if (body.rank(input) == std::size_t{4}) return body.in(input);  // B×N×T×H of another attention
        Operand rows = body.in(input);
        if (body.has(3))  // the values can be of another width
            rows = body.add("Add", {rows, body.slice(body.in(3), 0, input * *width,
                                                     input == 2 ? *biasWidth : (input + 1) * *width)});
        return splitHeads(body, rows, count);
    };
    const Operand query = part(0);
    FusedAttention a{body,
                     query,
                     part(1),
                     part(2),
                     scoreScale(body, width ? std::optional(*width / count) : std::nullopt, query),
                     4,
                     5,
                     body.integer("unidirectional", 0) != 0};
    if (body.has(6) && body.has(7)) {
        if (a.unidirectional) a.positions = positionsAfter(body, body.extent(body.in(6), 2), a.query);
        a.key = body.add("Concat", {body.in(6), a.key}, {{"axis", std::int64_t{2}}});
        a.value = body.add("Concat", {body.in(7), a.value}, {{"axis", std::int64_t{2}}});
    }
    body.setOutput(0, attend(a));
    body.setOutput(1, a.key);
    body.setOutput(2, a.value);
}

}  // namespace quantloupe
