// SPDX-License-Identifier: Apache-2.0
#pragma once
// Transforms the source graph into the prepared graph: folds moved constants, simplifies, folds batch norms,
// replaces Clip(0, 6), equalizes. Needs no data.

#include <map>
#include <set>
#include <string>
#include <vector>

#include "config/quantization_config.h"
#include "model/graph.h"
#include "transform/high_bias_fold.h"
#include "transform/junction.h"
#include "transform/simplify.h"

namespace quantloupe {

/// Maps a layer of the source graph to the prepared graph.
struct LayerMapping {
    NodeId prepared;    ///< the node in the prepared graph; invalid if it was folded or removed
    NodeId foldedInto;  ///< the *source* node it was folded into; invalid if it is still there
    /// "Clip(0, 6) became Relu", "cannot be folded: the Conv's output has 2 readers"; may be empty
    std::string note;
};

/// A set of layers equalized together.
struct EqualizationSet {
    std::vector<NodeId> layers;               ///< two or three *source* nodes, in order of data flow
    std::vector<std::vector<float>> factors;  ///< s for each junction: the divisor of the first layer
    std::vector<bool> activationBetween;      ///< a Relu or PRelu in each junction
    bool enabled = true;                      ///< false: listed in equalization.off
};

/// Outliers of a tensor that were moved into the weights of its readers (quantize/refine/migrate_outliers.h).
struct MigratedInput {
    std::vector<NodeId> readers;  ///< *source* nodes, whose weights are multiplied by the factors
    NodeId producer;              ///< *source* node that is divided by them; invalid: an added Mul does this
    std::vector<float> factors;   ///< one per channel, the last axis of the tensor
};

/// The result of the transforms. Includes the source so that both can be compared.
struct Prepared {
    GraphPtr source;
    GraphPtr transformed;  ///< the result of the transforms
    /// The same with the placement's Identity nodes: calibrated, quantized and evaluated.
    GraphPtr graph;
    Placement placement = Placement::InputsAndOutputs;
    OperatorSet operators = OperatorSet::Layers;
    /// The network's activations are symmetric: ONNX Runtime then does not fuse Relu and Clip.
    bool symmetricActivations = false;
    std::vector<NodeId> ownInputs;  ///< the Identity nodes of `graph` (transform/own_inputs.h)
    /// The nodes of `ownInputs` through which layers read a tensor in another precision
    /// (quantize/conversions.h).
    std::set<NodeId> conversions;
    /// Bits of tensors that are not determined by the settings of the layer that produces them: the outputs
    /// of `conversions`, and float tensors that all quantized readers read in the same precision.
    /// kFloat16Bits: float16.
    std::map<TensorId, int> activationBits;
    std::vector<LayerMapping> layerMappings;  ///< one per source node
    std::vector<NodeId> sourceOf;             ///< one per prepared node
    std::vector<EqualizationSet> sets;
    /// With *source* nodes; the tensors belong to the prepared graph.
    std::vector<Junction> junctions;
    std::vector<MigratedInput> migrations;
    std::set<NodeId> migrationFactors;  ///< the Mul nodes that migrations have added
    /// One per prepared node: the distribution of its outputs, from a batch norm folded into it, after
    /// equalization and the high-bias fold.
    std::vector<OutputStatistics> outputStatistics;
    /// One per prepared node, or empty: why it is not evaluated (session/stages/evaluated_part.h); empty
    /// string if it is.
    std::vector<std::string> unevaluated;
    std::size_t removedNodes = 0;  ///< number of nodes removed by simplification
    std::size_t foldedBatchNorms = 0;
    std::size_t replacedClips = 0;
    bool foldedHighBias = false;       ///< the high-bias fold changed a bias
    std::vector<std::string> notices;  ///< rejected transforms and the reasons, dead channels, and the like
    /// Hash of the source and the transforms.
    Version version;
};

/// Applies config.transforms in the order simplify, fold, replace, equalize, high-bias fold. Throws Error if
/// skip_folding or off contains a name that the graph does not have. Any thread. `skipped` has one entry per
/// source node (empty: none): layers that stay in float, which equalization.exclude_skipped excludes from
/// equalization. In any case, weights that pass through Transpose, Reshape and the like become constants, and
/// shared weights get separate tensors. `constants` is the result of foldMovedConstants(source), if
/// available, to save recomputing it (null: it is computed). With `joined`, Identity and Dropout nodes
/// between a layer and its activation are removed even without `simplify`; the quantizers of other tools,
/// which need the pattern itself, keep them.
Prepared prepare(GraphPtr source, const TransformOptions& options, const std::vector<bool>& skipped = {},
                 const SimplifyResult* constants = nullptr, bool joined = false);

}  // namespace quantloupe
