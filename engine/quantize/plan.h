// SPDX-License-Identifier: Apache-2.0
#pragma once
// The quantization plan: which tensors are quantized, with which scales and weights. It is derived from the
// prepared graph, the statistics and the configuration.

#include <map>
#include <unordered_map>
#include <vector>

#include "quantize/calibrate.h"
#include "quantize/quantizer.h"
#include "quantize/quantizer_cache.h"
#include "quantize/refine/refinements.h"
#include "quantize/units.h"
#include "results/evaluation.h"

namespace quantloupe {

/// The quantizers that a unit has when it is quantized alone. They are computed for units that are not
/// quantized, too.
struct UnitQuantizers {
    std::vector<TensorQuantizer> inputs;
    TensorQuantizer output;                           ///< undefined if the unit does not quantize its output
    std::shared_ptr<const ConstantQuantizer> weight;  ///< null if there is none
    std::shared_ptr<const ConstantQuantizer> bias;    ///< null if there is none
    std::vector<std::shared_ptr<const ConstantQuantizer>> constants;  ///< for the unit's further constants
    ConstantPtr correctedBias;                                        ///< null: the bias of the graph is used
    /// The constants of a unit in float16; such a unit has no quantized constants.
    std::map<TensorId, ConstantPtr> halves;
    Version version;  ///< identifies all of these
};

struct Plan {
    std::shared_ptr<const Prepared> prepared;
    UnitList units;
    std::vector<UnitQuantizers> quantizers;                 ///< one per unit
    std::unordered_map<TensorId, TensorQuantizer> tensors;  ///< activations that are quantized now
    std::vector<std::string> notices;                       ///< saturated biases and the like
    Version version;
    /// Opset of the exported model. AveragePool is computed as ONNX Runtime does at this opset.
    std::int64_t exportOpset = 0;

    /// How quantized units are computed.
    Arithmetic arithmetic = bestArithmetic();

    /// Return the specification of a Program that runs the whole quantized network, or a single unit whose
    /// inputs the caller binds.
    ProgramSpec networkSpec(const std::map<TensorId, TensorDesc>& inputs,
                            std::vector<TensorId> observed) const;
    ProgramSpec unitSpec(std::size_t unit, const std::map<TensorId, TensorDesc>& inputs) const;
};

/// Returns the tensors whose ranges a plan for these units needs.
std::vector<TensorId> calibratedTensors(const UnitList& units);

/// Resolves the plan. Every tensor that a quantized unit reads or produces is quantized for all of its
/// readers, as in ONNX Runtime's quantizer; with placement weighted_inputs, only the tensors that a unit
/// reads are quantized, and no other node reads them there. `statistics` must contain calibratedTensors()
/// with everything in statisticsNeeds(). Throws Error naming the layer.
Plan resolvePlan(std::shared_ptr<const Prepared> prepared, UnitList units, const Statistics& statistics,
                 const QuantizationConfig& config, QuantizerCache& cache,
                 const Refinements& refinements = {});

/// Returns the quantized weight of a unit that has a weight, even if the unit itself is not quantized. Throws
/// Error if the weight contains NaN or infinity.
std::shared_ptr<const ConstantQuantizer> quantizedWeight(const Prepared& prepared, const Unit& unit,
                                                         const QuantizationConfig& config,
                                                         QuantizerCache& cache);

/// Returns the state and reason of every source layer; the metrics stay empty.
std::vector<LayerResult> layerStates(const Prepared& prepared, const UnitList& units,
                                     const SkipDecisions& skips);
/// Sets the precision of every layer. `resolved` comes from withPrecisionsResolved().
void setPrecisions(const Prepared& prepared, const UnitList& units, const QuantizationConfig& resolved,
                   std::vector<LayerResult>& layers);

}  // namespace quantloupe
