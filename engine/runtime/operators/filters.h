// SPDX-License-Identifier: Apache-2.0
#pragma once
// The weight and the bias of convolutions: constants, or computed by the network as in CondConv and in
// trackers.

#include <memory>

#include "runtime/operators/operators.h"
#include "runtime/ordered/ordered_product.h"

namespace quantloupe {

using MakeConvolution = std::unique_ptr<Kernel> (*)(const ConvolutionSpec&);

/// Adds weight and bias (inputs 1 and 2) to `spec` and creates the kernel with `make`. If one of them is
/// computed, the kernel packs the weight in every run. Throws Error if the bias does not fit.
std::unique_ptr<Kernel> makeWithFilters(const NodeContext& context, ConvolutionSpec spec,
                                        MakeConvolution make);

}  // namespace quantloupe
