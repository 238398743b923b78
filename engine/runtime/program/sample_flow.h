// SPDX-License-Identifier: Apache-2.0
#pragma once
// Tracks the positions of the samples of a batch in every tensor through the operators.
//
// A network may run on several samples at once only if no sample changes the values of another and every
// tensor can be split by sample again. Neither the size nor the position of a dimension is sufficient to find
// the samples: a tensor may happen to have as many rows as the batch has samples, and the batch may be the
// second dimension or a factor of a larger one. The sample axis is therefore followed along the data flow,
// from the graph inputs (dimension 0) through each operator. If an operator mixes samples or its behavior is
// unknown, the result is SampleLayout::mixed(), and the network runs one sample at a time, which is always
// correct.

#include "runtime/operators/kernel.h"

namespace quantloupe {

/// The values of constants that the same network has for a batch of one; null if a tensor is not constant
/// there.
using ConstantsOfOne = std::function<ConstantPtr(TensorId)>;

/// Whether a constant has the same value in a batch of one; `alone`: its value there, or null.
bool isSameConstant(const Constant& constant, const ConstantPtr& alone);

/// Returns the sample layout of each output of a node. `outputs` are the descriptions returned by compiling
/// the node; `context.inputs` contain the layouts of the inputs. With `one`, constants that depend on the
/// batch size, such as arange(N), are accepted only if each sample meets the same values as in a batch of
/// one.
std::vector<SampleLayout> followSamples(const NodeContext& context, const std::vector<TensorDesc>& outputs,
                                        const ConstantsOfOne& one = {});

}  // namespace quantloupe
