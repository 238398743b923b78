// SPDX-License-Identifier: Apache-2.0
#pragma once
// What is quantized and how: scales, placement, weights. The result of prepared graph, statistics and configuration.

#include <unordered_map>
#include <vector>

#include "quantize/calibrate.h"
#include "quantize/quantizer.h"
#include "quantize/quantizer_cache.h"
#include "quantize/refine/refinements.h"
#include "quantize/units.h"
#include "session/evaluation.h"

namespace quantloupe {

/// The quantizers of a unit, were it quantized alone; the same whether it is or not.
struct UnitQuantizers {
    std::vector<TensorQuantizer> inputs;
    TensorQuantizer output;  ///< without meaning where the unit does not quantize its output
    std::shared_ptr<const ConstantQuantizer> weight;  ///< null if there is none
    std::shared_ptr<const ConstantQuantizer> bias;  ///< likewise
    std::vector<std::shared_ptr<const ConstantQuantizer>> constants;  ///< of the unit's further constants
    ConstantPtr correctedBias;                      ///< null: the graph's
    Version version;  ///< of all of these
};

struct Plan {
    std::shared_ptr<const Prepared> prepared;
    UnitList units;
    std::vector<UnitQuantizers> quantizers;                        ///< one a unit
    std::unordered_map<TensorId, TensorQuantizer> tensors;         ///< activations that are quantized now
    std::vector<std::string> notices;                              ///< saturated biases and the like
    Version version;
    /// Of the model that the plan is exported as. AveragePool is computed as ONNX Runtime does it at this opset.
    std::int64_t exportOpset = 0;

    /// How quantized units are computed.
    Arithmetic arithmetic = bestArithmetic();

    /// What a Program needs to run the whole quantized network, and one unit alone (its inputs bound by the caller).
    ProgramSpec networkSpec(const std::map<TensorId, TensorDesc>& inputs, std::vector<TensorId> observed) const;
    ProgramSpec unitSpec(std::size_t unit, const std::map<TensorId, TensorDesc>& inputs) const;
};

/// The tensors whose ranges a plan for these units needs.
std::vector<TensorId> calibratedTensors(const UnitList& units);

/// Every tensor that a quantized unit reads or makes is quantized, for all its readers (as ONNX Runtime's quantizer does it); in
/// placement weighted_inputs, those that it reads, which nothing else reads there. `statistics` must hold calibratedTensors() with what statisticsNeeds() asks for. Throws Error naming the
/// layer.
Plan resolvePlan(std::shared_ptr<const Prepared> prepared, UnitList units, const Statistics& statistics,
                 const QuantizationConfig& config, QuantizerCache& cache, const Refinements& refinements = {});

/// The weight of a unit that has one as its scheme makes it, whether it is quantized now or not. Throws Error for NaN or
/// infinity.
std::shared_ptr<const ConstantQuantizer> quantizedWeight(const Prepared& prepared, const Unit& unit,
                                                         const QuantizationConfig& config, QuantizerCache& cache);

/// The state and reason of every source layer; metrics are left empty.
std::vector<LayerResult> layerStates(const Prepared& prepared, const UnitList& units, const SkipDecisions& skips);

}  // namespace quantloupe
