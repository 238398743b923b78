// SPDX-License-Identifier: Apache-2.0
#include "session/caches/context_version.h"

#include "config/config_fields.h"
#include "config/config_json.h"

namespace quantloupe {

Version contextVersion(const Graph& source, const QuantizationConfig& fullConfig, const DatasetPtr& data) {
    QuantizationConfig config =
        onlyFields(fullConfig, [](const Field& field) { return field.effect == FieldEffect::Results; });
    for (auto layer = config.layers.begin(); layer != config.layers.end();) {
        layer->second.quantize.reset();
        layer->second.comment.clear();
        layer = layer->second.empty() ? config.layers.erase(layer) : std::next(layer);
    }
    return VersionBuilder()
        .add(source.version())
        .add(std::string_view(configToJson(config)))
        .add(data ? data->version() : Version{})
        .finish();
}

}  // namespace quantloupe
