// SPDX-License-Identifier: Apache-2.0
#pragma once
// The types that a plan's codes have in an exported model, and the opset that these types need.

#include "model/data_type.h"
#include "quantize/plan.h"

namespace quantloupe {

struct StorageTypes {
    bool fourBits = false;      ///< codes of up to 4 bits are int4 or uint4; otherwise int8 or uint8
    std::int64_t opset = 0;     ///< of the exported model: the source's, or the lowest that has what is needed
    std::string reason;         ///< where the opset is raised: what of QuantizeLinear came with it ("per channel")

    /// The smallest type that holds these codes.
    DataType typeFor(int quantMin, int quantMax) const;
};

/// `fourBits`: whether int4 and uint4 are wanted; they are given up where the model's opset cannot be raised to theirs, as what
/// fits 4 bits fits 8, too.
StorageTypes storageTypesOf(const Plan& plan, bool fourBits);

}  // namespace quantloupe
