// SPDX-License-Identifier: Apache-2.0
#pragma once
// The requests of the Python package.

#include "base/input_paths.h"
#include "interface.h"
#include "job.h"
#include "session/session.h"

namespace quantloupe::python {

/// A session and the sources of its inputs.
struct Engine {
    std::unique_ptr<Session> session;       ///< null until a model is opened
    std::filesystem::path calibrationData;  ///< empty: the samples are arrays
    Preprocess preprocess;
    InputPaths inputs;
};

/// Performs a request about a session. Throws Error, Cancelled.
OrderedJson perform(Engine& engine, const OrderedJson& request, Job& job);
/// Performs a request about a configuration.
OrderedJson performOnConfig(const OrderedJson& request);

}  // namespace quantloupe::python
