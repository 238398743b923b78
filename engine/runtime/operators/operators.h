// SPDX-License-Identifier: Apache-2.0
#pragma once
// The families of operators; each function adds its own operators to the table.

#include <map>
#include <string>

#include "runtime/operators/kernel.h"

namespace quantloupe {

/// Keyed by name; for domains other than ai.onnx with the domain: "com.microsoft.QGemm".
using OperatorTable = std::map<std::string, Operator, std::less<>>;

void addConvolutions(OperatorTable& table);            // ops_convolution.cpp
void addTransposedConvolutions(OperatorTable& table);  // ops_conv_transpose.cpp
void addMatrixProducts(OperatorTable& table);          // ops_matrix.cpp
void addPools(OperatorTable& table);                   // ops_pool.cpp
void addElementwise(OperatorTable& table);             // ops_elementwise.cpp
void addArithmetic(OperatorTable& table);              // ops_arithmetic.cpp
void addLogic(OperatorTable& table);                   // ops_logic.cpp
void addNormalizations(OperatorTable& table);          // ops_normalization.cpp
void addLayerNormalizations(OperatorTable& table);     // ops_layer_norm.cpp
void addSoftmaxes(OperatorTable& table);               // ops_softmax.cpp
void addReductions(OperatorTable& table);              // ops_reduction.cpp
void addShapes(OperatorTable& table);                  // ops_shape.cpp
void addMoves(OperatorTable& table);                   // ops_move.cpp
void addGathers(OperatorTable& table);                 // ops_gather.cpp
void addGenerators(OperatorTable& table);              // ops_generate.cpp
void addScatters(OperatorTable& table);                // ops_scatter.cpp
void addControlFlow(OperatorTable& table);             // ops_control.cpp
void addSelections(OperatorTable& table);              // ops_selection.cpp
void addRegions(OperatorTable& table);                 // ops_roi.cpp
void addSorts(OperatorTable& table);                   // ops_sort.cpp
void addEinsum(OperatorTable& table);                  // ops_einsum.cpp
void addRecurrences(OperatorTable& table);             // ops_recurrent.cpp
void addGridSamples(OperatorTable& table);             // ops_grid_sample.cpp
void addPads(OperatorTable& table);                    // ops_pad.cpp
void addResizes(OperatorTable& table);                 // ops_resize.cpp
void addQuantizers(OperatorTable& table);              // ops_quantize.cpp
void addQuantizedLayers(OperatorTable& table);         // ops_quantized_layers.cpp

/// Operators that occur in no file: several nodes fused into one (fusions.h).
inline constexpr const char* kFusedErfGelu = "quantloupe.ErfGelu";
inline constexpr const char* kFusedMaskedSoftmax = "quantloupe.MaskedSoftmax";
inline constexpr const char* kFusedLayerNorm = "quantloupe.LayerNorm";

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
