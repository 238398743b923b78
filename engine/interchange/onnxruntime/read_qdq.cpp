// SPDX-License-Identifier: Apache-2.0
// Imports a model that Quantloupe quantized: its metadata contains the configuration.

#include "base/error.h"
#include "config/config_json.h"
#include "interchange/wording.h"
#include "interchange/writers.h"
#include "model/load_model.h"

namespace quantloupe {

namespace {

/// Returns whether the rule still names a layer.
bool rename(const ImportSource& source, SkipRule& rule, ImportResult& result) {
    rule.from = source.layerName(rule.from);
    rule.like = source.layerName(rule.like);
    for (std::string& end : rule.to) end = source.layerName(end);
    if (rule.kind != SkipKind::Node) return true;
    rule.layers = knownLayers(source, rule.layers, result);
    return !rule.layers.empty();
}

}  // namespace

ImportResult readQdq(const ImportSource& source) {
    const LoadedModel model = parseModel(source.text.data(), source.text.size(), source.path.parent_path());
    const auto& metadata = model.graph->facts().metadata;
    const auto found = metadata.find("quantloupe.config");
    if (found == metadata.end())
        failInput(
            "its metadata contains no configuration (quantloupe.config): expected a model that Quantloupe "
            "quantized");
    ImportResult result;
    try {
        result.config = configFromJson(found->second);
    } catch (Error& error) {
        error.addContext("quantloupe.config in its metadata");
        throw;
    }
    std::erase_if(result.config.rules, [&](SkipRule& rule) { return !rename(source, rule, result); });
    std::erase_if(result.config.precisionRules,
                  [&](PrecisionRule& rule) { return !rename(source, rule.covers, result); });
    auto& transforms = result.config.transforms;
    transforms.skipFolding = knownLayers(source, transforms.skipFolding, result);
    for (const auto& group : std::exchange(transforms.equalization.off, {}))
        if (auto known = knownLayers(source, group, result); known.size() == group.size())
            transforms.equalization.off.push_back(std::move(known));
    const auto layers = std::exchange(result.config.layers, {});
    for (const auto& [given, settings] : layers)
        for (const std::string& name : knownLayers(source, {given}, result))
            if (!result.config.layers.emplace(name, settings).second)
                result.left.push_back(
                    fmt::format("'{}' is configured twice: the settings of '{}' are left out", name, given));
    result.taken.push_back(
        fmt::format("the whole configuration, with {}", counted(result.config.rules.size(), "rule")));
    return result;
}

}  // namespace quantloupe
