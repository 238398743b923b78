// SPDX-License-Identifier: Apache-2.0
#pragma once
// Operators of com.microsoft that ONNX Runtime's optimizers write for several operators of ONNX: FusedConv,
// SkipLayerNormalization, Attention and others. They become the operators that they replaced, so that these
// are shown, quantized and exported like those of the original file.
// Source: ONNX Runtime's ContribOperators.md and its CPU kernels.

#include <string>
#include <vector>

namespace onnx {
class ModelProto;
}

namespace quantloupe {

class FusedBody;

/// Replaces the fused operators of the graph and its subgraphs by nodes named "FUSED/OPERATOR". Adds a notice
/// with their kinds, and one for each operator that uses something that is not supported, which stays.
void expandFusedOperators(onnx::ModelProto& model, std::vector<std::string>& notices);

/// Writes the nodes of one operator. Throws Error(Unsupported) naming what is not supported.
void expandAttention(FusedBody& body);
void expandMultiHeadAttention(FusedBody& body);
void expandGroupQueryAttention(FusedBody& body);
void expandRotaryEmbedding(FusedBody& body);
void expandMatMulNBits(FusedBody& body);
void expandGatherBlocks(FusedBody& body);

}  // namespace quantloupe
