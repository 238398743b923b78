// SPDX-License-Identifier: Apache-2.0
#pragma once
// The work of a layer per sample, independent of its precision. Costs are derived from it.

#include <cstdint>
#include <string>
#include <vector>

#include "config/precision.h"

namespace quantloupe {

/// A constant that several layers read. The model contains it once for each precision at which they read it.
struct SharedConstant {
    std::size_t id = 0;  ///< the same for all readers
    std::uint64_t size = 0;
    bool weight = false;
};

struct LayerWork {
    std::string name;  ///< of the source layer
    /// Index of the layer that this one is fused or folded into; its own index if it is computed separately.
    std::size_t host = 0;
    bool quantizable = false;
    std::uint64_t macs = 0;
    bool macsKnown = true;
    std::uint64_t weights = 0;             ///< elements of its weights, which have the layer's weight bits
    std::uint64_t others = 0;              ///< elements of its biases and other constants, which have 32 bits
    std::uint64_t activations = 0;         ///< elements that it reads and writes; 0 if unknown
    Precision precision;                   ///< in the configuration that the work was taken from
    std::vector<SharedConstant> shared{};  ///< of `weights` and `others`
};

/// Return the bits of a weight or activation: 32 for float32, 16 for float16.
inline int weightBits(const Precision& precision) {
    return precision.isInteger()                        ? precision.weightBits
           : precision.kind == Precision::Kind::Float16 ? 16
                                                        : 32;
}
inline int activationBits(const Precision& precision) {
    return precision.isInteger() ? precision.activationBits : weightBits(precision);
}

/// One entry per node of the source graph.
using NetworkWork = std::vector<LayerWork>;

/// Returns the bytes of the constants at a precision. Biases count as 32 bits, in float16 as 16 bits.
double storedBytes(const LayerWork& layer, const Precision& precision);
/// Returns the bytes that the layer reads and writes at a precision: constants and activations.
double movedBytes(const LayerWork& layer, const Precision& precision);
/// Returns MACs times weight bits times activation bits (Baskin et al., UNIQ, 2018, arXiv:1804.10969).
double bitOperations(const LayerWork& layer, const Precision& precision);

}  // namespace quantloupe
