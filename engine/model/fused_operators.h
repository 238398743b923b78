// SPDX-License-Identifier: Apache-2.0
#pragma once
// Operators that stand for several operators of ONNX: FusedConv, SkipLayerNormalization, Attention and others
// of com.microsoft, which ONNX Runtime's optimizers write, Scaler and others of ai.onnx.ml, and some of ONNX
// itself, such as Swish. They become the operators that they replaced, so that these are shown, quantized and
// exported like those of other files. Source: ONNX Runtime's ContribOperators.md and its CPU kernels, and
// ONNX's Operators.md.

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
void expandRotaryEmbedding23(FusedBody& body);
void expandDynamicLstm(FusedBody& body);
void expandMatMulNBits(FusedBody& body);
void expandGatherBlocks(FusedBody& body);
void expandScaler(FusedBody& body);
void expandImputer(FusedBody& body);
void expandBinarizer(FusedBody& body);
void expandNormalizer(FusedBody& body);
void expandFeatureExtractor(FusedBody& body);

}  // namespace quantloupe
