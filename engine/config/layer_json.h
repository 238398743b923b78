// SPDX-License-Identifier: Apache-2.0
#pragma once
// The settings of layers as JSON. If a key is missing, the setting of the whole network applies.

#include <map>
#include <string>

#include "config/field_types.h"
#include "config/quantization_config.h"

namespace quantloupe {

FieldType<std::map<std::string, LayerSettings>> layersField();
/// Returns the schema's definition of the settings of one layer.
OrderedJson layerSchema();
/// Returns the dotted keys that a layer can have, longest first.
const std::vector<std::string>& layerKeys();

}  // namespace quantloupe
