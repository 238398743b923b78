// SPDX-License-Identifier: Apache-2.0
// Imports a model that Quantloupe quantized: its metadata contain the configuration.

#include "base/error.h"
#include "config/config_json.h"
#include "config/skip_rules.h"
#include "interchange/wording.h"
#include "interchange/writers.h"
#include "model/load_model.h"

namespace quantloupe {

ImportResult readQdq(const ImportSource& source) {
    const LoadedModel model = parseModel(source.text.data(), source.text.size(), source.path.parent_path());
    const auto& metadata = model.graph->facts().metadata;
    const auto found = metadata.find("quantloupe.config");
    if (found == metadata.end())
        failInput(
            "its metadata contain no configuration (quantloupe.config): expected a model that Quantloupe "
            "quantized");
    ImportResult result;
    try {
        result.config = configFromJson(found->second);
    } catch (Error& error) {
        error.addContext("quantloupe.config in its metadata");
        throw;
    }
    for (auto rule = result.config.rules.begin(); rule != result.config.rules.end();) {
        if (rule->kind != SkipKind::Node) {
            ++rule;
            continue;
        }
        rule->layers = knownLayers(*source.graph, rule->layers, result.left);
        rule = rule->layers.empty() ? result.config.rules.erase(rule) : std::next(rule);
    }
    for (auto layer = result.config.layers.begin(); layer != result.config.layers.end();) {
        const bool known = !knownLayers(*source.graph, {layer->first}, result.left).empty();
        layer = known ? std::next(layer) : result.config.layers.erase(layer);
    }
    result.taken.push_back(
        fmt::format("the whole configuration, with {}", counted(result.config.rules.size(), "rule")));
    return result;
}

}  // namespace quantloupe
