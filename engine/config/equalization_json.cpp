// SPDX-License-Identifier: Apache-2.0
#include "config/equalization_json.h"

#include "base/error.h"
#include "config/config_choices.h"

namespace quantloupe {
namespace {

void readThreshold(ObjectReader& reader, std::string_view key, double& target) {
    const Json* value = reader.find(key);
    if (value == nullptr) return;
    const double number = value->is_number() ? value->get<double>() : -1;
    if (!(number >= 0))
        failInput("{}: must be a number of 0 or more, not {}", reader.pathOf(key), describeValue(*value));
    target = number;
}

}  // namespace

void readEqualization(ObjectReader reader, EqualizationOptions& options, const std::vector<std::string>& allKeys) {
    reader.choice("profile", options.profile, kEqualizationProfiles);
    reader.integer("steps", options.steps, -1, kMostEqualizationSteps, " (-1: as many as it takes)");
    reader.boolean("append_bias", options.appendBias);
    readThreshold(reader, "weight_threshold", options.weightThreshold);
    readThreshold(reader, "total_layer_diff_threshold", options.totalLayerDiffThreshold);
    reader.boolean("exclude_skipped", options.excludeSkipped);
    if (const Json* sets = reader.find("off")) {
        if (!sets->is_array())
            failInput("{}: must be a list of lists of layers, not {}", reader.pathOf("off"), describeValue(*sets));
        std::vector<std::vector<std::string>> off;
        for (const Json& set : *sets) {
            const std::string key = fmt::format("off[{}]", off.size());
            const Json wrapped = {{key, set}};
            ObjectReader(wrapped, reader.path(), allKeys).texts(key, off.emplace_back());
            if (off.back().empty()) failInput("{}: names no layers", reader.pathOf(key));
        }
        options.off = std::move(off);
    }
    reader.finish();
}

nlohmann::ordered_json equalizationJson(const EqualizationOptions& options) {
    return {{"profile", choiceName(kEqualizationProfiles, options.profile)},
            {"steps", options.steps},
            {"append_bias", options.appendBias},
            {"weight_threshold", options.weightThreshold},
            {"total_layer_diff_threshold", options.totalLayerDiffThreshold},
            {"exclude_skipped", options.excludeSkipped},
            {"off", options.off}};
}

}  // namespace quantloupe
