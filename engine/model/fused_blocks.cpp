// SPDX-License-Identifier: Apache-2.0
// MatMulNBits and GatherBlockQuantized of com.microsoft: weights with 4 or 8 bits and one scale for each
// block, as in quantized language models. Their codes are stored like those of ONNX, so only types and shapes
// of the constants change.
#include <optional>

#include "base/error.h"
#include "model/fused_body.h"
#include "model/fused_operators.h"

namespace quantloupe {
namespace {

using Operand = FusedBody::Operand;

constexpr std::int64_t kLargest = std::int64_t{1} << 31;
constexpr std::int64_t kMostBlocks = std::int64_t{1} << 28;

std::int64_t countOf(const onnx::TensorProto& tensor) {
    std::int64_t count = 1;
    for (const std::int64_t dim : tensor.dims())
        if (dim < 0 || (dim > 0 && count > kLargest * kLargest / 2 / dim))
            return -1;
        else
            count *= dim;
    return count;
}

/// Codes of rows × columns, with scales and zero points of rows × blocks.
struct Blocks {
    std::int64_t rows, columns, size;
    std::int64_t bits;
    int codes, scales, zeros;  ///< inputs
    bool whole;                ///< the last block of each row is stored whole, even if the row ends within it
    bool centered;             ///< without zero points, the middle code stands for 0; otherwise code 0
};

/// Returns 4-bit zero points without the half byte that follows those of each row; nothing if they are not in
/// raw_data.
std::optional<std::string> packedRows(const onnx::TensorProto& zeros, std::int64_t rows,
                                      std::int64_t columns) {
    const std::int64_t bytesPerRow = (columns + 1) / 2;
    const std::string& stored = zeros.raw_data();
    if (static_cast<std::int64_t>(stored.size()) != rows * bytesPerRow) return std::nullopt;
    std::string packed(static_cast<std::size_t>((rows * columns + 1) / 2), '\0');
    for (std::int64_t r = 0; r < rows; ++r)
        for (std::int64_t c = 0; c < columns; ++c) {
            const auto byte =
                static_cast<unsigned char>(stored[static_cast<std::size_t>(r * bytesPerRow + c / 2)]);
            const int code = c % 2 == 0 ? byte & 15 : byte >> 4;
            const std::int64_t at = r * columns + c;
            char& target = packed[static_cast<std::size_t>(at / 2)];
            target = static_cast<char>(target | (at % 2 == 0 ? code : code << 4));
        }
    return packed;
}

/// Returns the weight, rows × columns. If a row has an odd number of zero points with 4 bits, half a byte
/// of padding follows.
Operand dequantized(FusedBody& body, const Blocks& b) {
    constexpr int kUint4 = 21, kInt4 = 22;  // unknown to ONNX 1.12
    refuse(b.bits != 4 && b.bits != 8, "a weight with this number of bits");
    for (const std::int64_t extent : {b.rows, b.columns, b.size})
        if (extent < 1 || extent > kLargest) failInput("{} is not the extent of a weight", extent);
    const std::int64_t blocks = (b.columns - 1) / b.size + 1;
    if (blocks > kMostBlocks / b.rows) failInput("{} rows of {} blocks are too many", b.rows, blocks);
    const std::int64_t stored = b.whole ? blocks * b.size : b.columns;
    const onnx::TensorProto *codes = body.initializer(b.codes, true), *scales = body.initializer(b.scales),
                            *zeros = body.initializer(b.zeros);
    refuse(codes == nullptr || scales == nullptr || (body.has(b.zeros) && zeros == nullptr),
           "a computed weight");
    const bool typed = codes->data_type() == kUint4 || codes->data_type() == kInt4;
    refuse(!typed && codes->data_type() != onnx::TensorProto::UINT8, "a weight of this type");
    const std::int64_t perByte = typed ? 1 : 8 / b.bits;
    const int type = typed ? codes->data_type() : b.bits == 4 ? kUint4 : int{onnx::TensorProto::UINT8};
    if (countOf(*codes) * perByte != b.rows * stored || countOf(*scales) != b.rows * blocks)
        failInput("a weight of {} codes and {} scales does not fit {} rows of {} columns in blocks of {}",
                  countOf(*codes) * perByte, countOf(*scales), b.rows, b.columns, b.size);
    Operand zero = body.in(b.zeros);
    if (zeros != nullptr) {
        const bool typedZeros = zeros->data_type() == type && typed;
        refuse(!typedZeros && zeros->data_type() != onnx::TensorProto::UINT8, "a zero point of this type");
        const std::int64_t perRow = typedZeros ? blocks : (blocks - 1) / perByte + 1;  // elements in the file
        if (countOf(*zeros) != b.rows * perRow)
            failInput("{} elements of zero points do not fit {} rows of {} blocks", countOf(*zeros), b.rows,
                      blocks);
        std::int64_t storedZeros = typedZeros ? perRow : perRow * perByte;
        std::optional<std::string> packed;
        if (storedZeros > blocks && (packed = packedRows(*zeros, b.rows, blocks))) storedZeros = blocks;
        body.retype(b.zeros, type, b.rows, storedZeros, std::move(packed));
        if (storedZeros > blocks) zero = body.slice(zero, 1, 0, blocks);
    } else if (b.centered) {
        zero = body.filled(type, b.rows, blocks, b.bits == 4 ? 0x88 : 0x80, b.bits);
    }
    body.retype(b.codes, type, b.rows, stored);
    body.retype(b.scales, scales->data_type(), b.rows, blocks);
    const Operand weight = body.add("DequantizeLinear", {body.in(b.codes), body.in(b.scales), zero},
                                    {{"axis", std::int64_t{1}}, {"block_size", b.size}});
    return stored > b.columns ? body.slice(weight, 1, 0, b.columns) : weight;
}

}  // namespace

/// Inputs: rows, codes, scales, zero points, order, bias.
void expandMatMulNBits(FusedBody& body) {
    refuse(body.has(4), "a weight with another order of columns");
    refuse(body.integer("weight_prepacked", 0) != 0, "a weight that is prepacked for one kind of processor");
    body.ignore({"accuracy_level"});
    const Operand weight =
        dequantized(body, {body.integer("N", 0), body.integer("K", 0), body.integer("block_size", 0),
                           body.integer("bits", 4), 1, 2, 3, true, true});
    const Operand turned = body.add("Transpose", {weight}, {{"perm", std::vector<std::int64_t>{1, 0}}});
    Operand y = body.add("MatMul", {body.in(0), turned});
    if (body.has(5)) y = body.add("Add", {y, body.in(5)});
    body.setOutput(0, y);
}

/// Inputs: codes, indices, scales, zero points. The codes may be a Reshape of those of a MatMulNBits,
/// N×blocks×bytes, to a matrix.
void expandGatherBlocks(FusedBody& body) {
    const onnx::TensorProto *codes = body.initializer(0, true), *scales = body.initializer(2);
    const bool reshaped = body.initializer(0) == nullptr;
    refuse(codes == nullptr || scales == nullptr || codes->dims_size() < 2 || scales->dims_size() < 1 ||
               (reshaped ? body.rank(0) != 2 || codes->dims(0) != scales->dims(0) : codes->dims_size() != 2),
           "a table that is not a constant matrix");
    const std::int64_t axis = body.integer("quantize_axis", 1), bits = body.integer("bits", 4);
    refuse((axis != 1 && axis != -1) || body.integer("gather_axis", 0) != 0, "a table in columns");
    const bool bytes = codes->data_type() == onnx::TensorProto::UINT8;
    const std::int64_t rows = codes->dims(0), count = countOf(*codes);
    if (rows < 1 || count < 0 || count / rows > kLargest)
        failInput("{} rows of {} elements are not the extents of a weight", rows,
                  rows < 1 ? 0 : count / rows);
    const Operand table = dequantized(body, {rows, count / rows * (bytes && bits == 4 ? 2 : 1),
                                             body.integer("block_size", 128), bits, 0, 2, 3, false, bytes});
    body.setOutput(0, body.add("Gather", {table, body.in(1)}));
}

}  // namespace quantloupe
