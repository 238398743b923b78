// SPDX-License-Identifier: Apache-2.0
#pragma once
// Version of every tensor of a network: the hash of everything that its values depend on.

#include <vector>

#include "runtime/program/program.h"

namespace quantloupe {

/// Returns one version per tensor of the graph; constants have an empty one. `samples` is the version of the
/// samples and of how they are batched. Names are ignored, so the same computation in two graphs has the same
/// version.
std::vector<Version> tensorVersions(const ProgramSpec& spec, const Version& samples);

}  // namespace quantloupe
