// SPDX-License-Identifier: Apache-2.0
#pragma once
// Data types of a plan's codes in the exported model, and the opset that these types need.

#include "model/data_type.h"
#include "model/graph_builder.h"
#include "quantize/plan.h"

namespace quantloupe {

// First opsets with QuantizeLinear, with scales per channel, and with codes of 4 and 16 bits (before, these
// were operators of com.microsoft).
constexpr std::int64_t kOpsetPlain = 10, kOpsetOtherBias = 11, kOpsetPerChannel = 13, kOpsetOtherBits = 21;

struct StorageTypes {
    /// Constants of up to 4 bits are stored as int4 or uint4; otherwise as int8 or uint8.
    bool fourBits = false;
    std::int64_t opset = 0;  ///< opset of the exported model: the source's, or the lowest one that suffices
    std::string reason;      ///< the feature that needs a higher opset ("per channel")

    /// Returns the smallest type that can represent these codes of a constant.
    DataType typeFor(int quantMin, int quantMax) const;
    /// Returns the type for codes of an activation. At least 8 bits: ONNX Runtime's kernels for integers
    /// (QLinearConv, MaxPool) do not take int4, and its optimizer builds models that it cannot load.
    static DataType activationType(int quantMin, int quantMax);
};

/// Returns the types for a plan. `fourBits` asks for int4 and uint4; if the model's opset cannot be raised
/// far enough, 8-bit types are used instead.
StorageTypes storageTypesOf(const Plan& plan, bool fourBits);

/// Raises the opset of a builder that started from `graph` to at least `opset`, which QuantizeLinear requires
/// for `reason` ("per channel", or empty). Throws Error(Unsupported) if the graph cannot be converted.
void raiseOpsetForCodes(GraphBuilder& builder, const Graph& graph, std::int64_t opset,
                        const std::string& reason);

}  // namespace quantloupe
