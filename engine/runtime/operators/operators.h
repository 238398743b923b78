// SPDX-License-Identifier: Apache-2.0
#pragma once
// The families of operators; each function adds its own operators to the table.

#include <map>
#include <string>

#include "runtime/operators/kernel.h"

namespace quantloupe {

/// Keyed by name; for domains other than ai.onnx with the domain: "com.microsoft.QGemm".
using OperatorTable = std::map<std::string, Operator, std::less<>>;

void addConvolutions(OperatorTable& table);
void addTransposedConvolutions(OperatorTable& table);
void addMatrixProducts(OperatorTable& table);
void addPools(OperatorTable& table);
void addElementwise(OperatorTable& table);
void addArithmetic(OperatorTable& table);
void addLogic(OperatorTable& table);
void addNormalizations(OperatorTable& table);
void addLayerNormalizations(OperatorTable& table);
void addSoftmaxes(OperatorTable& table);
void addReductions(OperatorTable& table);
void addShapes(OperatorTable& table);
void addMoves(OperatorTable& table);
void addGathers(OperatorTable& table);
void addGenerators(OperatorTable& table);
void addAttention(OperatorTable& table);
void addCol2Im(OperatorTable& table);
void addDeformableConvolutions(OperatorTable& table);
void addSignals(OperatorTable& table);
void addScatters(OperatorTable& table);
void addControlFlow(OperatorTable& table);
void addScans(OperatorTable& table);
void addSelections(OperatorTable& table);
void addRegions(OperatorTable& table);
void addSorts(OperatorTable& table);
void addEinsum(OperatorTable& table);
void addRecurrences(OperatorTable& table);
void addGridSamples(OperatorTable& table);
void addPads(OperatorTable& table);
void addResizes(OperatorTable& table);
void addQuantizers(OperatorTable& table);
void addQuantizedLayers(OperatorTable& table);

/// Operators that occur in no file: several nodes fused into one (fusions.h).
inline constexpr const char* kFusedErfGelu = "quantloupe.ErfGelu";
inline constexpr const char* kFusedMaskedSoftmax = "quantloupe.MaskedSoftmax";
inline constexpr const char* kFusedLayerNorm = "quantloupe.LayerNorm";
/// An attribute that occurs in no file: the Conv is followed by x * sigmoid(x).
inline constexpr const char* kSwish = "quantloupe.swish";

/// The factor by which Resize or Upsample changes each dimension.
std::vector<double> resizeScales(const NodeContext& context);
/// The pads of Pad: for each dimension those at its beginning, then those at its end.
Dims padsOf(const NodeContext& context);

/// Creates a kernel from a function of the arguments.
template <typename F>
std::unique_ptr<Kernel> makeKernel(F function) {
    class FunctionKernel final : public Kernel {
      public:
        explicit FunctionKernel(F f) : m_function(std::move(f)) {}
        void run(const KernelArguments& arguments) const override { m_function(arguments); }

      private:
        F m_function;
    };
    return std::make_unique<FunctionKernel>(std::move(function));
}

/// Throws Error(Unsupported) unless the input is float32.
void requireFloat(const NodeContext& context, std::size_t input);
/// The only element of an integer constant, without rounding; throws Error otherwise.
std::int64_t integerOf(const Constant& constant);
/// The axis counted from the front; throws Error if it is out of range for the rank.
std::size_t normalizedAxis(std::int64_t axis, std::size_t rank);

}  // namespace quantloupe
