// SPDX-License-Identifier: Apache-2.0
#pragma once
// From the source graph to the prepared one: fold moved constants, simplify, fold batch norms, replace Clip(0, 6), equalize. Needs no data.

#include <string>
#include <vector>

#include "config/quantization_config.h"
#include "model/graph.h"
#include "transform/high_bias_fold.h"
#include "transform/junction.h"
#include "transform/simplify.h"

namespace quantloupe {

/// What became of a layer of the source graph.
struct LayerMapping {
    NodeId prepared;    ///< the node in the prepared graph; invalid if it was folded or removed
    NodeId foldedInto;  ///< the *source* node it was folded into; invalid if it is still there
    std::string note;   ///< "Clip(0, 6) became Relu", "cannot be folded: the Conv's output has 2 readers"; may be empty
};

/// A set of layers equalized together.
struct EqualizationSet {
    std::vector<NodeId> layers;                    ///< two or three, *source* nodes, in data order
    std::vector<std::vector<float>> factors;       ///< s for each junction: what the first layer is divided by
    std::vector<bool> activationBetween;           ///< a Relu or PRelu in each junction
    bool enabled = true;                           ///< false: listed in equalization.off
};

/// A junction of equalized layers: Junction, but with *source* nodes; its tensors are the prepared graph's.
using EqualizationJunction = Junction;

/// Outliers of a tensor that went into the weights of its readers (quantize/refine/migrate_outliers.h).
struct MigratedInput {
    std::vector<NodeId> readers;  ///< *source* nodes, whose weights are multiplied by the factors
    NodeId producer;              ///< *source* node that is divided by them; invalid: a Mul of its own is
    std::vector<float> factors;   ///< one a channel, the last axis of the tensor
};

/// The result of the transforms. Holds the source so that both can be shown beside each other.
struct Prepared {
    GraphPtr source;
    GraphPtr transformed;  ///< what the transforms made
    GraphPtr graph;        ///< the same with the placement's Identity nodes: what is calibrated, quantized and evaluated
    Placement placement = Placement::InputsAndOutputs;
    OperatorSet operators = OperatorSet::Layers;
    bool symmetricActivations = false;  ///< of the network's scheme: ONNX Runtime then keeps Relu and Clip apart
    std::vector<NodeId> ownInputs;  ///< the Identity nodes of `graph` (transform/own_inputs.h)
    std::vector<LayerMapping> layerMappings;     ///< one a source node
    std::vector<NodeId> sourceOf;     ///< one a prepared node
    std::vector<EqualizationSet> sets;
    std::vector<EqualizationJunction> junctions;
    std::vector<MigratedInput> migrations;
    /// One a prepared node: how its outputs are spread, as a batch norm folded into it tells and equalization and the
    /// high-bias fold left it.
    std::vector<OutputStatistics> outputStatistics;
    /// One a prepared node, or none: why it is not evaluated (session/evaluated_part.h); empty if it is.
    std::vector<std::string> unevaluated;
    std::size_t removedNodes = 0;  ///< by simplification
    std::size_t foldedBatchNorms = 0;
    std::size_t replacedClips = 0;
    std::vector<std::string> notices;  ///< what was refused and why, dead channels, and the like
    /// Hash of source and transforms.
    Version version;
};

/// Applies config.transforms in the order simplify, fold, replace, equalize, high-bias fold. Throws Error for a name in
/// skip_folding or off that the graph does not have. Any thread. `skipped` has one entry a source node (empty: none):
/// layers that stay in float, which equalization.exclude_skipped leaves out of equalization. Weights that the file moves (Transpose,
/// Reshape...) become constants and shared weights are told apart in any case; `constants` saves the first of these if it is
/// foldMovedConstants(source) (null: it is called).
Prepared prepare(GraphPtr source, const TransformOptions& options, const std::vector<bool>& skipped = {},
                 const SimplifyResult* constants = nullptr);

}  // namespace quantloupe
