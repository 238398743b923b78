// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "runtime/program/sample_rules.h"

namespace quantloupe {

FoundAxis sampleAxisOfMatMul(const SampleFlow& flow, const Dims& output, std::size_t) {
    const std::size_t rank[2] = {flow.dims(0).size(), flow.dims(1).size()};
    if (rank[0] < 2 || rank[1] < 2 || output.size() < 2) return {};
    const bool transposed = flow.integer("transB", 0) != 0;  // only from fusions.h
    FoundAxis result;
    for (std::size_t i = 0; i < 2; ++i) {
        if (!flow.perSample(i)) continue;
        FoundAxis axis = flow.axis(i);
        if (!axis) return {};
        const std::size_t fromEnd = rank[i] - axis->axis;
        const bool rows = fromEnd == 2 && i == 0, columns = fromEnd == 1 && i == 1 && !transposed;
        if (fromEnd < 3 && !((rows || columns) && !flow.perSample(1 - i))) return {};
        axis->axis = output.size() - fromEnd;
        if (result && *result != *axis) return {};
        result = axis;
    }
    if (!result) return {};
    const std::size_t fromEnd = output.size() - result->axis;
    for (std::size_t i = 0; i < 2; ++i)
        if (!flow.perSample(i) && fromEnd >= 3 && rank[i] >= fromEnd &&
            !flow.sameForAll(i, {rank[i] - fromEnd, result->before, result->after}))
            return {};
    return result;
}

FoundAxis sampleAxisOfGemm(const SampleFlow& flow, const Dims& output, std::size_t) {
    if (!flow.perSample(0) || flow.perSample(1) || output.size() != 2) return {};
    FoundAxis axis = flow.axis(0);
    if (!axis || axis->axis != (flow.integer("transA", 0) != 0 ? 1u : 0u)) return {};
    axis->axis = 0;
    if (!flow.has(2) || flow.dims(2).size() < 2) return flow.perSample(2) ? FoundAxis() : axis;
    if (flow.perSample(2)) return flow.axis(2) == axis ? axis : FoundAxis();
    return flow.sameForAll(2, *axis) ? axis : FoundAxis();
}

FoundAxis sampleAxisOfEinsum(const SampleFlow& flow, const Dims&, std::size_t) {
    std::string equation = flow.node().attributes.text("equation", "");
    std::erase(equation, ' ');
    const std::size_t arrow = equation.find("->");
    if (arrow == std::string::npos || equation.find('.') != std::string::npos) return {};
    std::vector<std::string> terms{""};
    for (const char c : equation.substr(0, arrow))
        if (c == ',')
            terms.emplace_back();
        else
            terms.back() += c;
    if (terms.size() != flow.inputs()) return {};
    std::optional<char> label;
    FoundAxis result;
    for (std::size_t i = 0; i < terms.size(); ++i) {
        if (!flow.perSample(i)) continue;
        const FoundAxis& axis = flow.axis(i);
        if (!axis || axis->axis >= terms[i].size()) return {};
        const char own = terms[i][axis->axis];
        if ((label && *label != own) || std::count(terms[i].begin(), terms[i].end(), own) != 1) return {};
        if (result && (result->before != axis->before || result->after != axis->after)) return {};
        label = own;
        result = axis;
    }
    for (std::size_t i = 0; i < terms.size(); ++i) {
        const std::size_t at = terms[i].find(*label);
        if (!flow.perSample(i) && at != std::string::npos &&
            !flow.sameForAll(i, {at, result->before, result->after}))
            return {};
    }
    const std::size_t made = equation.substr(arrow + 2).find(*label);
    if (made == std::string::npos) return {};
    result->axis = made;
    return result;
}

FoundAxis sampleAxisOfRecurrence(const SampleFlow& flow, const Dims&, std::size_t output) {
    const bool batchFirst = flow.integer("layout", 0) != 0;
    const auto expected = [&](std::size_t i) { return std::size_t(i == 4 || batchFirst ? 0 : 1); };
    for (const std::size_t i : {0, 4, 5, 6}) {
        if (i >= flow.inputs() || !flow.has(i)) continue;
        if (flow.perSample(i)) {
            const FoundAxis& axis = flow.axis(i);
            if (!axis || axis->axis != expected(i) || axis->before != 1 || axis->after != 1) return {};
        } else if (i == 0 || !flow.sameForAll(i, {expected(i), 1, 1})) {
            return {};
        }
    }
    for (const std::size_t i : {1, 2, 3, 7})
        if (i < flow.inputs() && flow.perSample(i)) return {};
    return SampleAxis{std::size_t(batchFirst ? 0 : output == 0 ? 2 : 1), 1, 1};
}

}  // namespace quantloupe
