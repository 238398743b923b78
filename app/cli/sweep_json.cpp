// SPDX-License-Identifier: Apache-2.0
#include "sweep_json.h"

#include <cmath>

namespace quantloupe::cli {
namespace {

/// Infinity (the outputs do not differ) becomes null, as in all JSON output.
OrderedJson finite(double value) { return std::isfinite(value) ? OrderedJson(value) : OrderedJson(nullptr); }

}  // namespace

OrderedJson toJson(const LayerSweep& sweep, const Graph& graph) {
    OrderedJson layers = OrderedJson::array();
    for (const LayerEffect& entry : sweep.layers) {
        OrderedJson layer = {
            {"name", entry.name}, {"value", finite(entry.value)}, {"gain", finite(entry.change)}};
        if (entry.paired) {
            layer["fixed"] = entry.paired->fixed;
            layer["broken"] = entry.paired->broken;
            layer["interval"] = {entry.paired->low, entry.paired->high};
        }
        if (entry.sqnrDb) layer["sqnr_db"] = finite(*entry.sqnrDb);
        if (entry.movedWith.valid()) layer["moved_with"] = graph.node(entry.movedWith).name;
        layers.push_back(std::move(layer));
    }
    return {{"metric", traitsOf(sweep.metric).name},
            {"baseline", finite(sweep.baseline)},
            {"layers", std::move(layers)}};
}

}  // namespace quantloupe::cli
