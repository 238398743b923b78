// SPDX-License-Identifier: Apache-2.0
#pragma once
// analyze --layer: everything about one layer.

#include "json_output.h"
#include "session/studies/layer_details.h"

namespace quantloupe::cli {

OrderedJson toJson(const LayerDetails& details);
/// Prints the layer and the `worst` channels by local sensitivity.
void printReadable(const LayerDetails& details, std::size_t worst);

}  // namespace quantloupe::cli
