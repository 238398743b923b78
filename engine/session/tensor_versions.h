// SPDX-License-Identifier: Apache-2.0
#pragma once
// The version of every tensor of a network: the hash of all that its values depend on.

#include <vector>

#include "runtime/program.h"

namespace quantloupe {

/// One a tensor of the graph; constants have an empty one. `samples`: version of the samples and of how they are batched.
/// Names do not enter: the same computation in two graphs has the same version.
std::vector<Version> tensorVersions(const ProgramSpec& spec, const Version& samples);

}  // namespace quantloupe
