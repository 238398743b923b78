// SPDX-License-Identifier: Apache-2.0
#pragma once
// Follows the samples of a batch through the operators: where the values of each sample lie in every tensor.
//
// A network may run on several samples at once only if no sample changes the values of another and every tensor can be
// taken apart by sample again. Neither a size nor a position tells that: a tensor may happen to have as many rows as the
// batch has samples, and the batch may be the second dimension or a factor of a larger one. So the sample axis is
// followed by data flow, from the graph inputs (dimension 0) through each operator. Where an operator mixes samples, or
// it is not known how it treats them, the result is SampleLayout::mixed(), and the network runs one sample at a time,
// which is right by definition.

#include "runtime/kernel.h"

namespace quantloupe {

/// What the same network computes for a batch of one: the values of constants, null where a tensor is not constant there.
using ConstantsOfOne = std::function<ConstantPtr(TensorId)>;

/// The sample layout of each output of a node. `outputs` are the descriptions that compiling the node returned;
/// `context.inputs` carry the layouts of the inputs. With `one`, constants that depend on the batch size, such as
/// arange(N), are accepted only where each sample meets the same values as in a batch of its own.
std::vector<SampleLayout> followSamples(const NodeContext& context, const std::vector<TensorDesc>& outputs,
                                        const ConstantsOfOne& one = {});

}  // namespace quantloupe
