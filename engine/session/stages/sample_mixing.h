// SPDX-License-Identifier: Apache-2.0
#pragma once
// Recognizes inputs whose first dimension may not contain the samples. Internal to engine/session.

#include <functional>
#include <memory>
#include <string>

#include "data/dataset.h"
#include "runtime/program/program.h"
#include "runtime/program/sample_batches.h"

namespace quantloupe {

/// Whether the samples of an input are only assumed to be in the first dimension, because that is dynamic and
/// no dimension is named after the batch. Images are not meant, which have no steps.
bool assumesSampleAxis(const Graph& source);

/// Runs the network on the first two samples together and on each of them alone. If an output differs,
/// returns a notice about the assumed sample axis; otherwise an empty string. `compile` compiles the network
/// for these samples. Throws Error.
std::string mixingNotice(const Graph& source, const DatasetPtr& data,
                         const std::function<std::shared_ptr<const Program>(const SampleBatches&)>& compile);

}  // namespace quantloupe
