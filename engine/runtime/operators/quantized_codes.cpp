// SPDX-License-Identifier: Apache-2.0
#include "runtime/operators/quantized_codes.h"

#include "runtime/integer/integer_types.h"

namespace quantloupe {
namespace {

/// Checks scales or zero points: one value, or one per channel.
void requireList(const NodeContext& context, const Constant& values, const char* what) {
    std::int64_t longest = 1;
    for (const std::int64_t extent : values.dims()) longest = std::max(longest, extent);
    if (values.size() != longest)  // empty, or a matrix
        failInput("a {} of {} must be one value or one for each channel, not {}", what, context.node.op,
                  toString(values.dims()));
}

template <typename T>
T onlyOne(const NodeContext& context, const std::vector<T>& values, const char* what) {
    if (values.size() != 1)
        fail(ErrorKind::Unsupported,
             "{} with a {} for each row or channel of its activations is not supported", context.node.op,
             what);
    return values[0];
}

}  // namespace

std::vector<std::int64_t> zerosAt(const NodeContext& context, std::size_t input) {
    if (!context.has(input)) return {0};
    const Constant& zeros = context.needConstant(input, "a zero point of " + context.node.op);
    requireList(context, zeros, "zero point");
    return zeros.toInt64s();
}

std::vector<float> scalesAt(const NodeContext& context, std::size_t input) {
    const Constant& scales = context.needConstant(input, "a scale of " + context.node.op);
    requireList(context, scales, "scale");
    const auto values = scales.floats();
    return {values.begin(), values.end()};
}

float scaleAt(const NodeContext& context, std::size_t input) {
    return onlyOne(context, scalesAt(context, input), "scale");
}
std::int32_t zeroAt(const NodeContext& context, std::size_t input) {
    return static_cast<std::int32_t>(onlyOne(context, zerosAt(context, input), "zero point"));
}

CodeReader codeReader(DataType type, std::string_view what) {
    return withIntegerType(type, what, [&](auto sample) -> CodeReader {
        using T = decltype(sample);
        return [](const void* source, std::size_t count, std::int32_t zero, std::int32_t* target) {
            const auto* values = static_cast<const T*>(source);
            for (std::size_t i = 0; i < count; ++i) target[i] = static_cast<std::int32_t>(values[i]) - zero;
        };
    });
}

CodeWriter codeWriter(DataType type, std::int32_t zero, std::string_view what) {
    return withIntegerType(type, what, [&](auto sample) -> CodeWriter {
        using T = decltype(sample);
        return [zero](float steps, void* target, std::size_t i) {
            static_cast<T*>(target)[i] = saturated<T>(steps, zero);
        };
    });
}

}  // namespace quantloupe
