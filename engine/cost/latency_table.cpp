// SPDX-License-Identifier: Apache-2.0
#include "cost/latency_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/short_text.h"
#include "cost/layer_matcher.h"

namespace quantloupe {
namespace {

constexpr std::size_t kEnoughToFit = 3;
constexpr std::size_t kNamed = 5;  // most names in a message

/// Calls share(layer, ms) for every layer that the row stands for. Returns false if it stands for none.
bool divide(const LatencyRow& row, const LayerMatcher& matcher, const NetworkWork& work, const auto& share) {
    const std::vector<std::size_t> layers = matcher.match(row.name);
    double macs = 0;
    for (const std::size_t layer : layers) macs += static_cast<double>(work[layer].macs);
    for (const std::size_t layer : layers)
        share(layer, macs > 0 ? row.ms * static_cast<double>(work[layer].macs) / macs
                              : row.ms / static_cast<double>(layers.size()));
    return !layers.empty();
}

}  // namespace

std::map<std::size_t, double> timesByLayer(const LatencyFile& file, const LayerMatcher& matcher,
                                           const NetworkWork& work, std::vector<LatencyRow>* unmatched) {
    std::map<std::size_t, double> times;
    for (const LatencyRow& row : file.rows)
        if (!divide(row, matcher, work, [&](std::size_t layer, double ms) { times[layer] += ms; }) &&
            unmatched != nullptr)
            unmatched->push_back(row);
    return times;
}

LatencySource withPrecisions(LatencySource source, const Graph& graph, const NetworkWork& work) {
    if (source.precision) {
        for (LatencyRow& row : source.file.rows)
            if (!row.precision) row.precision = source.precision;
        return source;
    }
    if (source.file.rows.empty()) {
        std::map<Precision, std::size_t> counts;
        for (const LayerWork& layer : work)
            if (layer.quantizable) ++counts[layer.precision];
        if (!counts.empty())
            source.precision =
                std::ranges::max_element(counts, {}, [](const auto& c) { return c.second; })->first;
        return source;
    }
    const LayerMatcher matcher(graph, work);
    std::vector<LatencyRow> rows;
    for (LatencyRow& row : source.file.rows) {
        const bool bound = !row.precision && divide(row, matcher, work, [&](std::size_t layer, double ms) {
            rows.push_back({work[layer].name, work[layer].precision, ms});
        });
        if (!bound) rows.push_back(std::move(row));
    }
    source.file.rows = std::move(rows);
    return source;
}

LatencyTable::LatencyTable(const Graph& source, NetworkWork work, const std::vector<LatencySource>& sources)
    : m_work(std::move(work)) {
    const LayerMatcher matcher(source, m_work);
    for (const LatencySource& one : sources) read(one, matcher);
    fit();
}

void LatencyTable::read(const LatencySource& source, const LayerMatcher& matcher) {
    std::map<Key, double> times;  // by stated precision
    std::map<Key, Precision> last;
    for (const LatencyRow& row : source.file.rows) {
        const auto stated = row.precision ? row.precision : source.precision;
        const bool matched = divide(row, matcher, m_work, [&](std::size_t layer, double ms) {
            const Precision precision = stated.value_or(m_work[layer].precision);
            times[{layer, precision}] += ms;
            last[{layer, effective(layer, precision)}] = precision;
        });
        if (!matched) m_unmatched.push_back(row);
    }
    if (!source.file.rows.empty() && times.empty())
        failInput(
            "profile '{}': no name of the {} is a layer of this network, for example '{}'; was it measured "
            "on another network?",
            source.file.path.string(), source.file.format, source.file.rows.front().name);
    for (const auto& [key, stated] : last) m_known[key] = {times.at({key.first, stated}), stated};
    if (!source.file.rows.empty() || !source.file.networkMs) return;
    FitRow whole{{}, *source.file.networkMs};
    for (std::size_t layer = 0; layer < m_work.size(); ++layer) {
        if (m_work[layer].host != layer) continue;
        const FitRow row = featuresOf(layer, source.precision.value_or(m_work[layer].precision));
        for (std::size_t f = 0; f < row.features.size(); ++f) whole.features[f] += row.features[f];
    }
    m_wholes.emplace_back(source.precision, whole);
}

void LatencyTable::fit() {
    std::map<Precision, std::vector<FitRow>> rows;
    std::vector<FitRow> all;
    for (const auto& [key, known] : m_known) {
        FitRow row = featuresOf(key.first, known.stated);
        row.value = known.ms;
        rows[known.stated].push_back(row);
        all.push_back(row);
    }
    for (const auto& [precision, whole] : m_wholes) {
        if (precision) rows[*precision].insert(rows[*precision].end(), kEnoughToFit, whole);
        all.push_back(whole);
    }
    m_commonFit = nonnegativeFit(all);
    const auto hasMacs = [](const FitRow& row) { return row.features[0] > 0; };
    for (const auto& [precision, known] : rows)
        if (static_cast<std::size_t>(std::ranges::count_if(known, hasMacs)) >= kEnoughToFit)
            m_fits[precision] = nonnegativeFit(known);
}

/// For a layer without weights, precisions with the same activation bits are equivalent.
Precision LatencyTable::effective(std::size_t layer, const Precision& precision) const {
    if (m_work[layer].weights > 0 || !precision.isInteger()) return precision;
    return Precision::integer(precision.activationBits, precision.activationBits);
}

FitRow LatencyTable::featuresOf(std::size_t layer, const Precision& precision) const {
    return {{static_cast<double>(m_work[layer].macs), movedBytes(m_work[layer], precision)}, 0};
}

double LatencyTable::estimate(std::size_t layer, const Precision& precision) const {
    const auto distance = [&](const auto& fit) {
        return std::abs(weightBits(fit.first) - weightBits(precision)) +
               std::abs(activationBits(fit.first) - activationBits(precision));
    };
    const auto closest = std::ranges::min_element(m_fits, {}, distance);
    const auto& factors = closest == m_fits.end() ? m_commonFit : closest->second;
    const FitRow row = featuresOf(layer, precision);
    return factors[0] * row.features[0] + factors[1] * row.features[1];
}

LatencyCell LatencyTable::at(std::size_t layer, const Precision& stated) const {
    if (m_work[layer].host != layer) return {};
    const Precision precision = effective(layer, stated);
    if (const auto known = m_known.find({layer, precision}); known != m_known.end())
        return {known->second.ms, false};
    return {estimate(layer, precision), true};
}

double LatencyTable::estimateError() const {
    double error = 0, sum = 0;
    for (const auto& [key, known] : m_known) {
        error += std::abs(estimate(key.first, key.second) - known.ms);
        sum += known.ms;
    }
    return sum > 0 ? error / sum : 0;
}

std::string LatencyTable::summary() const {
    std::string text = fmt::format("{} measured layer times", m_known.size());
    if (m_known.size() >= kEnoughToFit)
        text += fmt::format("; the estimates are off by {:.0f} % on these layers", 100 * estimateError());
    if (m_unmatched.empty()) return text;
    double ms = 0;
    std::vector<LatencyRow> longest = m_unmatched;
    for (const LatencyRow& row : m_unmatched) ms += row.ms;
    std::ranges::stable_sort(longest, std::greater<>(), &LatencyRow::ms);
    std::vector<std::string> names;
    for (const LatencyRow& row : longest) names.push_back(row.name);
    return text + fmt::format("; {} {} no layer and {} not counted ({:.3g} ms): {}",
                              longest.size() == 1 ? "1 name" : fmt::format("{} names", longest.size()),
                              longest.size() == 1 ? "matches" : "match", longest.size() == 1 ? "is" : "are",
                              ms, shortList(names, kNamed));
}

}  // namespace quantloupe
