// SPDX-License-Identifier: Apache-2.0
#include <string_view>
#include <unordered_map>
#include <utility>

#include "picture/write_picture.h"

namespace quantloupe {
namespace {

constexpr StateColors kBlue{"#2f6fde", "#e8effc"};
constexpr StateColors kGreen{"#2f9e5b", "#e8f5ed"};
constexpr StateColors kYellow{"#d9a406", "#fdf6dc"};
constexpr StateColors kGray{"#8a94a3", "#f1f3f6"};

}  // namespace

StateColors graphEndColors() { return kBlue; }

StateColors stateColors(const LayerResult& layer) {
    switch (layer.state) {
        case LayerState::Quantized:
            return kGreen;
        case LayerState::Skipped:
        case LayerState::Float:
            return kYellow;
        case LayerState::Folded:
        case LayerState::Fused:
            break;
    }
    return kGray;
}

const char* sensitivityFill(double qs) {
    constexpr std::pair<double, const char*> kSteps[] = {{0.01, "#fffaf2"}, {0.02, "#fff1de"},
                                                         {0.05, "#ffe6c6"}, {0.1, "#ffd9ae"},
                                                         {0.2, "#ffca97"},  {0.5, "#ffb783"}};
    for (const auto& [bound, fill] : kSteps)
        if (qs < bound) return fill;
    return "#ff9f70";
}

std::vector<StateColors> layerColors(const std::vector<LayerResult>& layers) {
    std::unordered_map<std::string_view, const LayerResult*> byName;
    for (const LayerResult& layer : layers) byName.emplace(layer.name, &layer);
    std::vector<StateColors> colors;
    colors.reserve(layers.size());
    for (const LayerResult& layer : layers) {
        StateColors color = stateColors(layer);
        const LayerResult* host = &layer;
        // A folded layer's host may itself be fused. The number of steps is limited in case hosts form a
        // cycle.
        for (int step = 0; step < 8 && host != nullptr && !host->host.empty(); ++step) {
            const auto found = byName.find(host->host);
            host = found == byName.end() ? nullptr : found->second;
            if (host != nullptr) color.fill = stateColors(*host).fill;
        }
        colors.push_back(color);
    }
    return colors;
}

}  // namespace quantloupe
