// SPDX-License-Identifier: Apache-2.0
#pragma once
// The settings of layers as JSON. A missing key means "as the network".

#include <map>
#include <string>

#include "config/field_types.h"
#include "config/quantization_config.h"

namespace quantloupe {

FieldType<std::map<std::string, LayerSettings>> layersField();
/// Definition for the schema: the settings of one layer.
OrderedJson layerSchema();
/// The dotted keys that a layer can have, longest first.
const std::vector<std::string>& layerKeys();

}  // namespace quantloupe
