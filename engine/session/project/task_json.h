// SPDX-License-Identifier: Apache-2.0
#pragma once
// The task of a network and its labels as JSON, in project files and in requests of the Python package.

#include "base/json.h"
#include "config/object_reader.h"
#include "data/task_settings.h"

namespace quantloupe {

/// Paths are written as they are.
OrderedJson taskToJson(const TaskSettings& task);
/// Missing keys have their defaults, and paths are returned as they are. Throws Error naming the key.
TaskSettings taskFromJson(ObjectReader reader);

}  // namespace quantloupe
