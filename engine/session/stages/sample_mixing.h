// SPDX-License-Identifier: Apache-2.0
#pragma once
// Recognizes inputs whose first dimension may not contain the samples. Internal to engine/session.

#include <memory>
#include <string>

#include "runtime/program/program.h"
#include "runtime/program/sample_batches.h"

namespace quantloupe {

/// Whether the samples of an input are only assumed to be in the first dimension, because that is dynamic and
/// no dimension is named after the batch. Images are not meant, which have no steps.
bool assumesSampleAxis(const Graph& source);

/// Runs the network on the first samples together and on each of two of them alone. If an output differs,
/// returns a notice about the assumed sample axis; otherwise an empty string. `one` and `several` are the
/// same network, compiled for these batches: of one sample, and of more. Needs at least two samples.
std::string mixingNotice(const std::shared_ptr<const Program>& one, const SampleBatches& single,
                         const std::shared_ptr<const Program>& several, const SampleBatches& batches);

}  // namespace quantloupe
