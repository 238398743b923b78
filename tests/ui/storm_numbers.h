// SPDX-License-Identifier: Apache-2.0
#pragma once
// All results of an evaluation as lines of text; equal lines mean equal bits.

#include <fmt/format.h>

#include <string>
#include <vector>

#include "results/evaluation.h"

namespace quantloupe::test {

inline std::string exact(const std::optional<double>& value) {
    return value ? fmt::format("{:a}", *value) : "-";
}

inline std::string exact(const std::optional<TensorDifference>& difference) {
    if (!difference) return "-";
    const TensorDifference& d = *difference;
    std::string text;
    for (const double value :
         {d.qs, d.cosine, d.sqnrDb, d.maxAbsolute, d.meanAbsolute, d.rootMeanSquare, d.relativeEuclidean,
          d.absoluteL2, d.referenceMean, d.referenceDeviation, d.testedMean, d.testedDeviation})
        text += fmt::format(" {:a}", value);
    return text + " " + d.note;
}

inline std::string exact(const char* name, const std::optional<Accuracy>& accuracy) {
    if (!accuracy) return fmt::format("{}: -", name);
    return fmt::format("{}: {} samples, top-1 {}, top-5 {}, agreement {}, SQNR {}, difference {}", name,
                       accuracy->samples, exact(accuracy->top1), exact(accuracy->top5),
                       exact(accuracy->agreement), exact(accuracy->sqnrDb), exact(accuracy->maxAbsDiff));
}

inline std::vector<std::string> numbersOf(const Evaluation& evaluation) {
    std::vector<std::string> lines = {exact("float", evaluation.floating),
                                      exact("transformed", evaluation.prepared),
                                      exact("quantized", evaluation.quantized)};
    for (const LayerResult& layer : evaluation.layers) {
        lines.push_back(
            fmt::format("{}: {} {} {}", layer.name, layerStateName(layer.state), layer.host, layer.reason));
        lines.push_back(fmt::format("{}, local: {}", layer.name, exact(layer.local)));
        lines.push_back(fmt::format("{}, cumulative: {}", layer.name, exact(layer.cumulative)));
    }
    lines.insert(lines.end(), evaluation.notices.begin(), evaluation.notices.end());
    return lines;
}

/// Returns the first difference, empty if there is none.
inline std::string firstDifference(const std::vector<std::string>& shown,
                                   const std::vector<std::string>& wanted) {
    for (std::size_t i = 0; i < std::max(shown.size(), wanted.size()); ++i) {
        const std::string one = i < shown.size() ? shown[i] : "nothing",
                          other = i < wanted.size() ? wanted[i] : "nothing";
        if (one != other) return fmt::format("shown: {}\nfresh: {}", one, other);
    }
    return {};
}

}  // namespace quantloupe::test
